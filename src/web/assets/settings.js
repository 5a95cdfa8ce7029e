import { element, prose } from './dom.js'
import { settingView, valueText } from './setting.js'

const base = new URL('../api/v4', location.href).href
const at = (id) => document.getElementById(id)
const token = at('token')

/** Rows of settings, in sections. */
let sections = []

// The tab forgets the token when it is closed.
token.value = sessionStorage.getItem('token') ?? ''
token.addEventListener('change', () => {
  sessionStorage.setItem('token', token.value)
  void start()
})
at('search').addEventListener('input', filter)
at('altered').addEventListener('change', filter)
at('review').addEventListener('click', review)
at('discard').addEventListener('click', () => rowsThat('isChanged').forEach((row) => row.reset()))
at('to-history').addEventListener('click', () => (at('history').open = true))
at('confirm').addEventListener('close', () => rowsThat('isRefused')[0]?.input.focus())
at('history').addEventListener('toggle', () => at('history').open && void showHistory(1))
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select') !== null
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  at('search').select()
})
addEventListener('beforeunload', (event) => {
  if (rowsThat('isChanged').length > 0) event.preventDefault()
})

/** Calls the API with the token of this page, or as who is signed in. Throws the service's words. */
async function call(method, path, body) {
  const own = token.value.trim()
  const headers =
    own === '' ? { 'x-csrf-token': sessionStorage.getItem('csrf') ?? '' } : { 'private-token': own }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(`${base}/application/settings${path}`, {
    method,
    headers,
    body: body && JSON.stringify(body),
    credentials: own === '' ? 'same-origin' : 'omit',
  })
  const answer = await response.json().catch(() => ({}))
  if (!response.ok) {
    throw Object.assign(new Error(wordsOf(answer)), { status: response.status, faults: faultsOf(answer) })
  }
  return { answer, headers: response.headers }
}

/** `{"message": "…"}`, `{"message": {"setting": ["…"]}}` or `{"error": "…"}`. */
function wordsOf({ message, error }) {
  if (typeof message !== 'object' || message === null) return message ?? error ?? 'That did not work.'
  return Object.entries(message)
    .flatMap(([name, faults]) => [faults].flat().map((fault) => `${name} ${fault}`))
    .join('. ')
}

/** Settings with what is wrong with them; `{"error": "a is invalid, b is missing"}` names them in its text. */
function faultsOf({ message, error }) {
  if (typeof error === 'string') return error.split(', ').map((fault) => fault.split(/ (.*)/, 2))
  return Object.entries(typeof message === 'object' ? (message ?? {}) : {}).map(([name, faults]) => [
    name,
    [faults].flat().join('; '),
  ])
}

async function start() {
  at('history').hidden = true
  try {
    const [{ answer: catalogue }, { answer: values }] = await Promise.all([
      call('GET', '/catalogue'),
      call('GET', ''),
    ])
    show(catalogue, values)
    at('history').hidden = false
    filter()
  } catch (error) {
    sections = []
    at('list').replaceChildren()
    at('sections').replaceChildren()
    if (error.status === 401 || error.status === 403) askToSignIn(error)
    else at('found').textContent = error.message
  }
  count()
}

function askToSignIn({ status }) {
  const back = new URLSearchParams({ return_to: new URL('settings', location.href).pathname })
  at('found').replaceChildren(
    status === 403 ? 'Settings are for administrators. ' : '',
    element('a', { href: `../users/sign_in?${back}` }, 'Sign in as an administrator'),
    ', or give the token of one above.',
  )
}

function show(catalogue, values) {
  const titles = [...new Set(catalogue.map(({ section }) => section))]
  sections = titles.map((title) => {
    const id = `section-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
    const rows = catalogue
      .filter(({ section, included }) => section === title && included)
      .map((setting) => settingView(setting, values[setting.name], count))
    const number = element('span', { className: 'count' })
    return {
      rows,
      number,
      view: element(
        'section',
        { className: 'group', 'aria-labelledby': id },
        element('h2', { id }, title),
        rows.map(({ view }) => view),
      ),
      entry: element('li', {}, element('a', { href: `#${id}` }, title, number)),
    }
  })
  at('list').replaceChildren(...sections.map(({ view }) => view))
  at('sections').replaceChildren(...sections.map(({ entry }) => entry))
}

