import type { Statements } from '../kernel/db/index.ts'
import type { Answer, Loaded, Read } from '../kernel/endpoint/endpoint.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Credentials } from './credentials.ts'
import { isAsBefore, readAgain } from './enter-again.ts'
import { enterMarked, type Entrance } from './enter.ts'
import type { AnyKind, Lookup } from './subjects.ts'

type Remembered = Pick<Awaited<ReturnType<typeof enterMarked<unknown, never>>>, 'entrance' | 'role' | 'marks'>

const nothing: Loaded<never> = { rows: [], total: undefined }

/** Callers at subjects of a kind that are remembered, of a few kilobytes each. */
const remembered = 10_000

/** Questions of which it is known that they were asked. */
const knownQuestions = 10_000

/** Characters of answers that are remembered. */
const rememberedText = 32 * 1024 * 1024

/** What was answered, and when that holds: by the same entrance, under the same print. */
interface RememberedAnswer {
  readonly known: Remembered
  readonly print: string
  readonly answer: Answer
}

/** What a call reads, and how. */
interface Reading {
  /** As of `Database.rows`. */
  readonly extent: 'bounded' | undefined
  /** Names what is asked for, see `GateCall`. */
  readonly asked: string | undefined
}

/**
 * `enter` with a memory. Who a caller is, what the subject is and which role the caller has there changes seldom: it
 * is remembered with the marks it was found under. The next statement brings the rows only if the marks are still
 * the same, which the database says in the same snapshot, so what is remembered is never believed after a change on
 * any node: then all is found anew. Most calls spare the database and us half of the work.
 *
 * So it is with answers whose rows have a print: who has asked the same twice gets what he got, if the database says
 * that the print is the same.
 */
export class Entrances {
  readonly #db: Statements
  readonly #known = new Map<AnyKind, LruMap<string, Remembered>>()
  readonly #asked = new LruMap<string, true>(knownQuestions)
  readonly #answers = new LruMap<string, RememberedAnswer>(rememberedText)

  constructor(db: Statements) {
    this.#db = db
  }

  async enter<Subject, Row>(
    kind: AnyKind,
    credentials: Credentials,
    lookup: Lookup,
    read: Read<Row> | undefined,
    { extent, asked }: Reading,
  ): Promise<Entrance<Subject, Row>> {
    if (kind.version === null) return this.#find<Subject, Row>(kind, credentials, lookup, read)
    const memory = this.#memoryOf(kind)
    const mode = credentials.adminMode === true ? ' admin mode' : ''
    const key = `${credentials.kind}${mode} ${credentials.digest ?? ''} ${lookup.id ?? ''}`
    const known = memory.get(key)
    if (known !== undefined) {
      const entrance = known.entrance as Entrance<Subject, never>
      const name = `${key} ${asked}`
      const printed = asked === undefined ? undefined : read?.print
      const print = printed && this.#wasAsked(name) ? printed : undefined
      const before = print && this.#answerOf(name, known)
      if (before !== undefined) {
        const mark = { ...known, print: before.print }
        const holds = await isAsBefore(this.#db, kind, credentials, lookup, mark, print!, extent)
        if (holds) return { ...entrance, loaded: { ...nothing, answer: before.answer } }
      }
      const found = await readAgain(this.#db, kind, credentials, lookup, known, read, print, extent)
      if (found !== undefined) {
        return { ...entrance, loaded: this.#rememberable(name, known, found) }
      }
      memory.delete(key)
    }
    return this.#find<Subject, Row>(kind, credentials, lookup, read, (found) => memory.set(key, found))
  }

  /** From the second time on: most of what is asked once is not asked again, and a print is more work. */
  #wasAsked(name: string): boolean {
    const before = this.#asked.get(name) === true
    if (!before) this.#asked.set(name, true)
    return before
  }

  #answerOf(name: string, known: Remembered): RememberedAnswer | undefined {
    const found = this.#answers.get(name)
    return found?.known === known ? found : undefined
  }

  #rememberable<Row>(
    name: string,
    known: Remembered,
    { loaded, print }: { readonly loaded: Loaded<Row>; readonly print: string | undefined },
  ): Loaded<Row> {
    if (print === undefined) return loaded
    const remember = (answer: Answer): void => {
      const length = typeof answer.body === 'string' ? answer.body.length : 0
      this.#answers.set(name, { known, print, answer }, name.length + print.length + length)
    }
    return { ...loaded, remember }
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
      remember({ entrance: { ...entrance, loaded: nothing }, role, marks })
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
