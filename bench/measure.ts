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

/** One window of load on the service, with the bare server before and after it. */
interface Round {
  readonly result: LoadResult
  readonly ceiling: number
  readonly timeRatio?: number
}

/**
 * Several rounds, of which the middle one counts: a machine that others use too slows down now the one, now the other.
 */
export async function measure(bench: Bench, endpoint: Endpoint): Promise<Measured> {
  const { service, load, ceiling, ceilingPort, options } = bench
  const { name, title, requests, rate, small } = endpoint
  const sample = await askFor(service, requests[0]!)
  if (sample.status === 404 || sample.status === 405) return { name, title, missing: 'not there' }
  await ceiling.call('answer', sample)

  const connections = endpoint.connections ?? options.connections
  const run = (port: number, seconds: number, asked = requests): Promise<LoadResult> =>
    load.call('http', { port, connections, seconds, requests: asked, ...(rate !== undefined && { rate }) })
  const bare = async (): Promise<number> => (await run(ceilingPort, options.duration / 2)).rate
  // Neither is measured on its first requests.
  await run(service.port, options.duration / 4)
  await run(ceilingPort, options.duration / 4)
  const rounds: Round[] = []
  const efforts: Effort[] = []
  const statements: number[] = []
  let before = await bare()
  while (rounds.length < options.rounds) {
    const countsBefore = await service.counts()
    const effortBefore = await effortOf(service.pid)
    const result = await run(service.port, options.duration)
    const effort = await effortOf(service.pid)
    const counts = await service.counts()
    const after = await bare()
    const fewer = small && (await run(service.port, options.duration / 2, small))
    rounds.push({
      result,
      ceiling: (before + after) / 2,
      ...(fewer && { timeRatio: result.mean / fewer.mean }),
    })
    before = after
    if (effort && effortBefore) efforts.push(perAnswer(effortBefore, effort, result.answers))
    statements.push((counts.statements - countsBefore.statements) / (counts.requests - countsBefore.requests))
  }
  const { result, ceiling: bareRate } = middle(rounds, (round) => round.result.rate / round.ceiling)!
  const timeRatio = middle(
    rounds.flatMap((round) => round.timeRatio ?? []),
    (times) => times,
  )
  const effort = middle(efforts, ({ own, others }) => own + others)
  return {
    name,
    title,
    connections,
    // An error in any round is told.
    result: { ...result, errors: Object.assign({}, ...rounds.map((round) => round.result.errors)) as Errors },
    statements: Math.max(...statements),
    ...(effort && { effort }),
    ceiling: bareRate,
    ...(timeRatio !== undefined && { timeRatio }),
  }
}

type Errors = LoadResult['errors']

/** Undefined only of none. */
export function middle<T>(list: readonly T[], by: (one: T) => number): T | undefined {
  return list.toSorted((a, b) => by(a) - by(b))[Math.floor((list.length - 1) / 2)]
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
