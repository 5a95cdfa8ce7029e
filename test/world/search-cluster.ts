import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { score } from './search-queries.ts'
import type { Json } from './world.ts'

export interface ClusterRequest {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly headers: IncomingMessage['headers']
}

interface Document {
  readonly version: number
  /** Undefined: it was deleted. */
  readonly source: Json | undefined
}

interface Index {
  readonly settings: Json
  readonly excludes: readonly string[]
  readonly documents: Map<string, Document>
}

/** Instead of what it would answer; `null`: it hangs up. */
type Intervention = { readonly status: number; readonly text: string } | null | undefined

/** A small search cluster: it keeps indices with their aliases, and finds in them what queries of our kinds ask for. */
export class SearchCluster implements AsyncDisposable {
  readonly url: string
  readonly indices = new Map<string, Index>()
  readonly aliases = new Map<string, Set<string>>()
  readonly asked: ClusterRequest[] = []
  /** `user:password`, where it asks for one. */
  login: string | undefined
  /** Looks at requests before they are answered, for as long as it takes. */
  before: (request: ClusterRequest) => Intervention | Promise<Intervention> = () => undefined
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<SearchCluster> {
    const server = createServer((request, response) => {
      void (async () => {
        const { method = '', url = '', headers } = request
        const asked = { method, path: decodeURIComponent(url), headers, body: await text(request) }
        cluster.asked.push(asked)
        const instead = await cluster.before(asked)
        if (instead === null) return request.socket.destroy()
        const [status, answer] = instead ? [instead.status, instead.text] : cluster.#answer(asked)
        const body = typeof answer === 'string' ? answer : JSON.stringify(answer)
        return response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      })()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const cluster = new SearchCluster(server)
    return cluster
  }

  /** What it has of a kind, in all of its indices. */
  documents(kind: string): Json[] {
    const all = [...this.indices.values()].flatMap(({ documents }) => [...documents.values()])
    return all.flatMap(({ source }) => (source?.['kind'] === kind ? [source] : []))
  }

  /** Requests whose method and path have this in them. */
  requests(part: RegExp): ClusterRequest[] {
    return this.asked.filter(({ method, path }) => part.test(`${method} ${path}`))
  }

  #answer({ method, path, body, headers }: ClusterRequest): [number, unknown] {
    const basic = `Basic ${Buffer.from(this.login ?? '').toString('base64')}`
    if (this.login !== undefined && headers.authorization !== basic)
      return [401, { error: { type: 'security_exception' }, status: 401 }]
    const [place = '', action = ''] = path.split('?')[0]!.slice(1).split('/')
    const names = place.split(',')
    if (place === '_aliases') return this.#changeAliases(JSON.parse(body) as Json)
    if (place.endsWith('*') && action === '_alias') return [200, this.#aliasesOf(place.slice(0, -1))]
    if (method === 'PUT' && action === '') return this.#create(place, JSON.parse(body) as Json)
    const found = names.flatMap((name) => [...(this.aliases.get(name) ?? [name])])
    const missing = found.find((name) => !this.indices.has(name))
    if (missing !== undefined) return [404, { error: { type: 'index_not_found_exception', index: missing } }]
    const indices = found.map((name) => this.indices.get(name)!)
    const [index] = indices
    switch (`${method} ${action}`) {
      case 'DELETE ':
        for (const name of found) this.indices.delete(name)
        return [200, { acknowledged: true }]
      case 'GET _settings':
        return [
          200,
          Object.fromEntries(
            found.map((name) => [name, { settings: { index: this.indices.get(name)!.settings } }]),
          ),
        ]
      case 'PUT _settings':
        for (const [name, value] of Object.entries((JSON.parse(body) as Json)['index'] as Json)) {
          if (name === 'number_of_shards') return [400, { error: { type: 'illegal_argument_exception' } }]
          index!.settings[name] = String(value)
        }
        return [200, { acknowledged: true }]
      case 'POST _refresh':
        return [200, {}]
      case 'POST _bulk':
        if (headers['content-type'] !== 'application/x-ndjson' || !body.endsWith('\n'))
          return [400, { error: { type: 'illegal_argument_exception' } }]
        return [200, bulk(index!, body)]
      case 'POST _search':
        return [200, search(index!, JSON.parse(body) as Json)]
      case 'POST _delete_by_query': {
        const gone = [...index!.documents].filter(
          ([, { source }]) =>
            source && score((JSON.parse(body) as Json)['query'] as Json, source) !== undefined,
        )
        for (const [id, { version }] of gone)
          index!.documents.set(id, { version: version + 1, source: undefined })
        return [200, { deleted: gone.length, timed_out: false, failures: [] }]
      }
    }
    return [405, { error: 'Incorrect HTTP method for uri' }]
  }

  #create(name: string, { settings, mappings }: Json): [number, unknown] {
    if (this.indices.has(name)) return [400, { error: { type: 'resource_already_exists_exception' } }]
    const { number_of_shards: shards, number_of_replicas: replicas } = settings as Json
    if (!(Number(shards) > 0) || !(Number(replicas) >= 0))
      return [400, { error: { type: 'illegal_argument_exception' } }]
    this.indices.set(name, {
      settings: { number_of_shards: String(shards), number_of_replicas: String(replicas) },
      excludes: ((mappings as Json)['_source']?.['excludes'] as string[] | undefined) ?? [],
      documents: new Map(),
    })
    return [200, { acknowledged: true, index: name }]
  }

  #aliasesOf(prefix: string): Json {
    const names = [...this.indices.keys()].filter((name) => name.startsWith(prefix))
    const of = (name: string) =>
      [...this.aliases].filter(([, to]) => to.has(name)).map(([alias]) => [alias, {}])
    return Object.fromEntries(names.map((name) => [name, { aliases: Object.fromEntries(of(name)) as Json }]))
  }

