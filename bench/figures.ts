import { percentile } from './http-load.ts'
import type { Service } from './service.ts'
import { rootToken } from './world.ts'

/** One line of a table: times in milliseconds, of one caller after the other. */
export interface Figure {
  readonly what: string
  readonly p50: number
  readonly p99: number
  readonly times: number
}

/** Lines of a table, in the order in which they were measured. */
export class Figures {
  readonly all: Figure[] = []

  /** `before`: what is done each time without being measured. */
  async measure(
    what: string,
    times: number,
    act: (number: number) => Promise<unknown>,
    before?: (number: number) => Promise<unknown>,
  ): Promise<void> {
    const taken: number[] = []
    for (let number = 0; number < times; number += 1) {
      await before?.(number)
      const begin = performance.now()
      await act(number)
      taken.push(performance.now() - begin)
    }
    taken.sort((one, other) => one - other)
    this.all.push({ what, times, p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) })
  }
}

export type Api = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>

/** The API as the administrator calls it. What is refused throws; of an answer that is no JSON nothing is given. */
export function apiOf(service: Service): Api {
  return async (method, path, body) => {
    const reply = await fetch(`${service.url}/api/v4${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'private-token': rootToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 200)}`)
    const isJson = reply.headers.get('content-type')?.includes('json') === true
    return isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {}
  }
}
