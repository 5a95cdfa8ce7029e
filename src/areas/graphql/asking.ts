import { GraphQLError } from 'graphql'
import { find, project, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { InnerApi, InnerCaller, InnerReply, Method } from '../../kernel/endpoint/index.ts'
import { sentencesOf, type ErrorBody } from '../../kernel/errors/index.ts'
import type { Texts } from '../markdown/index.ts'
import { connection, pageOfList, type PageArguments } from './connections.ts'

export interface AskingServices {
  readonly db: Database
  readonly api: InnerApi
  readonly texts: Texts
}

/** Calls of the API that one request may cause. */
const mostCalls = 200
/** Bytes of one file that is shown. */
const largestFile = 1024 * 1024

/** What the API lets nobody know of, or not this caller. */
const hidden = new Set([301, 401, 403, 404])

/** Why the API does not do what a mutation is about, in its words. */
export class Refused extends Error {}

/** A thing as the API answers it; those who look at its fields say which it has. */
export interface Shown {
  readonly id: number
}

/** One request: who asks, and all that is asked of the API for him. */
export class Asking {
  readonly actor: Actor
  readonly services: AskingServices
  readonly #caller: InnerCaller
  readonly #replies = new Map<string, Promise<InnerReply>>()
  readonly #projects = new Map<number, Promise<ProjectSubject | undefined>>()
  #calls = 0

  constructor(services: AskingServices, actor: Actor, caller: InnerCaller) {
    this.services = services
    this.actor = actor
    // Who is nobody here, as pages of others are that send a browser's cookie, is nobody there.
    this.#caller = actor.user === null ? { headers: {}, ip: caller.ip } : caller
  }

  /** A thing; undefined where there is none that the caller may know of. */
  async get<Thing = Shown>(path: string): Promise<Thing | undefined> {
    return (await this.#shown(path))?.body as Thing | undefined
  }

  /** Fields that only the whole thing has, which is asked for where one of them is. */
  rest(shown: object, path: string, fields: readonly string[]): object {
    const missing = fields.filter((field) => !(field in shown))
    const whole = () => this.get<Readonly<Record<string, unknown>>>(path)
    return Object.fromEntries(missing.map((field) => [field, async () => (await whole())?.[field]]))
  }

  /** A page of a list as a connection; null where the caller may not know of it. */
  async list<Row>(
    path: string,
    query: Readonly<Record<string, Asked>>,
    asked: PageArguments,
    node: (row: Row) => unknown,
  ): Promise<unknown> {
    const { page, perPage } = pageOfList(asked)
    const found = await this.#shown(`${path}?${written({ ...query, page, per_page: perPage })}`)
    return found === undefined
      ? null
      : connection({ page, perPage }, found.body as Row[], found.hasNextPage, node)
  }

  /** The content of a file; null where it is too large. */
  async file(path: string): Promise<string | null> {
    this.#count()
    return (await this.services.api.text(this.#caller, path, largestFile)) ?? null
  }

  /** Changes something. Throws what mutations answer as their own errors, or that there is nothing the caller may change. */
  async write<Thing = Shown>(method: Method, path: string, body?: object): Promise<Thing | undefined> {
    this.#count()
    this.#replies.clear()
    const reply = await this.services.api.call(this.#caller, method, path, body)
    if (reply.status < 300) return reply.body as Thing | undefined
    if (hidden.has(reply.status) || reply.status === 405) throw outOfReach()
    throw new Refused(reasonOf(reply.status, reply.body))
  }

  /** The project as access to it is decided; it is one that the API has shown. */
  project(id: number): Promise<ProjectSubject | undefined> {
    let found = this.#projects.get(id)
    if (found === undefined) {
      found = find(this.services.db.reader, project, this.actor, String(id))
      this.#projects.set(id, found)
    }
    return found
  }

  /** The same is asked once, but for what was written since. */
  async #shown(path: string): Promise<InnerReply | undefined> {
    let asked = this.#replies.get(path)
    if (asked === undefined) {
      this.#count()
      asked = this.services.api.call(this.#caller, 'GET', path)
      this.#replies.set(path, asked)
    }
    const reply = await asked
    if (hidden.has(reply.status)) return undefined
    if (reply.status !== 200) throw new GraphQLError(reasonOf(reply.status, reply.body))
    return reply
  }

  #count(): void {
    this.#calls += 1
    if (this.#calls > mostCalls)
      throw new GraphQLError('The query asks for too many things at once: ask for fewer with `first`')
  }
}

/** What is refused to the caller, or is not there; which of them nobody is told. */
export function outOfReach(): GraphQLError {
  return new GraphQLError('There is no such thing, or you may not do this with it')
}

type Asked = string | number | boolean | readonly string[] | null | undefined

/** A query of the API, without what is not asked for. */
export function written(query: Readonly<Record<string, Asked>>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value == null) continue
    if (typeof value === 'object') for (const one of value) params.append(`${name}[]`, one)
    else params.append(name, String(value))
  }
  return params.toString()
}

function reasonOf(status: number, body: unknown): string {
  // In maintenance and the like it is 503, with its reason.
  if (status === 500) throw new Error(`a call of the API answered ${status}`)
  if (typeof body !== 'object' || body === null) return status === 429 ? 'Too many requests' : `${status}`
  return sentencesOf(body as ErrorBody).join(', ')
}