/** Every word must be found in name or description. */
function filter() {
  const words = at('search').value.toLowerCase().split(/\s+/)
  let total = 0
  for (const { rows, view, entry, number } of sections) {
    const hits = rows.filter((row) => {
      const isFound =
        words.every((word) => row.text.includes(word)) && (!at('altered').checked || row.isAltered)
      row.view.hidden = !isFound && !row.isChanged() && !row.isRefused()
      return !row.view.hidden
    })
    view.hidden = entry.hidden = hits.length === 0
    number.textContent = String(hits.length)
    total += hits.length
  }
  at('found').textContent = total === 1 ? '1 setting' : `${total} settings`
}

/** Of all rows those of which this is so. */
function rowsThat(is) {
  return sections.flatMap(({ rows }) => rows.filter((row) => row[is]()))
}

function count() {
  const { length } = rowsThat('isChanged')
  at('changes').hidden = length === 0
  at('review').hidden = at('discard').hidden = false
  at('count').textContent = length === 1 ? '1 change, not saved' : `${length} changes, not saved`
}

/** Until something else is touched. */
function tellSaved() {
  at('changes').hidden = false
  at('review').hidden = at('discard').hidden = true
  at('count').textContent = 'Saved'
}

/** What has changed, and what has to be sent with it, though it is as it was. */
function rowsToSend() {
  const changed = rowsThat('isChanged')
  const along = new Set(changed.filter((row) => row.isOn()).flatMap(({ companions }) => companions))
  return [...changed, ...rowsThat('isKnown').filter((row) => along.has(row.name) && !row.isChanged())]
}

function review() {
  let values
  try {
    values = Object.fromEntries(rowsToSend().map((row) => [row.name, row.read()]))
  } catch (error) {
    return propose('This cannot be sent', 'Save', [], undefined, error.message)
  }
  const send = (options) => call('PUT', '', { ...values, ...options })
  return foresee('Save these changes?', 'Save', send)
}

/** Shows what would change before it does. */
async function foresee(question, label, send) {
  try {
    const { answer } = await send({ dry_run: true })
    propose(question, label, answer.changes, () => send({}))
  } catch (error) {
    mark(error)
    propose('This is refused', label, [], undefined, error.message)
  }
}

/** Says beside each setting why it was refused. */
function mark({ faults = [] }) {
  const said = new Map(faults)
  for (const row of sections.flatMap(({ rows }) => rows)) row.refuse(said.get(row.name) ?? '')
  filter()
}

function propose(question, label, changes, act, refusal = '') {
  at('question').textContent = question
  at('refusal').textContent = refusal
  at('foreseen').replaceChildren(
    changes.length === 0 && act !== undefined ? 'Nothing would change.' : changeList(changes),
  )
  at('save').textContent = label
  at('save').hidden = act === undefined || changes.length === 0
  at('back').textContent = act === undefined ? 'Back to the settings' : 'Cancel'
  at('save').onclick = async () => {
    try {
      await act()
      at('confirm').close()
      at('history').open = false
      await start()
      tellSaved()
    } catch (error) {
      at('refusal').textContent = error.message
    }
  }
  at('confirm').showModal()
}

function changeList(changes) {
  return element(
    'ul',
    { className: 'foreseen' },
    changes.map(({ name, from, to, secret, effect, warning }) =>
      element(
        'li',
        {},
        element('code', {}, name),
        secret
          ? ': another secret'
          : [': ', element('del', {}, valueText(from)), ' → ', element('ins', {}, valueText(to))],
        warning && element('strong', { className: 'warning' }, ` ${warning}`),
        effect && element('small', {}, prose(effect)),
      ),
    ),
  )
}

async function showHistory(page) {
  const list = at('revisions')
  if (page === 1) list.replaceChildren()
  try {
    const { answer, headers } = await call('GET', `/history?per_page=20&page=${page}`)
    list.append(...answer.map(revisionView))
    if (list.childElementCount === 0) list.append(element('li', {}, 'Nothing was changed yet.'))
    const next = headers.get('x-next-page')
    at('older').hidden = !next
    at('older').onclick = () => showHistory(next)
  } catch (error) {
    list.append(element('li', {}, error.message))
  }
}

function revisionView({ id, created_at: time, user, restores, changes }) {
  const restore = (options) => call('POST', '/rollback', { revision: id, ...options })
  return element(
    'li',
    {},
    element('time', { dateTime: time }, new Date(time).toLocaleString()),
    ` by ${user?.name ?? 'the service'}`,
    restores !== null && `, back to revision ${restores}`,
    ' ',
    element(
      'button',
      {
        type: 'button',
        onclick: () =>
          foresee(`Bring all settings back to how they were after revision ${id}?`, 'Bring back', restore),
      },
      'Back to this',
    ),
    changeList(changes),
  )
}

await start()
