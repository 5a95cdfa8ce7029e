import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { FlagRow } from './entities.ts'
import type { KeptStrategy } from './requested.ts'
import { mostFlags, taken, tooMany, type Strategy } from './rules.ts'

/** All of flag `f`, with its strategies. */
export const columns = sql`
  f.id, f.name, f.description, f.active, f.created_at, f.updated_at, coalesce((
    select json_agg(json_build_object('id', s.id, 'name', s.name, 'parameters', s.parameters,
      'user_list', case when l.id is not null then
        json_build_object('id', l.id, 'iid', l.iid, 'name', l.name, 'user_xids', l.user_xids) end,
      'scopes', coalesce((
        select json_agg(json_build_object('id', c.id, 'environment_scope', c.environment_scope) order by c.id)
        from feature_flag_scopes c where c.strategy_id = s.id), '[]')) order by s.id)
    from feature_flag_strategies s left join feature_flag_user_lists l on l.id = s.user_list_id
    where s.feature_flag_id = f.id), '[]') as strategies`

/** Read together with the caller's access: `subject` is the project. */
export function list(active: boolean | undefined, input: PageInput): Read<FlagRow> {
  const chosen = active === undefined ? sql`` : sql`and f.active = ${active}`
  const from = sql`from feature_flags f where f.project_id = subject.id ${chosen}`
  return page({ columns, from, order: sql`f.name` }, input)
}

export function named(name: string): Read<FlagRow> {
  return rows(
    sql`select ${columns} from feature_flags f where f.project_id = subject.id and f.name = ${name}`,
  )
}

export async function find(db: Reader, id: number): Promise<FlagRow | undefined> {
  const { rows: found } =
    await sql<FlagRow>`select ${columns} from feature_flags f where f.id = ${id}`.execute(db)
  return found[0]
}

/** The same, locked. */
export async function lock(tx: Tx, id: number): Promise<FlagRow | undefined> {
  const { rows: found } = await sql<FlagRow>`
    select ${columns} from feature_flags f where f.id = ${id} for update of f`.execute(tx)
  return found[0]
}

export interface FlagValues {
  readonly name: string
  readonly description: string | null
  readonly active: boolean
}

/** The limit is looked at in the statement. */
export async function create(tx: Tx, projectId: number, values: FlagValues): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    insert into feature_flags (project_id, name, description, active)
    select ${projectId}, ${values.name}, ${values.description}, ${values.active}
    where (select count(*) from feature_flags c where c.project_id = ${projectId}) < ${mostFlags}
    returning id`
    .execute(tx)
    .catch(onConstraint('feature_flags_name', taken))
  const [row] = made
  if (row === undefined) throw tooMany()
  return row.id
}

export async function change(tx: Tx, id: number, values: FlagValues): Promise<void> {
  await sql`
    update feature_flags f set name = ${values.name}, description = ${values.description}, active = ${values.active},
      updated_at = now()
    where f.id = ${id}`
    .execute(tx)
    .catch(onConstraint('feature_flags_name', taken))
}

export async function addStrategy(tx: Tx, flagId: number, strategy: Strategy): Promise<void> {
  await sql`
    with made as (
      insert into feature_flag_strategies (feature_flag_id, name, parameters, user_list_id)
      values (${flagId}, ${strategy.name}, ${JSON.stringify(strategy.parameters)}::jsonb, ${strategy.userListId})
      returning id)
    insert into feature_flag_scopes (strategy_id, environment_scope)
    select made.id, s.scope from made, unnest(${[...strategy.scopes]}::text[]) with ordinality s (scope, place)
    order by s.place`.execute(tx)
}

/** Brings one that was there before to what it is now. */
export async function changeStrategy(tx: Tx, id: number, strategy: KeptStrategy): Promise<void> {
  await sql`
    update feature_flag_strategies s set name = ${strategy.name},
      parameters = ${JSON.stringify(strategy.parameters)}::jsonb, user_list_id = ${strategy.userListId}
    where s.id = ${id}`.execute(tx)
  const kept = strategy.kept.filter((one) => one.id !== undefined)
  const added = strategy.kept.filter((one) => one.id === undefined).map(({ scope }) => scope)
  await sql`
    delete from feature_flag_scopes c
    where c.strategy_id = ${id} and c.id <> all (${kept.map((one) => one.id!)}::bigint[])`.execute(tx)
  await sql`
    update feature_flag_scopes c set environment_scope = k.scope
    from unnest(${kept.map((one) => one.id!)}::bigint[], ${kept.map(({ scope }) => scope)}::text[]) k (id, scope)
    where c.id = k.id and c.strategy_id = ${id}`.execute(tx)
  await sql`
    insert into feature_flag_scopes (strategy_id, environment_scope)
    select ${id}, s.scope from unnest(${added}::text[]) with ordinality s (scope, place) order by s.place`.execute(
    tx,
  )
}

/** Those of a flag but these. */
export async function removeOtherStrategies(tx: Tx, flagId: number, kept: readonly number[]): Promise<void> {
  await sql`
    delete from feature_flag_strategies s
    where s.feature_flag_id = ${flagId} and s.id <> all (${[...kept]}::bigint[])`.execute(tx)
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from feature_flags f where f.id = ${id}`.execute(db)
}

/** Which of these lists belong to a project; they stay until the transaction ends. */
export async function listsAmong(tx: Tx, projectId: number, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const { rows: found } = await sql<{ id: number }>`
    select l.id from feature_flag_user_lists l
    where l.project_id = ${projectId} and l.id = any (${[...ids]}::bigint[]) for key share`.execute(tx)
  return new Set(found.map((row) => row.id))
}
