import type { Statements } from '../kernel/db/index.ts'
import type { Read } from '../kernel/endpoint/endpoint.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Credentials } from './credentials.ts'
import { enterMarked, readAgain, type Entrance } from './enter.ts'
import type { AnyKind, Lookup } from './subjects.ts'

type Remembered = Pick<Awaited<ReturnType<typeof enterMarked<unknown, never>>>, 'entrance' | 'role' | 'marks'>

/** Callers at subjects that are remembered, of a few kilobytes each. */
const remembered = 10_000

/**
 * `enter` with a memory. Who a caller is, what the subject is and which role the caller has there changes seldom: it
 * is remembered with the marks it was found under. The next statement brings the rows only if the marks are still
 * the same, which the database says in the same snapshot, so what is remembered is never believed after a change on
 * any node: then all is found anew. Most calls spare the database and us half of the work.
 */
export class Entrances {
  readonly #db: Statements
  readonly #known = new LruMap<string, Remembered>(remembered)

  constructor(db: Statements) {
    this.#db = db
  }

  async enter<Subject, Row>(
    kind: AnyKind,
    credentials: Credentials,
    lookup: Lookup,
    read: Read<Row> | undefined,
    extent: 'single' | undefined,
  ): Promise<Entrance<Subject, Row>> {
    // Runners and jobs are their own credentials and change with every call.
    if (lookup.secretDigest !== undefined) return this.#find<Subject, Row>(kind, credentials, lookup, read)
    const key = `${kind.name} ${credentials.kind} ${credentials.digest ?? ''} ${lookup.id ?? ''}`
    const known = this.#known.get(key)
    if (known !== undefined) {
      const rows = await readAgain(this.#db, kind, credentials, lookup, known, read, extent)
      if (rows !== undefined) return { ...(known.entrance as Entrance<Subject, never>), loaded: rows }
      this.#known.delete(key)
    }
    return this.#find<Subject, Row>(kind, credentials, lookup, read, key)
  }

  async #find<Subject, Row>(
    kind: AnyKind,
    credentials: Credentials,
    lookup: Lookup,
    read?: Read<Row>,
    key?: string,
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
    if (key !== undefined && actor !== undefined && subject !== undefined && visible && !redirect) {
      this.#known.set(key, { entrance: { ...entrance, loaded: { rows: [], total: undefined } }, role, marks })
    }
    return entrance
  }
}
