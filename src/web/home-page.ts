import { html, type Html } from '../kernel/pages/index.ts'
import { scriptedPage } from './scripted-page.ts'

/** What somebody sees first. The script puts the address of the service into the examples. */
export function homePage(): Promise<Html> {
  return scriptedPage({ root: '.', script: 'pages/home.js', body })
}

const body = html`<main class="home">
  <h1><img src="-/assets/icon.svg" alt="" />Guildhall</h1>
  <p class="lead">
    A self-hosted service for source code and the work on it: repositories over HTTP, pipelines, runners, and
    everything through one REST API, version 4.
  </p>
  <nav aria-label="Places">
    <ul class="cards">
      <li>
        <a href="explore"><strong>Projects</strong>Their code, commits, pipelines and logs.</a>
      </li>
      <li>
        <a href="-/api"><strong>Browse the API</strong>Every endpoint, with a form to try it.</a>
      </li>
      <li>
        <a href="-/settings"><strong>Settings</strong>All of the instance on one page, with their history.</a>
      </li>
      <li>
        <a href="users/sign_in"><strong>Sign in</strong>With a password, and a second factor if you like.</a>
      </li>
      <li>
        <a href="api/v4/openapi.json"
          ><strong>OpenAPI document</strong>The same for your tools, in OpenAPI 3.1.</a
        >
      </li>
      <li>
        <a href="-/health"><strong>Health</strong>Whether the service answers.</a>
      </li>
    </ul>
  </nav>

  <h2>Your first call</h2>
  <ol class="steps">
    <li>
      Take a token. The administrator <code>root</code> has the one that was shown once at the very first
      start, or the one set as <code>ROOT_TOKEN</code>.
    </li>
    <li>
      Ask who you are:
      <pre><code>curl -H "PRIVATE-TOKEN: $TOKEN" <span data-base>http://this-host</span>/api/v4/user</code></pre>
    </li>
    <li>
      Make a project, and clone it:
      <pre><code>curl -H "PRIVATE-TOKEN: $TOKEN" -d name=hello -d initialize_with_readme=true \\
  <span data-base>http://this-host</span>/api/v4/projects
git clone <span data-base>http://this-host</span>/root/hello.git</code></pre>
      Git asks for a user name and a password: the password is your token.
    </li>
  </ol>

  <h2>More people, more tokens</h2>
  <p>An administrator makes users, and for each of them a token with the scopes it needs:</p>
  <pre><code>curl -H "PRIVATE-TOKEN: $TOKEN" -d username=ada -d name=Ada -d email=ada@example.com \\
  -d force_random_password=true <span data-base>http://this-host</span>/api/v4/users
curl -H "PRIVATE-TOKEN: $TOKEN" -d name=laptop -d 'scopes[]=api' \\
  <span data-base>http://this-host</span>/api/v4/users/<em>USER_ID</em>/personal_access_tokens</code></pre>
  <p class="soft">
    A token is shown once, when it is made. It goes into the header <code>PRIVATE-TOKEN</code>, or as a bearer
    token into <code>Authorization</code>.
  </p>
</main>`
