import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { TokenRow } from './entities.ts'
import { filterConditions, orderOf, tokenColumns, type Filters } from './store.ts'

/** The project or group that a token belongs to. */
export interface Resource {
  readonly kind: 'project' | 'group'
  readonly id: number
}

export interface ResourceTokenRow extends TokenRow {
  readonly access_level: number | null
}

const column = (kind: Resource['kind']): RawBuilder<unknown> =>
  sql.raw(kind === 'project' ? 'project_id' : 'namespace_id')

const columns = sql`${tokenColumns}, m.access_level`

const from = (kind: Resource['kind']): RawBuilder<unknown> => sql`
  from resource_bots b join personal_access_tokens t on t.user_id = b.user_id
  left join members m on m.user_id = b.user_id and m.${column(kind)} = b.${column(kind)}`

/** Of the project or group that is the subject. */
export function list(kind: Resource['kind'], filters: Filters, input: PageInput): Read<ResourceTokenRow> {
  const conditions = [sql`b.${column(kind)} = subject.id`, ...filterConditions(filters)]
  return page(
    {
      columns,
      from: sql`${from(kind)} where ${sql.join(conditions, sql` and `)}`,
      order: orderOf(filters),
    },
    input,
  )
}

export function one(kind: Resource['kind'], id: number): Read<ResourceTokenRow> {
  return rows(sql`select ${columns} ${from(kind)} where t.id = ${id} and b.${column(kind)} = subject.id`)
}

export async function find(
  db: Reader,
  { kind, id }: Resource,
  tokenId: number,
): Promise<(ResourceTokenRow & { readonly bot_name: string }) | undefined> {
  const { rows: found } = await sql<ResourceTokenRow & { bot_name: string }>`
    select ${columns}, u.name as bot_name ${from(kind)} join users u on u.id = b.user_id
    where t.id = ${tokenId} and b.${column(kind)} = ${id}`.execute(db)
  return found[0]
}

/** Makes a user a bot of the place, and a member there. */
export async function settle(
  tx: Tx,
  { kind, id }: Resource,
  bot: { readonly userId: number; readonly accessLevel: number; readonly createdById: number },
): Promise<void> {
  await sql`insert into resource_bots (user_id, ${column(kind)}) values (${bot.userId}, ${id})`.execute(tx)
  await sql`
    insert into members (user_id, ${column(kind)}, access_level, created_by_id)
    values (${bot.userId}, ${id}, ${bot.accessLevel}, ${bot.createdById})`.execute(tx)
}
