import { html, Html } from '../kernel/pages/index.ts'
import { scriptedPage } from './scripted-page.ts'

/** What the moment adds to the page. */
export interface SignInPage {
  /** What somebody is told who was sent here. */
  readonly notice: string | undefined
  /** Who else tells who people are: the page leads there. */
  readonly providers: readonly { readonly name: string; readonly label: string }[]
  /** What it shows of the instance: a title, safe HTML, and the path of a picture. */
  readonly appearance:
    { readonly title: string; readonly description: string; readonly logo: string | null } | undefined
  /** To be solved. */
  readonly captcha:
    | {
        readonly siteKey: string
        readonly script: { readonly address: string; readonly sources: readonly string[] }
      }
    | undefined
}

export function signInPage({ notice, providers, appearance, captcha }: SignInPage): Promise<Html> {
  return scriptedPage({
    title: 'Sign in',
    root: '..',
    script: 'pages/sign-in.js',
    head: captcha && html`<script src="${captcha.script.address}" async defer></script>`,
    body: html`<main class="home sign-in">
      <h1><img src="..${appearance?.logo ?? '/-/assets/icon.svg'}" alt="" />Sign in</h1>
      ${
        appearance &&
        html`<div id="appearance">
          ${appearance.title !== '' && html`<h2>${appearance.title}</h2>`} ${new Html(appearance.description)}
        </div>`
      }
      ${notice !== undefined && html`<p id="notice" role="status">${notice}</p>`}
      <p id="message" role="alert"></p>
      <form id="form">
        <label>Username or e-mail <input name="login" autocomplete="username" required autofocus /></label>
        <label
          >Password <input name="password" type="password" autocomplete="current-password" required
        /></label>
        <label data-needs="code" hidden
          >Code of your authenticator, or a recovery code
          <input name="otp_attempt" autocomplete="one-time-code" disabled required
        /></label>
        <label data-needs="unlock_code" hidden
          >Code from the mail
          <input name="unlock_code" inputmode="numeric" autocomplete="one-time-code" disabled required
        /></label>
        <label data-needs="new_password" hidden
          >New password
          <input name="new_password" type="password" autocomplete="new-password" disabled required
        /></label>
        <label class="choice"><input name="remember_me" type="checkbox" value="1" /> Remember me</label>
        ${captcha && html`<div class="g-recaptcha" data-sitekey="${captcha.siteKey}"></div>`}
        <button type="submit">Sign in</button>
        ${
          providers.length > 0 &&
          html`<p id="providers">
            ${providers.map(({ name, label }) => html`<a href="auth/${name}">Sign in with ${label}</a> `)}
          </p>`
        }
        <p><a href="password/new">Forgot your password?</a></p>
        <p>New here? <a href="sign_up">Sign up</a></p>
      </form>
      <div id="inside" hidden>
        <p>You are signed in as <strong id="name"></strong>.</p>
        <p><a href="../">Go on</a> · <button id="out" type="button">Sign out</button></p>
      </div>
    </main>`,
  })
}
