import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { RawBuilder } from 'kysely'
import type { Plan } from '../config/index.ts'
import { weakEtag } from './headers.ts'
import type { PathParams } from './path.ts'
import type { KeysetPlace, PageInput } from './pagination.ts'
import type { ParamRules, Static, TObject, TSchema } from './types.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * What is checked before a handler runs. The first check that fails decides the answer, and the order differs by area
 * (conventions, 1.6): `credentials` 401 or 403, `params` 400, `subject` 404, `record` 404, `may` 403.
 */
export type Check = 'credentials' | 'params' | 'subject' | 'record' | 'may'

/**
 * The kind of thing an endpoint is about. The kernel knows only its name, under which the handler receives it; what
 * it is and which abilities exist on it is said in `access/`.
 */
export interface SubjectKind<
  Name extends string = string,
  Subject = unknown,
  Ability extends string = string,
> {
  readonly name: Name
  /** Only for the type checker. */
  readonly types?: { readonly subject: Subject; readonly ability: Ability }
}

export type SubjectOf<K> = K extends SubjectKind<string, infer S> ? S : never
export type AbilityOf<K> = K extends SubjectKind<string, unknown, infer A> ? A : never

/**
 * SQL that is read in the very statement that finds out who asks and what about. It may refer to the columns of
 * `actor` (`actor.id`) and of `subject` (`subject.id`), and is run only if the caller may see the subject.
 */
export interface Read<Row> {
  readonly sql: RawBuilder<unknown>
  readonly kind: 'rows' | 'page'
  /** A page that takes no longer than a record: an index leads to it, whatever is asked for. Others may have to search. */
  readonly bounded?: boolean
  /**
   * What was answered is remembered with it, for everybody who may ask; so the handler answers by subject, parameters
   * and rows alone, whoever asks.
   */
  readonly print?: () => Print
  readonly types?: Row
}

/** What tells, for less than it costs to find them, whether rows and total are what they were. In SQL. */
export interface Print {
  /** A text that is another as soon as they would be. */
  readonly text: RawBuilder<unknown>
  /** Whether they are as they were when the text was this. */
  readonly holds: (text: string) => RawBuilder<unknown>
  /** That is found as quickly as a record, see `Read.bounded`. */
  readonly bounded: boolean
  /** From this time on it says nothing, in milliseconds since the Unix epoch; left out: it always does. */
  readonly until?: number
}

/** What a `Read` brought. `total` is undefined when nothing was counted or it is past 10,000. */
export interface Loaded<Row> {
  readonly rows: readonly Row[]
  readonly total: number | undefined
  /** What was answered to the same before, where nothing has changed since; no rows were read then. */
  readonly answer?: Answer
  /** Takes the answer that is to be remembered. */
  readonly remember?: (answer: Answer) => void
}

/** An answer that is not JSON of the declared shape: a stream, a text, another status, further headers. */
export class Answer {
  readonly status: number
  readonly body: Readable | Buffer | string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    headers: Readonly<Record<string, string>> = {},
    body?: Readable | Buffer | string,
  ) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** A value that answers many requests until something changes: it is written once. */
export class Lasting {
  readonly #value: unknown
  #written: { readonly body: string; readonly etag: string } | undefined

  constructor(value: unknown) {
    this.#value = value
  }

  written(write: (value: unknown) => string): { readonly body: string; readonly etag: string } {
    if (this.#written === undefined) {
      const body = write(this.#value)
      this.#written = { body, etag: weakEtag(body) }
    }
    return this.#written
  }
}

/** A page of a list that the handler read by itself. */
export class Page<Row> {
  readonly rows: readonly Row[]
  /** Undefined: not counted. */
  readonly total: number | undefined
  readonly hasMore: boolean
  readonly keyset: boolean
  /** Keyset lists: what the next page starts with; undefined on the last one. */
  readonly next: KeysetPlace | undefined

