import type { Statements } from '../kernel/db/index.ts'
import type { Answer, Loaded, Read } from '../kernel/endpoint/endpoint.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Credentials } from './credentials.ts'
import { checkOf, readAgain, type Check, type Printed } from './enter-again.ts'
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

/** Statements that are kept for who asks again, of a kilobyte each. */
const rememberedChecks = 10_000

/** What was answered, to whoever it was, and when that holds. */
interface RememberedAnswer {
  readonly printed: Printed
  readonly answer: Answer
}

/** Asks whether an answer still holds, and who asks is as he was: the same statement each time. */
interface RememberedCheck {
  readonly of: RememberedAnswer
  readonly known: Remembered
  readonly check: Check
}

/** What a call reads, and how. */
interface Reading<Row> {
  /** Made only where the answer is not known. */
  readonly read: () => Read<Row> | undefined
  /** A list with pages, which may have to be searched for. */
  readonly paged: boolean
  /** Names what is asked for, see `GateCall`. */
  readonly asked: string | undefined
}

/**
 * `enter` with a memory. Who a caller is, what the subject is and which role the caller has there changes seldom: it
 * is remembered with the marks it was found under. The next statement brings the rows only if the marks are still
 * the same, which the database says in the same snapshot, so what is remembered is never believed after a change on
 * any node: then all is found anew. Most calls spare the database and us half of the work.
 *
 * So it is with answers whose rows have a print, which are the same for everybody who may ask: what was asked twice is
 * answered as before, if the database says that subject and print are the same.
 */
export class Entrances {
  readonly #db: Statements
  readonly #known = new Map<AnyKind, LruMap<string, Remembered>>()
  readonly #asked = new LruMap<string, true>(knownQuestions)
  readonly #answers = new LruMap<string, RememberedAnswer>(rememberedText)
  readonly #checks = new LruMap<string, RememberedCheck>(rememberedChecks)

  constructor(db: Statements) {
    this.#db = db
  }

  async enter<Subject, Row>(
    kind: AnyKind,
    credentials: Credentials,
    lookup: Lookup,
    { read, paged, asked }: Reading<Row>,
  ): Promise<Entrance<Subject, Row>> {
    if (kind.version === null) return this.#find<Subject, Row>(kind, credentials, lookup, read())
    const memory = this.#memoryOf(kind)
    const mode = credentials.adminMode === true ? ' admin mode' : ''
    const key = `${credentials.kind}${mode} ${credentials.digest ?? ''} ${lookup.id ?? ''}`
    let known = memory.get(key)
    const before = known && this.#answerTo(asked)
    if (known !== undefined && before !== undefined) {
      const [found] = await this.#db.run(
        this.#checkOf(`${key} ${asked}`, before, known, (mark) =>
          checkOf(this.#db, kind, credentials, lookup, mark, before.printed),
        ),
      )
      if (found?.same === true) return asKnown(known, { ...nothing, answer: before.answer })
      if (found?.current !== true) known = undefined
    }
    const wanted = read()
    if (known !== undefined) {
      const extent = paged && wanted?.bounded !== true ? undefined : 'bounded'
      const print = asked !== undefined && wanted?.print && this.#wasAsked(asked) ? wanted.print() : undefined
      const found = await readAgain(this.#db, kind, credentials, lookup, known, wanted, print, extent)
      if (found !== undefined) {
        const { loaded, printed } = found
        return asKnown(known, printed ? { ...loaded, remember: this.#remember(asked!, printed) } : loaded)
      }
    }
    memory.delete(key)
    return this.#find<Subject, Row>(kind, credentials, lookup, wanted, (now) => memory.set(key, now))
  }

  /** From the second time on: most of what is asked once is not asked again, and a print is more work. */
  #wasAsked(name: string): boolean {
    const before = this.#asked.get(name) === true
    if (!before) this.#asked.set(name, true)
    return before
  }

  #answerTo(asked: string | undefined): RememberedAnswer | undefined {
    const answer = asked === undefined ? undefined : this.#answers.get(asked)
    const until = answer?.printed.print.until ?? Infinity
    return until > Date.now() ? answer : undefined
  }

  #checkOf(name: string, of: RememberedAnswer, known: Remembered, make: (known: Remembered) => Check): Check {
    const before = this.#checks.get(name)
    if (before?.of === of && before.known === known) return before.check
    const check = make(known)
    this.#checks.set(name, { of, known, check })
    return check
  }

  #remember(asked: string, printed: Printed): (answer: Answer) => void {
    return (answer) => {
      const length = typeof answer.body === 'string' ? answer.body.length : 0
      this.#answers.set(asked, { printed, answer }, asked.length + printed.text.length + length)
    }
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

function asKnown<Subject, Row>({ entrance }: Remembered, loaded: Loaded<Row>): Entrance<Subject, Row> {
  return { ...(entrance as Entrance<Subject, never>), loaded }
}
