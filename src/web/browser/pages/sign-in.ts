import { address, endpoint, query } from '../here.ts'
import { signOut } from '../sign-out.ts'

interface SignedIn {
  readonly username: string
  readonly csrf_token: string
  readonly two_factor_setup_required: boolean
  readonly must_accept_terms: boolean
}

interface Refused {
  readonly message?: string
  /** What the account wants besides the password. */
  readonly needs?: string
}

/** Of a widget that the service adds where a captcha is to be solved. */
declare const grecaptcha: { readonly reset: () => void } | undefined

const form = document.querySelector<HTMLFormElement>('#form')!
const message = document.getElementById('message')!
const returnTo = query.get('return_to')
const wanted = pageOfOurs(returnTo)

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void signIn()
})
document.getElementById('out')!.addEventListener('click', () => {
  signOut().catch((error: unknown) => (message.textContent = (error as Error).message))
})
if (wanted !== undefined) {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#providers a')) {
    link.search = String(new URLSearchParams({ return_to: returnTo! }))
  }
}
await showWhoIsIn()

async function signIn(): Promise<void> {
  message.textContent = ''
  const response = await fetch(address`/users/sign_in`, {
    method: 'POST',
    body: JSON.stringify(Object.fromEntries(new FormData(form))),
    headers: { 'content-type': 'application/json' },
    credentials: 'same-origin',
  })
  if (response.ok) goOn((await response.json()) as SignedIn)
  else askAgain((await response.json().catch(() => ({}))) as Refused)
}

function askAgain({ message: words = 'That did not work.', needs }: Refused): void {
  message.textContent = words
  // The page as it is now has none yet; each answer counts once.
  if (needs === 'captcha' && document.querySelector('.g-recaptcha') === null) location.reload()
  if (typeof grecaptcha !== 'undefined') grecaptcha.reset()
  const label = form.querySelector<HTMLElement>(`[data-needs="${needs}"]`)
  if (label === null) return
  label.hidden = false
  const input = label.querySelector('input')!
  input.disabled = false
  input.focus()
}

function goOn({ username, csrf_token: csrf, ...owes }: SignedIn): void {
  // Pages that write send it along; the tab forgets it when it is closed.
  sessionStorage.setItem('csrf', csrf)
  // Pages would go on to ask with it.
  sessionStorage.removeItem('token')
  form.reset()
  if (owes.must_accept_terms) location.assign(address`/-/users/terms`)
  else if (owes.two_factor_setup_required) {
    message.textContent = 'You have to set up a second factor.'
    show(username)
  } else if (wanted !== undefined) location.assign(wanted)
  else show(username)
}

async function showWhoIsIn(): Promise<void> {
  // Not with the token of the tab, which is no session.
  const response = await fetch(endpoint`/user`, { credentials: 'same-origin' })
  if (!response.ok) return
  // Who came from a provider has a session, and not yet what pages write with.
  const answer = await fetch(address`/users/csrf_token`, { credentials: 'same-origin' })
  if (answer.ok) {
    sessionStorage.setItem('csrf', ((await answer.json()) as { readonly csrf_token: string }).csrf_token)
  }
  show(((await response.json()) as { readonly username: string }).username)
}

function show(name: string): void {
  form.hidden = true
  document.getElementById('inside')!.hidden = false
  document.getElementById('name')!.textContent = name
}

/** Where somebody wanted to go who was sent here first; addresses of others are left alone. */
function pageOfOurs(path: string | null): string | undefined {
  if (path === null || !/^\/(?![/\\])/.test(path)) return undefined
  const page = new URL(address`/`.replace(/\/$/, '') + path)
  return page.origin === location.origin ? page.href : undefined
}
