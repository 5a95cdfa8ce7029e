import { LruMap } from '../../kernel/lib/lru.ts'

/** Milliseconds in which pipelines that are deleted may make a long list short, unnoticed. */
const remembered = 60_000

/** Filtered lists that were found to be over 10,000 long lately: these need no counting, as their total is not told. */
export class LongLists {
  readonly #since = new LruMap<string, number>(10_000)

  isLong(key: string): boolean {
    return Date.now() - (this.#since.get(key) ?? 0) < remembered
  }

  note(key: string): void {
    if (!this.isLong(key)) this.#since.set(key, Date.now(), 1)
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
