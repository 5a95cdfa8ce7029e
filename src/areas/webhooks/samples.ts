import { sql } from 'kysely'
import type { Database } from '../../kernel/db/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { Owner } from './places.ts'
import type { Built } from './payloads/parts.ts'
import { triggersOfEvent, type HookedEvent, type SwitchedTrigger } from './triggers.ts'

/** What a webhook of the instance is tested with. */
export const systemSample = {
  event_name: 'project_create',
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'someone@example.com',
}

/** News looked through for something that fits: of one project, and of how many projects of a group. */
const mostNews = 1000
const mostProjects = 20
const mostBuilt = 20

/** Webhooks are tested with what has really happened last. */
export class Samples {
  readonly #db: Database
  readonly #build: (event: DomainEvent) => Promise<readonly Built[]>

  constructor(db: Database, build: (event: DomainEvent) => Promise<readonly Built[]>) {
    this.#db = db
    this.#build = build
  }

  /** The payload of the newest call of this kind that could have been made; undefined when there is none. */
  async newest(owner: Owner, trigger: SwitchedTrigger): Promise<object | undefined> {
    const kinds = (Object.keys(triggersOfEvent) as HookedEvent[]).filter((kind) =>
      (triggersOfEvent[kind] as readonly string[]).includes(trigger),
    )
    for (const event of await this.#newsOf(owner, kinds)) {
      const found = (await this.#build(event)).find((built) => built.trigger === trigger)
      if (found !== undefined) return found.payload
    }
    return undefined
  }

  async #newsOf({ kind, id }: Owner, kinds: readonly string[]): Promise<DomainEvent[]> {
    const projects =
      kind === 'project'
        ? sql`select ${id}::bigint as id`
        : sql`
            select p.id from projects p join namespaces n on n.id = p.namespace_id
            where n.traversal_ids @> array[${id}::bigint] order by p.last_activity_at desc limit ${mostProjects}`
    const { rows } = await sql<DomainEvent>`
      select e.id, e.kind, e.project_id as "projectId", e.user_id as "userId", e.payload, e.created_at as "createdAt"
      from (${projects}) p cross join lateral (
        select * from events o where o.project_id = p.id order by o.id desc limit ${mostNews}) e
      where e.kind = any (${[...kinds]}::text[]) order by e.id desc limit ${mostBuilt}`.execute(
      this.#db.reader,
    )
    return rows
  }
}
