import { element } from './dom.js'
import { endpointView } from './endpoint.js'

const search = document.getElementById('search')
const token = document.getElementById('token')
const found = document.getElementById('found')
const list = document.getElementById('list')
const base = new URL('../api/v4', location.href).href

// The tab forgets the token when it is closed.
token.value = sessionStorage.getItem('token') ?? ''
token.addEventListener('input', () => sessionStorage.setItem('token', token.value))

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select') !== null
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault()
    search.focus()
    search.select()
  } else if (event.key === 'Escape' && event.target === search) {
    search.value = ''
    filter()
  }
})
search.addEventListener('input', filter)
addEventListener('hashchange', openLinked)

const shown = []

async function start() {
  try {
    const response = await fetch(`${base}/openapi.json`)
    if (!response.ok) throw new Error(`the document could not be read: ${response.status}`)
    show(await response.json())
    filter()
    openLinked()
  } catch (error) {
    found.textContent = error.message
  }
}

function show(description) {
  const api = { base, document: description, token: () => token.value.trim() }
  const endpoints = Object.entries(description.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  for (const { name } of description.tags) {
    const members = endpoints.filter(({ operation }) => operation.tags.includes(name))
    const id = `group-${name.toLowerCase().replaceAll(' ', '-')}`
    const views = members.map((endpoint) => {
      const { method, path, operation } = endpoint
      return {
        view: endpointView(endpoint, api),
        text: `${method} ${path} ${name} ${operation.summary}`.toLowerCase(),
      }
    })
    const section = element(
      'section',
      { className: 'group', 'aria-labelledby': id },
      element('h2', { id }, name),
      views.map(({ view }) => view),
    )
    const count = element('span', { className: 'count' })
    const entry = element('li', {}, element('a', { href: `#${id}` }, name, count))
    shown.push({ section, entry, count, views })
  }
  list.replaceChildren(...shown.map(({ section }) => section))
  document.getElementById('groups').replaceChildren(...shown.map(({ entry }) => entry))
}

/** Every word must be found in method, path, group or summary. */
function filter() {
  const words = search.value.toLowerCase().split(/\s+/)
  let total = 0
  for (const { section, entry, count, views } of shown) {
    const hits = views.filter(({ view, text }) => {
      view.hidden = !words.every((word) => text.includes(word))
      return !view.hidden
    })
    section.hidden = entry.hidden = hits.length === 0
    count.textContent = String(hits.length)
    total += hits.length
  }
  found.textContent = total === 1 ? '1 endpoint' : `${total} endpoints`
}

/** `/-/api#getProject` opens that endpoint. */
function openLinked() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target?.tagName !== 'DETAILS') return
  target.open = true
  target.scrollIntoView()
  target.querySelector('summary').focus({ preventScroll: true })
}

// An endpoint that is opened can be linked to.
list.addEventListener(
  'toggle',
  ({ target }) => {
    if (target.open && target.id !== '') history.replaceState(null, '', `#${target.id}`)
  },
  true,
)

await start()
