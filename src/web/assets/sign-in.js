const form = document.getElementById('form')
const message = document.getElementById('message')
const inside = document.getElementById('inside')
const user = new URL('../api/v4/user', location.href)
const wanted = pageOfOurs(new URLSearchParams(location.search).get('return_to'))

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  message.textContent = ''
  const fields = JSON.stringify(Object.fromEntries(new FormData(form)))
  const { status, body } = await send(location.href, fields, { 'content-type': 'application/json' })
  if (status !== 200) {
    message.textContent = body.message ?? 'That did not work.'
    // The page as it is now has none yet; each answer counts once.
    if (body.needs === 'captcha' && document.querySelector('.g-recaptcha') === null) location.reload()
    globalThis.grecaptcha?.reset()
    ask(body.needs)
    return
  }
  // Pages that write send it along; the tab forgets it when it is closed.
  sessionStorage.setItem('csrf', body.csrf_token)
  form.reset()
  if (body.must_accept_terms) {
    location.assign(new URL('../-/users/terms', location.href))
    return
  }
  if (body.two_factor_setup_required) {
    message.textContent = 'You have to set up a second factor.'
  } else if (wanted !== undefined) {
    location.assign(wanted)
    return
  }
  show(body.username)
})

document.getElementById('out').addEventListener('click', async () => {
  const headers = { 'x-csrf-token': sessionStorage.getItem('csrf') ?? '' }
  const { status, body } = await send(new URL('sign_out', location.href), undefined, headers)
  if (status === 200) location.assign(body.location)
  else message.textContent = body.message
})

async function send(address, body, headers = {}) {
  const response = await fetch(address, { method: 'POST', body, headers, credentials: 'same-origin' })
  return { status: response.status, body: await response.json().catch(() => ({})) }
}

/** Where somebody wanted to go who was sent here first; addresses of others are left alone. */
function pageOfOurs(path) {
  if (path === null || !/^\/(?![/\\])/.test(path)) return undefined
  const address = new URL(`..${path}`, location.href)
  return address.origin === location.origin ? address.href : undefined
}

/** Shows a field that the account needs besides the password. */
function ask(needed) {
  const label = form.querySelector(`[data-needs="${needed}"]`)
  if (label === null) return
  label.hidden = false
  const input = label.querySelector('input')
  input.disabled = false
  input.focus()
}

function show(name) {
  form.hidden = true
  inside.hidden = false
  document.getElementById('name').textContent = name
}

if (wanted !== undefined) {
  for (const link of document.querySelectorAll('#providers a')) {
    link.search = new URLSearchParams({ return_to: new URLSearchParams(location.search).get('return_to') })
  }
}

const signedIn = await fetch(user, { credentials: 'same-origin' })
if (signedIn.ok) {
  // Who came from a provider has a session, and not yet what pages write with.
  const token = await fetch(new URL('csrf_token', location.href), { credentials: 'same-origin' })
  if (token.ok) sessionStorage.setItem('csrf', (await token.json()).csrf_token)
  show((await signedIn.json()).username)
}
