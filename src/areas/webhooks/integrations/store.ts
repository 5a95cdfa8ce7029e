import type { RawBuilder } from 'kysely'
import type { Owner } from '../../../access/index.ts'
import { sql, type Tx } from '../../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../../kernel/endpoint/index.ts'
import type { TriggerName } from '../triggers.ts'

export type PlaceKind = 'project' | 'group'

export interface IntegrationRow {
  readonly id: number
  readonly integration: string
  readonly active: boolean
  /** It is that of a group above. */
  readonly inherited: boolean
  readonly triggers: readonly TriggerName[]
  readonly properties: string
  readonly created_at: string
  readonly updated_at: string
}

const own: Readonly<Record<PlaceKind, RawBuilder<unknown>>> = {
  project: sql`w.project_id = subject.id`,
  group: sql`w.namespace_id = subject.id`,
}

/** Of each kind the nearest: its own, or that of the nearest group above. */
const reaching = (kind: PlaceKind): RawBuilder<unknown> => sql`(
  select distinct on (w.integration) w.id, w.integration, w.active, ${own[kind]} is not true as inherited, w.triggers,
    w.properties, w.created_at, w.updated_at
  from webhooks w
  where w.integration is not null and (${own[kind]} or w.namespace_id = any (subject.line))
  order by w.integration, (${own[kind]}) desc nulls last, array_position(subject.line, w.namespace_id) desc)`

const columns = sql`
  w.id, w.integration, w.active, w.inherited, w.triggers, w.properties, w.created_at, w.updated_at`

/** Those that are active, of these kinds. Read together with the caller's access. */
export function list(kind: PlaceKind, names: readonly string[], input: PageInput): Read<IntegrationRow> {
  const from = sql`from ${reaching(kind)} w where w.active and w.integration = any (${[...names]}::text[])`
  return page({ columns, from, order: sql`w.id` }, input)
}

export function one(kind: PlaceKind, name: string): Read<IntegrationRow> {
  return rows(sql`select ${columns} from ${reaching(kind)} w where w.integration = ${name}`)
}

const placeColumn = ({ kind }: Owner): RawBuilder<unknown> =>
  kind === 'project' ? sql`project_id` : sql`namespace_id`

const saved = sql`
  w.id, w.integration, w.active, w.triggers, w.properties, w.created_at, w.updated_at`

export async function lockOwn(tx: Tx, owner: Owner, name: string): Promise<IntegrationRow | undefined> {
  const { rows: found } = await sql<IntegrationRow>`
    select ${saved}, false as inherited from webhooks w
    where w.${placeColumn(owner)} = ${owner.id} and w.integration = ${name} for update`.execute(tx)
  return found[0]
}

export interface IntegrationValues {
  readonly active: boolean
  readonly triggers: readonly TriggerName[]
  /** Sealed, as the properties are. */
  readonly url: string
  readonly properties: string
}

/** What went wrong with the one before is forgotten. */
export async function save(
  tx: Tx,
  owner: Owner,
  name: string,
  { active, triggers, url, properties }: IntegrationValues,
): Promise<IntegrationRow> {
  const place = placeColumn(owner)
  const { rows: made } = await sql<{ row: IntegrationRow }>`
    with w as (
      insert into webhooks as w (${place}, integration, active, triggers, url, properties, branch_filter_strategy,
        ssl_verification)
      values (${owner.id}, ${name}, ${active}, ${[...triggers]}::text[], ${url}, ${properties}, 'all_branches', true)
      on conflict (${place}, integration) where integration is not null do update
      set active = excluded.active, triggers = excluded.triggers, url = excluded.url,
        properties = excluded.properties, updated_at = now(), failures = 0, disabled_until = null
      returning ${saved}, false as inherited
    ) select to_json(w) as row from w`.execute(tx)
  return made[0]!.row
}

/** Takes its own away, so that the nearest above is used, which is answered; does nothing where there is none. */
export async function inherit(tx: Tx, owner: Owner, name: string): Promise<IntegrationRow | undefined> {
  const above =
    owner.kind === 'project'
      ? sql`(select p.namespace_id from projects p where p.id = ${owner.id})`
      : sql`(select g.parent_id from namespaces g where g.id = ${owner.id})`
  const line = sql`coalesce((select n.traversal_ids from namespaces n where n.id = ${above}), '{}')`
  const { rows: found } = await sql<IntegrationRow>`
    select ${saved}, true as inherited from webhooks w
    where w.namespace_id = any (${line}) and w.integration = ${name}
    order by array_position(${line}, w.namespace_id) desc limit 1`.execute(tx)
  if (found[0] === undefined) return undefined
  await sql`
    delete from webhooks w where w.${placeColumn(owner)} = ${owner.id} and w.integration = ${name}`.execute(
    tx,
  )
  return found[0]
}
