import type { Statements } from '../kernel/db/index.ts'
import type { Read } from '../kernel/endpoint/endpoint.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Credentials } from './credentials.ts'
import { enterMarked, readAgain, type Entrance } from './enter.ts'
import type { AnyKind, Lookup } from './subjects.ts'

type Remembered = Pick<Awaited<ReturnType<typeof enterMarked<unknown, never>>>, 'entrance' | 'role' | 'marks'>

/** Callers at subjects of a kind that are remembered, of a few kilobytes each. */
const remembered = 10_000

/**
 * `enter` with a memory. Who a caller is, what the subject is and which role the caller has there changes seldom: it
 * is remembered with the marks it was found under. The next statement brings the rows only if the marks are still
 * the same, which the database says in the same snapshot, so what is remembered is never believed after a change on
 * any node: then all is found anew. Most calls spare the database and us half of the work.
 */
export class Entrances {
  readonly #db: Statements
  readonly #known = new Map<AnyKind, LruMap<string, Remembered>>()

  constructor(db: Statements) {
    this.#db = db
  }

  async enter<Subject, Row>(
    kind: AnyKind,
    credentials: Credentials,
    lookup: Lookup,
    read: Read<Row> | undefined,
    extent: 'bounded' | undefined,
  ): Promise<Entrance<Subject, Row>> {
    if (kind.version === null) return this.#find<Subject, Row>(kind, credentials, lookup, read)
    const memory = this.#memoryOf(kind)
    const mode = credentials.adminMode === true ? ' admin mode' : ''
    const key = `${credentials.kind}${mode} ${credentials.digest ?? ''} ${lookup.id ?? ''}`
    const known = memory.get(key)
    if (known !== undefined) {
      const rows = await readAgain(this.#db, kind, credentials, lookup, known, read, extent)
      if (rows !== undefined) return { ...(known.entrance as Entrance<Subject, never>), loaded: rows }
      memory.delete(key)
    }
    return this.#find<Subject, Row>(kind, credentials, lookup, read, (found) => memory.set(key, found))
  }

  async #find<Subject, Row>(
    kind: AnyKind,
    credentials: Credentials,
    lookup: Lookup,
    read?: Read<Row>,
    remember?: (found: Remembered) => void,
  ): Promise<Entrance<Subject, Row>> {
    const { entrance, role, marks } = await enterMarked<Subject, Row>(
      this.#db,
      kind,
      credentials,
      lookup,
      read,
    )
    const { actor, subject, visible, redirect } = entrance
    // A stranger's guesses are not remembered.
    if (remember !== undefined && actor !== undefined && subject !== undefined && visible && !redirect) {
      remember({ entrance: { ...entrance, loaded: { rows: [], total: undefined } }, role, marks })
    }
    return entrance
  }

  /** Kinds may have the same name and find by other ids. */
  #memoryOf(kind: AnyKind): LruMap<string, Remembered> {
    const known = this.#known.get(kind) ?? new LruMap<string, Remembered>(remembered)
    this.#known.set(kind, known)
    return known
  }
}
