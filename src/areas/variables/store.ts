import { sql, type RawBuilder } from 'kysely'
import type { KeeperKind, Owner } from '../../access/index.ts'
import { onConstraint, type Statements, type Tx } from '../../kernel/db/index.ts'
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

/** One statement; the limit is looked at in it. */
export async function create(
  db: Statements,
  { kind, id }: Owner,
  values: Values,
  most: number,
): Promise<VariableRow> {
  const statement = sql<VariableRow>`
    insert into ci_variables as v (project_id, namespace_id, key, secret, variable_type, environment_scope,
      description, protected, masked, hidden, raw)
    select ${kind === 'project' ? id : null}::bigint, ${kind === 'group' ? id : null}::bigint, ${values.key},
      ${values.secret}, ${values.variable_type}, ${values.environment_scope}, ${values.description},
      ${values.protected}, ${values.masked}, ${values.hidden}, ${values.raw}
    where (select count(*) from ci_variables v where ${within(kind, sql`${id}`)}) < ${most}::bigint
    returning ${columns}`
  const [row] = await db
    .rows(statement)
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
