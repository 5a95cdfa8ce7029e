import { html, type FormPage } from '../../kernel/pages/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Captcha } from '../spam/index.ts'

export type Faults = Readonly<Record<string, readonly string[]>>

/** A field that people do not see, and machines fill in. */
export const trap = 'middle_name'

const labels: Readonly<Record<string, string>> = {
  name: 'Name',
  first_name: 'First name',
  last_name: 'Last name',
  username: 'Username',
  email: 'E-mail',
  password: 'Password',
  form: 'The form',
}

interface Field {
  readonly name: string
  readonly type: 'text' | 'email' | 'password'
  readonly autocomplete: string
  readonly hint?: string
}

function fieldsOf(values: SettingValues): Field[] {
  return [
    { name: 'name', type: 'text', autocomplete: 'name' },
    { name: 'username', type: 'text', autocomplete: 'username' },
    { name: 'email', type: 'email', autocomplete: 'email' },
    {
      name: 'password',
      type: 'password',
      autocomplete: 'new-password',
      hint: `At least ${values.minimum_password_length} characters`,
    },
  ]
}

/**
 * What one signs up with; what was sent is kept, except for the password. With a captcha it needs a script, which is the
 * provider's.
 */
export function signUpForm(
  values: SettingValues,
  captcha: Captcha | undefined,
  sent: Readonly<Record<string, string>>,
  faults: Faults,
): FormPage {
  const faulty = Object.entries(faults)
  const waits = values.require_admin_approval_after_user_signup
  return {
    title: 'Sign up',
    root: '..',
    script: captcha?.script,
    body: html`<form method="post" action="../users">
        ${
          faulty.length > 0 &&
          html`<div role="alert" id="faults">
            <p>This could not be taken:</p>
            <ul>
              ${faulty.map(([name, texts]) => html`<li>${labels[name] ?? name} ${texts.join(', ')}</li>`)}
            </ul>
          </div>`
        }
        ${waits && html`<p>An administrator has to approve new accounts.</p>`}
        ${fieldsOf(values).map(
          ({ name, type, autocomplete, hint }) =>
            html`<label
              >${labels[name]}
              <input
                name="user[${name}]"
                type="${type}"
                autocomplete="${autocomplete}"
                value="${type === 'password' ? '' : (sent[name] ?? '')}"
                required
                ${faults[name] !== undefined && html`aria-invalid="true" aria-describedby="faults"`}
              />${hint !== undefined && html`<small>${hint}</small>`}</label
            >`,
        )}
        ${
          values.invisible_captcha_enabled &&
          html`<label class="unseen" aria-hidden="true"
            >Leave this empty <input name="user[${trap}]" tabindex="-1" autocomplete="off"
          /></label>`
        }
        ${captcha !== undefined && html`<div class="g-recaptcha" data-sitekey="${captcha.siteKey ?? ''}"></div>`}
        ${values.enforce_terms && html`<p>There are <a href="../-/users/terms">terms</a> to accept.</p>`}
        <button type="submit">Sign up</button>
      </form>
      <p>Already here? <a href="sign_in">Sign in</a></p>`,
  }
}

/** Where a confirmation is asked for again. */
export function confirmationForm(problem?: string): FormPage {
  return {
    title: 'Confirm your address',
    root: problem === undefined ? '../..' : '..',
    body: html`${problem !== undefined && html`<p role="alert">${problem}</p>`}
      <form method="post" action="${problem === undefined ? '../confirmation' : 'confirmation'}">
        <label>E-mail <input name="user[email]" type="email" autocomplete="email" required /></label>
        <button type="submit">Send the confirmation again</button>
      </form>`,
  }
}
