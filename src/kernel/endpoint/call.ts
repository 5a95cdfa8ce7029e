import type { IncomingMessage } from 'node:http'
import { readBag } from './bag.ts'
import { Answer, Lasting, Page, type Endpoint, type Loaded, type RequestFacts } from './endpoint.ts'
import { matchesEtag } from './headers.ts'
import { keysetHeaders, pageHeaders, readPage, type PageInput } from './pagination.ts'
import type { Route } from './registry.ts'

/** What lets a call in; `access/` has the one there is. */
export interface Gatekeeper {
  pass(call: {
    endpoint: Endpoint
    bag: Readonly<Record<string, unknown>>
    path: Readonly<Record<string, string>>
    params: { value: Record<string, unknown> } | { faults: readonly string[] }
    page: PageInput
    request: RequestFacts
    movedTo: (id: number) => string
  }): Promise<
    Answer | { actor: unknown; subject: unknown; params: Record<string, unknown>; loaded: Loaded<unknown> }
  >
}

export interface Incoming {
  readonly raw: IncomingMessage
  readonly path: Readonly<Record<string, string>>
  readonly facts: RequestFacts
  /** Scheme and host under which the caller reaches us. */
  readonly base: string
}

const firstPage = readPage({ page: 1, per_page: 20 })

/** Runs one call from its parameters to its answer. Refusals are thrown. */
export async function call(route: Route, gate: Gatekeeper, incoming: Incoming): Promise<Answer> {
  const { endpoint } = route
  const { raw, path, facts } = incoming
  const [address, query = ''] = splitOnce(raw.url ?? '', '?')
  const bag = await readBag(endpoint, raw, path, query)
  const checked = route.check(bag)
  const page =
    endpoint.paged === true && checked.faults === undefined
      ? readPage(checked.value as { page: number; per_page: number })
      : firstPage
  const passed = await gate.pass({
    endpoint,
    bag,
    path,
    params: checked.faults === undefined ? { value: checked.value } : { faults: checked.faults },
    page,
    request: facts,
    movedTo: (id) => incoming.base + raw.url!.replace(/^(\/api\/v4\/projects\/)[^/?]+/, `$1${id}`),
  })
  if (passed instanceof Answer) return passed

  const { rows } = passed.loaded
  const input = {
    actor: passed.actor,
    [endpoint.on.name]: passed.subject,
    params: passed.params,
    rows: endpoint.paged === true && rows.length > page.limit ? rows.slice(0, page.limit) : rows,
    total: passed.loaded.total,
    page,
    request: facts,
    sent: bag,
  }
  const result = await endpoint.handle(input as never)
  if (result instanceof Answer) return result

  const url = incoming.base + address
  if (result instanceof Page) {
    return jsonAnswer(route, facts, result.rows, listHeaders(result, page, url, passed.params))
  }
  if (endpoint.paged === true && Array.isArray(result)) {
    const read = new Page(result, { total: passed.loaded.total, hasMore: rows.length > page.limit })
    return jsonAnswer(route, facts, result, listHeaders(read, page, url, passed.params))
  }
  return route.endpoint.answers === null ? new Answer(route.status) : jsonAnswer(route, facts, result, {})
}

function listHeaders(
  found: Page<unknown>,
  page: PageInput,
  url: string,
  query: Readonly<Record<string, unknown>>,
): Record<string, string> {
  if (found.keyset) return keysetHeaders({ url, query, perPage: page.perPage, next: found.next })
  return pageHeaders({
    ...page,
    url,
    query,
    total: found.total,
    hasMore: found.hasMore,
    empty: found.rows.length === 0,
  })
}

function jsonAnswer(
  route: Route,
  { method, headers }: RequestFacts,
  value: unknown,
  extra: Readonly<Record<string, string>>,
): Answer {
  if (method !== 'GET' && method !== 'HEAD') {
    return new Answer(route.status, { ...extra, 'content-type': 'application/json' }, route.write(value))
  }
  const { body, etag } = (value instanceof Lasting ? value : new Lasting(value)).written(route.write)
  return matchesEtag(headers['if-none-match'], etag)
    ? new Answer(304, { ...extra, etag })
    : new Answer(route.status, { ...extra, 'content-type': 'application/json', etag }, body)
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
