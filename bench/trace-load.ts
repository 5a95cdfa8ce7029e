import http from 'node:http'
import { percentile, type LoadResult } from './http-load.ts'

export interface AppendsOrder {
  readonly port: number
  /** Seconds in which pieces are sent. */
  readonly seconds: number
  /** Each writes one piece after the other. */
  readonly jobs: readonly { readonly id: number; readonly token: string }[]
  /** Bytes. */
  readonly piece: number
}

/** Lets the logs of jobs grow, as their runners do. */
export async function appends({ port, seconds, jobs, piece }: AppendsOrder): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity })
  const body = Buffer.alloc(piece, 'a line of a log that is as long as lines are\n')
  const times: number[] = []
  const errors: Record<string, number> = {}
  const begin = performance.now()
  const end = begin + seconds * 1000
  await Promise.all(
    jobs.map(async ({ id, token }) => {
      for (let size = 0; performance.now() < end; size += piece) {
        const sent = performance.now()
        const status = await append(agent, port, `/api/v4/jobs/${id}/trace`, body, {
          'job-token': token,
          'content-type': 'text/plain',
          'content-range': `${size}-${size + piece - 1}`,
        })
        if (status === 202) times.push(performance.now() - sent)
        else {
          errors[status] = (errors[status] ?? 0) + 1
          return
        }
      }
    }),
  )
  agent.destroy()
  const sorted = Float64Array.from(times).sort()
  return {
    rate: times.length / ((performance.now() - begin) / 1000),
    answers: times.length,
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    mean: times.length === 0 ? NaN : sorted.reduce((sum, time) => sum + time, 0) / times.length,
    errors,
  }
}

function append(
  agent: http.Agent,
  port: number,
  path: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': body.length }
    const options = {
      host: '127.0.0.1',
      port,
      method: 'PATCH',
      path,
      agent,
      headers: { ...headers, ...length },
    }
    const request = http.request(options, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}
