import { tags } from '../dom.ts'
import { endpoint as endpointAt } from '../here.ts'
import { Listing, type Listed } from '../listing.ts'
import { tokenField } from '../parts/token-field.ts'
import { endpointsOf, type OpenApi } from '../reference/document.ts'
import { endpointView } from '../reference/endpoint.ts'

const { a, kbd, p } = tags

const documentAt = endpointAt`/openapi.json`
const listing = new Listing<Listed>({
  kind: 'endpoint',
  sectionKind: 'group',
  examples: 'variables, POST projects',
})

listing.draw({
  title: 'REST API',
  about: [
    p(
      'Every endpoint of this instance, as the ',
      a({ href: documentAt }, 'OpenAPI document'),
      ' describes it. Press ',
      kbd('/'),
      ' to search. With a token in the field above you can try each of them; calls change real things.',
    ),
  ],
  fields: [tokenField('kept in this tab only')],
})
addEventListener('hashchange', openLinked)
// An endpoint that is opened can be linked to.
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.open && target.id !== '') {
      history.replaceState(null, '', `#${target.id}`)
    }
  },
  true,
)
await start().catch((error: unknown) => listing.tell((error as Error).message))

async function start(): Promise<void> {
  // As nobody: it is the same for all, and a token that is wrong must not be in the way.
  const response = await fetch(documentAt, { credentials: 'omit' })
  if (!response.ok) throw new Error(`The document could not be read: ${response.status}`)
  show((await response.json()) as OpenApi)
  openLinked()
}

function show(api: OpenApi): void {
  const endpoints = endpointsOf(api)
  const sections = api.tags.map(({ name }) => {
    const rows = endpoints
      .filter(({ operation }) => operation.tags.includes(name))
      .map((endpoint) => ({
        view: endpointView(endpoint, api),
        text: `${endpoint.method} ${endpoint.path} ${name} ${endpoint.operation.summary}`.toLowerCase(),
      }))
    return [name, rows] as const
  })
  listing.show(new Map(sections))
}

/** `/-/api#getProject` opens that endpoint. */
function openLinked(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  target.scrollIntoView()
  target.querySelector('summary')!.focus({ preventScroll: true })
}
