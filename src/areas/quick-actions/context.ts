import { userOf } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import type { InnerApi, InnerReply, Method } from '../../kernel/endpoint/index.ts'
import type { Events } from '../../tasks/index.ts'
import { labelsNamed } from '../labels/index.ts'
import { addSystemNotes, type CommandTarget, type NoteableKind, type SystemAction } from '../notes/index.ts'

export interface QuickActionServices {
  readonly db: Database
  readonly api: InnerApi
  readonly events: Events
  readonly externalUrl: () => string
}

export interface Done {
  readonly summary: string
  readonly changes?: Readonly<Record<string, unknown>>
}

/** A command that cannot be done, in words for its author. */
export class Undoable extends Error {}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- issues, merge requests and epics as the API answers them
type Shown = Record<string, any>

/** One noteable during the commands of one text. What is done to it is done by calls of the API as its caller. */
export class CommandContext {
  readonly services: QuickActionServices
  readonly target: CommandTarget
  /** Of the noteable, below `/api/v4`. */
  readonly path: string
  /** Of its project or group. */
  readonly placePath: string
  readonly iid: number
  /** Commands of this text that were done before. */
  readonly done = new Set<string>()
  #shown: Shown | undefined

  private constructor(services: QuickActionServices, target: CommandTarget, iid: number) {
    this.services = services
    this.target = target
    this.iid = iid
    this.placePath = `/${target.place.kind}s/${target.place.id}`
    const nouns = {
      Issue: `issues/${iid}`,
      MergeRequest: `merge_requests/${iid}`,
      Epic: `epics/${iid}`,
      Commit: `repository/commits/${target.sha ?? ''}`,
      Snippet: 'snippets',
    }
    this.path = `${this.placePath}/${nouns[target.kind]}`
  }

  static async open(services: QuickActionServices, target: CommandTarget): Promise<CommandContext> {
    const table = { Issue: 'issues', MergeRequest: 'merge_requests', Epic: 'epics' } as const
    if (target.kind === 'Commit' || target.kind === 'Snippet') return new CommandContext(services, target, 0)
    const { rows } = await sql<{ iid: number }>`
      select t.iid from ${sql.table(table[target.kind])} t where t.id = ${target.id}`.execute(
      services.db.reader,
    )
    return new CommandContext(services, target, rows[0]?.iid ?? 0)
  }

  get noun(): string {
    return {
      Issue: 'issue',
      MergeRequest: 'merge request',
      Epic: 'epic',
      Commit: 'commit',
      Snippet: 'snippet',
    }[this.target.kind]
  }

  /** A call of the API; undefined where it was refused or changed nothing. */
  async call(method: Method, path: string, body?: object): Promise<Shown | undefined> {
    const reply = await this.send(method, path, body)
    if (method !== 'GET') this.#shown = undefined
    return reply.status < 300 ? ((reply.body as Shown | undefined) ?? {}) : undefined
  }

  send(method: Method, path: string, body?: object): Promise<InnerReply> {
    return this.services.api.call(this.target.request, method, path, body)
  }

  /** The noteable as it is now. */
  async shown(): Promise<Shown> {
    this.#shown ??= (await this.call('GET', this.path)) ?? {}
    return this.#shown
  }

  /** Changes fields of the noteable. */
  async change(fields: object, done: Done): Promise<Done | undefined> {
    return (await this.call('PUT', this.path, fields)) && done
  }

  /** Takes away what it has; undefined where it has none. `shown`: the field that shows it. */
  async clear(shown: string, fields: object, done: Done): Promise<Done | undefined> {
    const present: unknown = (await this.shown())[shown]
    const isThere = Array.isArray(present) ? present.length > 0 : present != null
    return isThere ? this.change(fields, done) : undefined
  }

  /** Does something to it. */
  async act(name: string, body: object, done: Done): Promise<Done | undefined> {
    return (await this.call('POST', `${this.path}/${name}`, body)) && done
  }

  /** Writes what no call of the API does; the caller was let do what it belongs to. */
  write(work: (tx: Tx, userId: number) => Promise<void>): Promise<void> {
    return this.services.db.transaction((tx) => work(tx, userOf(this.target.actor).id))
  }

  /** A note of the service on the noteable; `of`: what it names, of the same project. */
  tell(action: SystemAction, body: string, of?: { kind: NoteableKind; id: number }): Promise<void> {
    const { kind, id, sha, place } = this.target
    const at =
      place.kind === 'project'
        ? { projectId: place.id, namespaceId: null }
        : { projectId: null, namespaceId: place.id }
    return this.write((tx, authorId) =>
      addSystemNotes(tx, [
        {
          on: { kind, id, sha: sha ?? null, ...at },
          action,
          body,
          authorId,
          ...(of !== undefined && { reference: { ...of, ...at } }),
        },
      ]),
    )
  }

  /** `@ida @otto`, `me`: people by their names, in their order. */
  async people(argument: string): Promise<{ id: number; username: string }[]> {
    const self = this.target.actor.user!
    const names = argument
      .toLowerCase()
      .split(/[\s,]+/)
      .map((name) => (name === 'me' ? self.username.toLowerCase() : name.replace(/^@/, '')))
      .filter((name) => name !== '')
    if (names.length === 0) return []
    const { rows } = await sql<{ id: number; username: string }>`
      select u.id, u.username from users u where lower(u.username) = any (${names}::text[])
      order by array_position(${names}::text[], lower(u.username))`.execute(this.services.db.reader)
    return rows
  }

  /** `~bug ~"needs work"`: the labels of these titles that there are. */
  async labels(argument: string): Promise<{ id: number; title: string }[]> {
    const titles = [...argument.matchAll(/~?"([^"]+)"|~?([^\s,~"]+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain!,
    )
    const { place } = this.target
    const projectId = place.kind === 'project' ? place.id : null
    return this.services.db.transaction((tx) =>
      labelsNamed(tx, { projectId, line: place.line }, titles, false),
    )
  }

  /** `%"Version 1"` */
  async milestone(argument: string): Promise<{ id: number; title: string } | undefined> {
    const title = argument
      .replace(/^%/, '')
      .replace(/^"(.*)"$/, '$1')
      .trim()
    const { place } = this.target
    const { rows } = await sql<{ id: number; title: string }>`
      select m.id, m.title from milestones m
      where m.title = ${title} and (m.project_id = ${place.kind === 'project' ? place.id : null}::bigint
        or m.namespace_id = any (${[...place.line]}::bigint[]))
      order by m.project_id nulls last limit 1`.execute(this.services.db.reader)
    return rows[0]
  }

  /** `#5`, `group/project!3`, `&7`: what is referred to, if the caller sees it. */
  async referred(
    argument: string,
    sign: '#' | '!' | '&',
  ): Promise<{ shown: Shown; place: string; iid: number } | undefined> {
    const [, path, iid] = new RegExp(`^([\\w./-]*)${sign}(\\d{1,9})$`).exec(argument.trim()) ?? []
    if (iid === undefined) return undefined
    const noun = { '#': 'issues', '!': 'merge_requests', '&': 'epics' }[sign]
    const { place } = this.target
    const kind = sign === '&' ? 'groups' : 'projects'
    const own = sign === '&' && place.kind === 'project' ? place.line.at(-1)! : place.id
    const at = path ? encodeURIComponent(path) : String(own)
    const shown = await this.call('GET', `/${kind}/${at}/${noun}/${iid}`)
    return shown && { shown, place: at, iid: Number(iid) }
  }
}
