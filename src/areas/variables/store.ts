import type { RawBuilder } from 'kysely'
import type { KeeperKind, Owner } from '../../access/index.ts'
import { onConstraint, sql, type GatheredWrites, type Tx, type Written } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { VariableRow } from './entities.ts'
import { limitReached, taken } from './rules.ts'

const columns = sql`
  v.id, v.key, v.secret, v.variable_type, v.environment_scope, v.description, v.protected, v.masked, v.hidden, v.raw`

/**
 * The condition on the variables `v` of a place, by its id. A variable has one place at most, so that an index alone says
 * how many there are.
 */
function within(kind: KeeperKind, id: RawBuilder<unknown>): RawBuilder<unknown> {
  switch (kind) {
    case 'project':
      return sql`v.project_id = ${id}`
    case 'group':
      return sql`v.namespace_id = ${id}`
    case 'instance':
      return sql`v.project_id is null and v.namespace_id is null`
  }
}

/** Read together with the caller's access: `subject` is the project or group. */
export function list(kind: KeeperKind, input: PageInput): Read<VariableRow> {
  const from = sql`from ci_variables v where ${within(kind, sql`subject.id`)}`
  // Places are limited in how many they hold.
  return { ...page({ columns, from, order: sql`v.id` }, input), bounded: true }
}

export function ofKey(kind: KeeperKind, key: string): Read<VariableRow> {
  return rows(sql`
    select ${columns} from ci_variables v where ${within(kind, sql`subject.id`)} and v.key = ${key} order by v.id`)
}

export type Values = Omit<VariableRow, 'id'>

/** A variable that is to be made in a place that may hold so many. */
export interface NewVariable {
  readonly id: number | null
  readonly values: Values
  readonly most: number
}

/**
 * One statement for as many as come at once. The limit is looked at in it: what would pass it is left out. Ids are
 * given beforehand, to know afterwards which row is whose.
 */
export function createAll(kind: KeeperKind) {
  const place = kind === 'project' ? sql`project_id` : kind === 'group' ? sql`namespace_id` : undefined
  return (items: readonly NewVariable[]): RawBuilder<Written<VariableRow>> => {
    const of = <Name extends keyof Values>(name: Name) => items.map(({ values }) => values[name])
    return sql`
      with asked as materialized (
        select a.*, nextval('ci_variables_id_seq') as id,
          row_number() over (partition by a.place order by a.asker) as further
        from unnest(${items.map(({ id }) => id)}::bigint[], ${of('key')}::text[], ${of('secret')}::text[],
          ${of('variable_type')}::text[], ${of('environment_scope')}::text[], ${of('description')}::text[],
          ${of('protected')}::boolean[], ${of('masked')}::boolean[], ${of('hidden')}::boolean[],
          ${of('raw')}::boolean[], ${items.map(({ most }) => most)}::bigint[])
          with ordinality as a (place, key, secret, variable_type, environment_scope, description, protected, masked,
            hidden, raw, most, asker)),
      made as (
        insert into ci_variables (id, ${place === undefined ? sql`` : sql`${place},`} key, secret, variable_type,
          environment_scope, description, protected, masked, hidden, raw)
        overriding system value
        select a.id, ${place === undefined ? sql`` : sql`a.place,`} a.key, a.secret, a.variable_type,
          a.environment_scope, a.description, a.protected, a.masked, a.hidden, a.raw
        from asked a
        where a.further + (select count(*) from ci_variables v where ${within(kind, sql`a.place`)}) <= a.most
        order by a.place, a.key, a.environment_scope
        returning id)
      select ${columns}, v.asker from made join asked v on v.id = made.id`
  }
}

export async function create(
  writes: GatheredWrites<NewVariable, VariableRow>,
  { kind, id }: Owner,
  values: Values,
  most: number,
): Promise<VariableRow> {
  const row = await writes
    .write({ id, values, most })
    .catch(onConstraint('ci_variables_key_scope', () => taken(values.key)))
  if (row === undefined) throw limitReached(kind, most)
  return row
}

/** Locks the variables of a key, so that what is decided by them still holds when it is written. */
export async function lockKey(tx: Tx, { kind, id }: Owner, key: string): Promise<VariableRow[]> {
  const result = await sql<VariableRow>`
    select ${columns} from ci_variables v where ${within(kind, sql`${id}`)} and v.key = ${key}
    order by v.id for update`.execute(tx)
  return result.rows
}

export async function change(tx: Tx, id: number, values: Values): Promise<VariableRow> {
  const result = await sql<VariableRow>`
    update ci_variables v set secret = ${values.secret}, variable_type = ${values.variable_type},
      environment_scope = ${values.environment_scope}, description = ${values.description},
      protected = ${values.protected}, masked = ${values.masked}, raw = ${values.raw}
    where v.id = ${id} returning ${columns}`
    .execute(tx)
    .catch(onConstraint('ci_variables_key_scope', () => taken(values.key)))
  return result.rows[0]!
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('ci_variables as v').where('v.id', '=', id).execute()
}
