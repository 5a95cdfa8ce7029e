import { LruMap } from '../../kernel/lib/lru.ts'

/** Milliseconds in which pipelines that are deleted may make a long list short, unnoticed. */
const remembered = 60_000

/** Filtered lists that were found to be over 10,000 long lately: these need no counting, as their total is not told. */
export class LongLists {
  readonly #until = new LruMap<string, number>(10_000)

  /** Until when that is believed, in milliseconds since the Unix epoch; undefined where it is not known. */
  longUntil(key: string): number | undefined {
    const until = this.#until.get(key)
    return until !== undefined && Date.now() < until ? until : undefined
  }

  note(key: string): void {
    if (this.longUntil(key) === undefined) this.#until.set(key, Date.now() + remembered)
  }
}

/** Which list parameters ask for, whatever page of it. */
export function listKey({
  page: _page,
  per_page: _size,
  ...filter
}: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(filter)
}
