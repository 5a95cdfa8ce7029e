import type { IncomingMessage } from 'node:http'
import { formatNotServed } from '../errors/index.ts'
import { hasBody, readBag } from './bag.ts'
import { Answer, Lasting, Page, type Endpoint, type Loaded, type RequestFacts } from './endpoint.ts'
import { formatBesidesJson, matchesEtag } from './headers.ts'
import {
  keysetHeaders,
  pageHeaders,
  readPage,
  repeatable,
  wantsKeyset,
  type PageInput,
} from './pagination.ts'
import { knowsOffsetsOnly, type Route } from './registry.ts'

/** What lets a call in; `access/` has the one there is. */
export interface Gatekeeper {
  pass(call: {
    endpoint: Endpoint
    bag: Readonly<Record<string, unknown>>
    path: Readonly<Record<string, string>>
    params: { value: Record<string, unknown> } | { faults: readonly string[] }
    page: PageInput
    request: RequestFacts
    /** All that the answer hangs on besides the caller and what is stored; undefined where that cannot be told. */
    asked: string | undefined
    movedTo: (id: number) => string
  }): Promise<Answer | Passed>
}

interface Passed {
  readonly actor: unknown
  readonly subject: unknown
  readonly params: Record<string, unknown>
  readonly loaded: Loaded<unknown>
}

export interface Incoming {
  readonly raw: IncomingMessage
  readonly path: Readonly<Record<string, string>>
  /** The one that the path ends in. */
  readonly format?: string | undefined
  /** From all that was sent. */
  readonly facts: (sent: RequestFacts['sent']) => RequestFacts
  /** Scheme and host under which the caller reaches us. */
  readonly base: string
}

const firstPage = readPage({ page: 1, per_page: 20 })

/** Runs one call from its parameters to its answer. Refusals are thrown. */
export async function call(route: Route, gate: Gatekeeper, incoming: Incoming): Promise<Answer> {
  const { endpoint } = route
  const { raw, path } = incoming
  const [, query = ''] = splitOnce(raw.url ?? '', '?')
  const { format = answersJson(endpoint) ? formatBesidesJson(raw.headers.accept) : undefined } = incoming
  if (format !== undefined && format !== 'json') throw formatNotServed(format)
  const bag = await readBag(endpoint, raw, path, query)
  const request = incoming.facts(bag)
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
    request,
    asked: endpoint.method !== 'GET' || hasBody(raw) ? undefined : `${incoming.base} ${raw.url}`,
    movedTo: (id) => incoming.base + raw.url!.replace(/^(\/api\/v4\/projects\/)[^/?]+/, `$1${id}`),
  })
  if (passed instanceof Answer) return passed
  const answer = passed.loaded.answer ?? (await handle(route, incoming, page, passed, request))
  if (typeof answer.body !== 'string') return answer
  passed.loaded.remember?.(answer)
  return unlessKnown(answer, request)
}

/** Texts and files are of many types. */
function answersJson({ answers }: Endpoint): boolean {
  const type: unknown = answers === null ? undefined : Reflect.get(answers, 'type')
  return type === 'object' || type === 'array'
}

async function handle(
  route: Route,
  { raw, base }: Incoming,
  page: PageInput,
  passed: Passed,
  request: RequestFacts,
): Promise<Answer> {
  const { endpoint } = route
  const { rows } = passed.loaded
  const input = {
    actor: passed.actor,
    [endpoint.on.name]: passed.subject,
    params: passed.params,
    rows: endpoint.paged === true && rows.length > page.limit ? rows.slice(0, page.limit) : rows,
    total: passed.loaded.total,
    page,
    request,
  }
  // Where it is no parameter it would be passed over, and the pages taken for those of a keyset.
  if (knowsOffsetsOnly(route)) wantsKeyset(request.sent, false)
  const result = await endpoint.handle(input as never)
  if (result instanceof Answer) return result

  const found =
    endpoint.paged === true && Array.isArray(result)
      ? new Page(result, { total: passed.loaded.total, hasMore: rows.length > page.limit })
      : result
  if (found instanceof Page) {
    const url = base + splitOnce(raw.url ?? '', '?')[0]
    const query = { ...repeatable(request.sent), ...passed.params }
    return jsonAnswer(route, found.rows, listHeaders(found, page, url, query))
  }
  return endpoint.answers === null ? new Answer(route.status) : jsonAnswer(route, result, {})
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

function jsonAnswer(route: Route, value: unknown, extra: Readonly<Record<string, string>>): Answer {
  const type = { 'content-type': 'application/json' }
  if (route.endpoint.method !== 'GET')
    return new Answer(route.status, { ...extra, ...type }, route.write(value))
  const { body, etag } = (value instanceof Lasting ? value : new Lasting(value)).written(route.write)
  return new Answer(route.status, { ...extra, ...type, etag }, body)
}

/** 304 where the caller has just this answer. */
function unlessKnown(answer: Answer, { headers: sent }: RequestFacts): Answer {
  const { etag } = answer.headers
  if (answer.status !== 200 || etag === undefined || !matchesEtag(sent['if-none-match'], etag)) return answer
  const { 'content-type': _, ...headers } = answer.headers
  return new Answer(304, headers)
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
