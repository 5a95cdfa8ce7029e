import type { RawBuilder } from 'kysely'
import type { Owner } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
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

/** The newest member, project and subgroup of a group, told as if they had just been made. */
const newestRecords: Partial<
  Record<SwitchedTrigger, { kind: HookedEvent; action: string; from: (group: number) => RawBuilder<unknown> }>
> = {
  member: {
    kind: 'member',
    action: 'add',
    from: (group) => sql`
      select facts_of_member(m) as facts from members m where m.namespace_id = ${group} order by m.id desc limit 1`,
  },
  project: {
    kind: 'project',
    action: 'create',
    from: (group) => sql`
      select facts_of_project(p) as facts from projects p where p.namespace_id = ${group} order by p.id desc limit 1`,
  },
  subgroup: {
    kind: 'group',
    action: 'create',
    from: (group) => sql`
      select facts_of_group(n) as facts from namespaces n where n.parent_id = ${group} order by n.id desc limit 1`,
  },
}

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
    for (const event of await this.#newsOf(owner, trigger)) {
      const found = (await this.#build(event)).find((built) => built.trigger === trigger)
      if (found !== undefined) return found.payload
    }
    return undefined
  }

  async #newsOf(owner: Owner, trigger: SwitchedTrigger): Promise<DomainEvent[]> {
    const record = newestRecords[trigger]
    if (record !== undefined) {
      const { rows } = await sql<DomainEvent>`
        select 0 as id, ${record.kind} as kind, null as "projectId", null as "userId", now() as "createdAt",
          jsonb_build_object('action', ${record.action}::text, 'oldFullPath', null, 'old', null, 'record', r.facts) as payload
        from (${record.from(owner.id!)}) r where r.facts is not null`.execute(this.#db.reader)
      return rows
    }
    const kinds = (Object.keys(triggersOfEvent) as HookedEvent[]).filter((kind) =>
      (triggersOfEvent[kind] as readonly string[]).includes(trigger),
    )
    return this.#newsOfProjects(owner, kinds)
  }

  async #newsOfProjects({ kind, id }: Owner, kinds: readonly string[]): Promise<DomainEvent[]> {
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
