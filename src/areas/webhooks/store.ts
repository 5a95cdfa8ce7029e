import type { RawBuilder } from 'kysely'
import type { KeeperKind, Owner } from '../../access/index.ts'
import { sql, type Database, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { StoredHook, StoredIntegration, StoredValues } from './hook.ts'
import { within } from './places.ts'
import { mostHooks, tooMany } from './rules.ts'
import type { TriggerName } from './triggers.ts'

const columns = sql`
  w.id, w.project_id, w.namespace_id, w.uuid, w.name, w.description, w.url, w.token, w.triggers, w.branch_filter,
  w.branch_filter_strategy, w.ssl_verification, w.template, w.custom_headers, w.url_variables, w.failures,
  w.disabled_until, w.created_at, w.updated_at, w.integration, w.properties`

/** Read together with the caller's access: `subject` is the project or group. */
export function list(kind: KeeperKind, input: PageInput): Read<StoredHook> {
  return page({ columns, from: sql`from webhooks w where ${within(kind)}`, order: sql`w.id` }, input)
}

export function one(kind: KeeperKind, id: number): Read<StoredHook> {
  return rows(sql`select ${columns} from webhooks w where ${within(kind)} and w.id = ${id}`)
}

const asJson = (statement: RawBuilder<unknown>): RawBuilder<{ row: StoredHook }> =>
  sql`with w as (${statement}) select to_json(w) as row from w`

export async function create(tx: Tx, { kind, id }: Owner, values: StoredValues): Promise<StoredHook> {
  if (mostHooks[kind] !== Infinity) {
    // One after the other, so that the limit holds.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${kind} ${id}`}, 0))`.execute(tx)
    const { rows: found } = await sql<{ count: number }>`
      select count(*)::integer as count from webhooks w where ${within(kind, sql`${id}`)}`.execute(tx)
    if (found[0]!.count >= mostHooks[kind]) throw tooMany(kind)
  }
  const { rows: made } = await asJson(sql`
    insert into webhooks as w (project_id, namespace_id, name, description, url, token, triggers, branch_filter,
      branch_filter_strategy, ssl_verification, template, custom_headers, url_variables)
    values (${kind === 'project' ? id : null}, ${kind === 'group' ? id : null}, ${values.name}, ${values.description},
      ${values.url}, ${values.token}, ${[...values.triggers]}::text[], ${values.branch_filter},
      ${values.branch_filter_strategy}, ${values.ssl_verification}, ${values.template}, ${values.custom_headers},
      ${values.url_variables})
    returning ${columns}`).execute(tx)
  return made[0]!.row
}

/** Undefined when it is gone. */
export async function lock(tx: Tx, id: number): Promise<StoredHook | undefined> {
  const { rows: found } = await sql<{ row: StoredHook }>`
    select to_json(h) as row from (select ${columns} from webhooks w where w.id = ${id} for update) h`.execute(
    tx,
  )
  return found[0]?.row
}

export async function change(tx: Tx, id: number, values: StoredValues): Promise<StoredHook> {
  const { rows: changed } = await asJson(sql`
    update webhooks w set name = ${values.name}, description = ${values.description}, url = ${values.url},
      token = ${values.token}, triggers = ${[...values.triggers]}::text[], branch_filter = ${values.branch_filter},
      branch_filter_strategy = ${values.branch_filter_strategy}, ssl_verification = ${values.ssl_verification},
      template = ${values.template}, custom_headers = ${values.custom_headers},
      url_variables = ${values.url_variables}
    where w.id = ${id} returning ${columns}`).execute(tx)
  return changed[0]!.row
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('webhooks').where('id', '=', id).execute()
}

export async function find(db: Reader, id: number): Promise<StoredHook | undefined> {
  const { rows: found } = await sql<{ row: StoredHook }>`
    select to_json(h) as row from (select ${columns} from webhooks w where w.id = ${id}) h`.execute(db)
  return found[0]?.row
}

/** The groups above what an event is about, from the top down, itself included where it is a group. */
const line = (
  projectId: RawBuilder<unknown>,
  groupId: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`coalesce(
  (select n.traversal_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}),
  (select n.traversal_ids from namespaces n where n.id = ${groupId}))`

function calledFor(
  names: readonly TriggerName[],
  about: { readonly projectId: RawBuilder<unknown>; readonly groupId: RawBuilder<unknown> },
): RawBuilder<unknown>[] {
  const some = sql`w.active and w.triggers && ${[...names]}::text[]`
  const above = line(about.projectId, about.groupId)
  // Of integrations of one kind the nearest is called, if it is active.
  const nearest = sql`(w.integration is null or not exists (
    select from webhooks o where o.integration = w.integration and (o.project_id = ${about.projectId}
      or o.namespace_id = any (${above})
        and array_position(${above}, o.namespace_id) > array_position(${above}, w.namespace_id))))`
  return [
    sql`from webhooks w where w.project_id = ${about.projectId} and ${some}`,
    sql`from webhooks w where w.namespace_id = any (${above}) and ${some} and ${nearest}`,
    sql`from webhooks w where w.project_id is null and w.namespace_id is null and ${some}`,
  ]
}

/** Whether any webhook is called for this: a condition on the row `event` that is being announced. */
export function isCalledFor(names: readonly TriggerName[]): RawBuilder<unknown> {
  const about = { projectId: sql`event.project_id`, groupId: sql`(event.payload ->> 'groupId')::bigint` }
  const each = calledFor(names, about).map((from) => sql`exists (select ${from})`)
  return sql`(${sql.join(each, sql` or `)})`
}

export interface Called extends StoredIntegration {
  readonly id: number
  readonly kind: KeeperKind
  readonly triggers: readonly TriggerName[]
  readonly branch_filter: string | null
  readonly branch_filter_strategy: StoredHook['branch_filter_strategy']
}

export async function findCalled(
  db: Reader,
  names: readonly TriggerName[],
  about: { readonly projectId: number | null; readonly groupId: number | null },
): Promise<Called[]> {
  const each = calledFor(names, {
    projectId: sql`${about.projectId}::bigint`,
    groupId: sql`${about.groupId}::bigint`,
  }).map(
    (from) => sql`
      select w.id, w.triggers, w.branch_filter, w.branch_filter_strategy, w.integration, w.properties,
        case when w.project_id is not null then 'project' when w.namespace_id is not null then 'group'
          else 'instance' end as kind ${from}`,
  )
  const { rows: found } = await sql<Called>`${sql.join(each, sql` union all `)}`.execute(db)
  return found
}

/** What came of a call: how many went wrong in a row by now, and until when it rests. */
export async function recordOutcome(
  db: Database,
  id: number,
  outcome: { readonly failures: number; readonly restMinutes: number },
): Promise<void> {
  const { failures, restMinutes } = outcome
  const until =
    restMinutes === 0 || restMinutes === Infinity ? null : new Date(Date.now() + restMinutes * 60_000)
  await sql`update webhooks set failures = ${failures}, disabled_until = ${until} where id = ${id}`.execute(
    db.writer,
  )
}