  #changeAliases({ actions }: Json): [number, unknown] {
    for (const { add, remove } of actions as Json[]) {
      const { index, alias } = (add ?? remove) as { index: string; alias: string }
      if (!this.indices.has(index)) return [404, { error: { type: 'index_not_found_exception' } }]
      const to = this.aliases.get(alias) ?? new Set()
      if (add === undefined) to.delete(index)
      else to.add(index)
      this.aliases.set(alias, to)
    }
    return [200, { acknowledged: true }]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function bulk({ documents }: Index, body: string): Json {
  const lines = body.trimEnd().split('\n')
  const items: Json[] = []
  while (lines.length > 0) {
    const [operation, about] = Object.entries(JSON.parse(lines.shift()!) as Json)[0] as [string, Json]
    const source = operation === 'index' ? (JSON.parse(lines.shift()!) as Json) : undefined
    const { _id: id, version } = about as { _id: string; version: number }
    const before = documents.get(id)
    const isLate = before !== undefined && version < before.version
    if (!isLate) documents.set(id, { version, source })
    const status = isLate ? 409 : source === undefined && before?.source === undefined ? 404 : 200
    items.push({
      [operation]: {
        _id: id,
        status,
        ...(isLate && { error: { type: 'version_conflict_engine_exception' } }),
      },
    })
  }
  return {
    took: 1,
    errors: items.some((item) => Object.values(item).some((of) => (of as Json)['status'] >= 300)),
    items,
  }
}

function search({ documents, excludes }: Index, { query, size, sort, _source: wanted }: Json): Json {
  const hits = [...documents.values()].flatMap(({ source }): { source: Json; keys: Json }[] => {
    const found = source && score(query as Json, source)
    return source === undefined || found === undefined ? [] : [{ source, keys: { ...source, _score: found } }]
  })
  const orders = (sort as Json[]).map((one) => Object.entries(one)[0]!)
  hits.sort((a, b) => {
    for (const [field, order] of orders) {
      const [one, other] = [a.keys[field] as string | undefined, b.keys[field] as string | undefined]
      if (one === other) continue
      if (one === undefined || other === undefined) return one === undefined ? 1 : -1
      const direction = (typeof order === 'string' ? order : (order as Json)['order']) === 'desc' ? -1 : 1
      return one < other ? -direction : direction
    }
    return 0
  })
  const shown = (source: Json) =>
    Object.fromEntries(
      Object.entries(source).filter(
        ([name]) => (wanted as string[]).includes(name) && !excludes.includes(name),
      ),
    )
  const found = hits.slice(0, size as number).map(({ source }) => ({ _source: shown(source) }))
  return { timed_out: false, _shards: { failed: 0 }, hits: { hits: found } }
}
