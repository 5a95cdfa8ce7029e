import type { CeilingHandlers, Sample } from './ceiling.ts'
import { Child } from './child.ts'
import type { Endpoint } from './endpoints.ts'
import type { LoadRequest, LoadResult } from './http-load.ts'
import type { LoadHandlers } from './load.ts'
import { effortOf, type Effort } from './machine.ts'
import type { Options } from './options.ts'
import type { Service } from './service.ts'

/** What was found for one line of the table. */
export interface Measured {
  readonly name: string
  readonly title: string
  /** Why there is nothing more. */
  readonly missing?: string
  readonly connections?: number
  readonly result?: LoadResult
  /** SQL statements a request. */
  readonly statements?: number
  /** Microseconds of processor time a request. */
  readonly effort?: Effort
  /** Requests a second of a bare server that answers the same bytes. */
  readonly ceiling?: number
  /** How many times longer an answer takes than on a project with 1,000 pipelines. */
  readonly timeRatio?: number
}

/** The processes that measure. */
export interface Bench {
  readonly service: Service
  readonly load: Child<LoadHandlers>
  readonly ceiling: Child<CeilingHandlers>
  readonly ceilingPort: number
  readonly options: Options
  /** Aborted when the run is to end before its time. */
  readonly signal: AbortSignal
}

/** The bare server before and after, the service in between, so that all see the same machine. */
export async function measure(bench: Bench, endpoint: Endpoint): Promise<Measured> {
  const { service, load, ceiling, ceilingPort, options } = bench
  const { name, title, requests } = endpoint
  const sample = await askFor(service, requests[0]!)
  if (sample.status === 404 || sample.status === 405) return { name, title, missing: 'not there' }
  await ceiling.call('answer', sample)

  const connections = endpoint.connections ?? options.connections
  const { rate } = endpoint
  const run = (port: number, seconds: number, asked = requests): Promise<LoadResult> =>
    load.call('http', { port, connections, seconds, requests: asked, ...(rate !== undefined && { rate }) })
  const bare = options.duration / 4
  await run(service.port, options.duration / 8)
  const before = await run(ceilingPort, bare)
  const countsBefore = await service.counts()
  const effortBefore = await effortOf(service.pid)
  const result = await run(service.port, options.duration)
  const effort = await effortOf(service.pid)
  const counts = await service.counts()
  const after = await run(ceilingPort, bare)
  const small = endpoint.small && (await run(service.port, options.duration / 2, endpoint.small))
  return {
    name,
    title,
    connections,
    result,
    statements: (counts.statements - countsBefore.statements) / (counts.requests - countsBefore.requests),
    ...(effort && effortBefore && { effort: perAnswer(effortBefore, effort, result.answers) }),
    ceiling: (before.rate + after.rate) / 2,
    ...(small && { timeRatio: result.mean / small.mean }),
  }
}

export function perAnswer(before: Effort, after: Effort, answers: number): Effort {
  const share = (from: number, to: number): number => ((to - from) * 1000) / answers
  return { own: share(before.own, after.own), others: share(before.others, after.others) }
}

/** Headers that belong to the connection, and that every server makes by itself. */
const own = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'])

async function askFor(service: Service, { method, path, headers, body }: LoadRequest): Promise<Sample> {
  const answer = await fetch(service.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: body.replace('{n}', String(Date.now())) }),
  })
  return {
    status: answer.status,
    headers: Object.fromEntries([...answer.headers].filter(([name]) => !own.has(name))),
    body: new Uint8Array(await answer.arrayBuffer()),
  }
}