  constructor(
    rows: readonly Row[],
    more: {
      total?: number | undefined
      hasMore?: boolean
      keyset?: boolean
      next?: KeysetPlace | undefined
    } = {},
  ) {
    this.rows = rows
    this.total = more.total
    this.hasMore = more.hasMore ?? false
    this.keyset = more.keyset ?? false
    this.next = more.next
  }
}

/** What every handler receives besides its subject. */
export interface Call<Actor, Params, Row> {
  readonly actor: Actor
  readonly params: Params
  /** What `read` brought, a page cut to its size. */
  readonly rows: readonly Row[]
  /** Of a page that `read` brought: how many there are in all, undefined past 10,000. */
  readonly total: number | undefined
  readonly page: PageInput
  readonly request: RequestFacts
}

export interface RequestFacts {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Address of the caller. */
  readonly ip: string
  /** All parameters, unchecked: path, query and body in one bag. Only to hand them on as they came. */
  readonly sent: Readonly<Record<string, unknown>>
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal
  /** The unread body of an endpoint with `body: 'stream'`. */
  readonly body: Readable
}

interface Declaration<Kind extends SubjectKind, Path extends string, Params extends TObject, Row, Actor> {
  readonly method: Method
  readonly path: Path
  /** The last parameter of the path takes the rest of the address, also where its slashes come as they are. */
  readonly greedy?: boolean
  /** Served with a dash after the id, too, as many clients write it: `/groups/:id/-/epics`. */
  readonly dashed?: boolean
  readonly summary: string
  readonly description?: string
  /** What it is about, and the ability on it that the caller needs. */
  readonly on: Kind
  readonly may: AbilityOf<Kind>
  /** Serves callers without credentials. Others get 401. */
  readonly anonymous?: boolean
  /** Token scopes it takes besides `api` (and `read_api` when it only reads). */
  readonly scopes?: readonly string[]
  /** Takes the token of a running CI job. */
  readonly jobToken?: boolean
  /** Takes a token as the password of HTTP Basic, for programs that know nothing else; any name goes with it. */
  readonly basic?: boolean
  /** Takes deploy tokens, in a header of their own and by HTTP Basic. */
  readonly deployToken?: boolean
  readonly plan?: Plan
  /** Below the plan it hides itself: a thing of this name is missing. Otherwise it refuses. */
  readonly missingBelowPlan?: string
  /** A switch among the settings: while it is off there is no such endpoint, for nobody. */
  readonly switchedBy?: string
  /** Also on what is archived or marked for deletion, though it writes: it is nothing of the project's or group's. */
  readonly whileArchived?: boolean
  /** Also for who has not confirmed his address or accepted the terms: nobody is to lock everybody out. */
  readonly beforeTerms?: boolean
  /** All parameters: of the path (text unless declared), of the query and of the body. */
  readonly params?: Params
  readonly rules?: ParamRules
  readonly checks?: readonly Check[]
  /** `stream`: the body is left to the handler; parameters come from path and query only. */
  readonly body?: 'params' | 'stream'
  /** A body of plain text is passed over, not refused. */
  readonly plainText?: boolean
  /** Where the bytes of a file parameter go; answers what `UploadedFile.stored` holds. Undefined: nobody asked for it. */
  readonly takeFile?: (name: string, content: Readable) => Promise<unknown> | undefined
  /** A list with offset pages: `page` and `per_page` are parameters, the paging headers are made. */
  readonly paged?: boolean
  /** Milliseconds after which it is worth asking again; callers are told so by `Poll-Interval`, as the instance stretches it. */
  readonly pollable?: number
  /** A single record: when `read` finds none, the check `record` answers 404. */
  readonly record?: string | true
  /** Undefined where these parameters need none. */
  readonly read?: (call: { params: ParamsOf<Path, Params>; page: PageInput }) => Read<Row> | undefined
  /** The shape of the answer, or null when there is none (204). */
  readonly answers: TSchema | null
  readonly status?: number
  /** Statuses that are documented besides the general ones. */
  readonly refuses?: Readonly<Record<number, string>>
  readonly handle: (
    call: Call<Actor, ParamsOf<Path, Params>, Row> & { readonly [Name in Kind['name']]: SubjectOf<Kind> },
  ) => Promise<unknown>
}

/** Declared parameters, and the path's own, which are text where they are not declared. */
export type ParamsOf<Path extends string, Params extends TObject> = Static<Params> &
  Omit<PathParams<Path>, keyof Static<Params>>

/** An endpoint as the registry keeps it: the declaration with its types forgotten. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a list holds endpoints of all parameter types.
export type Endpoint<Actor = any> = Declaration<SubjectKind<any, any, any>, string, TObject, any, Actor>

/** Makes the function that declares endpoints for one kind of actor; `access/` makes the one there is. */
export function endpointFor<Actor>() {
  return <
    Kind extends SubjectKind,
    const Path extends string,
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- no parameters of its own
    Params extends TObject = TObject<{}>,
    Row = never,
  >(
    declaration: Declaration<Kind, Path, Params, Row, Actor>,
  ): Endpoint<Actor> => declaration
}
