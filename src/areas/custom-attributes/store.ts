import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'

export interface Attribute {
  readonly key: string
  readonly value: string
}

/** What an attribute is of. */
export interface Owner {
  readonly kind: 'user' | 'group' | 'project'
  readonly id: number
}

const columns = { user: 'user_id', group: 'namespace_id', project: 'project_id' } as const
const names = { user: 'User', group: 'Group', project: 'Project' } as const

const of = ({ kind }: Pick<Owner, 'kind'>, id: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`${sql.ref(`a.${columns[kind]}`)} = ${id}`

/** The attributes of what has this id, for administrators, as a further column of a list that wants it. */
export function attributesColumn(
  kind: Owner['kind'],
  id: RawBuilder<unknown>,
  wanted: boolean | undefined,
): RawBuilder<unknown> {
  if (wanted !== true) return sql``
  return sql`, case when actor.admin then ${attributesJson(kind, id)} end as custom_attributes`
}

/** Whether what has this id has all these attributes, which is for administrators to ask. */
export function attributesFilter(
  kind: Owner['kind'],
  id: RawBuilder<unknown>,
  wanted: Readonly<Record<string, string>>,
): RawBuilder<unknown> {
  return sql`(actor.admin is not true or ${hasAttributes(kind, id, wanted)})`
}

/** All attributes of what has this id, as JSON. */
function attributesJson(kind: Owner['kind'], id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select coalesce(json_agg(json_build_object('key', a.key, 'value', a.value) order by a.id), '[]'::json)
    from custom_attributes a where ${of({ kind }, id)})`
}

function hasAttributes(
  kind: Owner['kind'],
  id: RawBuilder<unknown>,
  wanted: Readonly<Record<string, string>>,
): RawBuilder<unknown> {
  const owner = sql.ref(`a.${columns[kind]}`)
  if (Object.keys(wanted).length === 0) return sql`true`
  return sql`${id} in (
    select ${owner} from jsonb_each_text(${JSON.stringify(wanted)}) w
    join custom_attributes a on a.key = w.key and md5(a.value) = md5(w.value) and a.value = w.value
    where ${owner} is not null group by ${owner} having count(*) = ${Object.keys(wanted).length})`
}

/** Of the subject, or of the user with this id. */
export type Whose = Pick<Owner, 'kind'> & { readonly id: RawBuilder<unknown> }

export function list(whose: Whose, input: PageInput): Read<Attribute> {
  return page(
    {
      columns: sql`a.key, a.value`,
      from: sql`from custom_attributes a where ${of(whose, whose.id)}`,
      order: sql`a.id`,
    },
    input,
  )
}

export function one(whose: Whose, key: string): Read<Attribute> {
  return rows(
    sql`select a.key, a.value from custom_attributes a where ${of(whose, whose.id)} and a.key = ${key}`,
  )
}

export async function put(tx: Tx, owner: Owner, { key, value }: Attribute): Promise<void> {
  const column = sql.raw(columns[owner.kind])
  await sql`
    insert into custom_attributes (${column}, key, value) values (${owner.id}, ${key}, ${value})
    on conflict (${column}, key) do update set value = excluded.value`
    .execute(tx)
    // Gone in this very moment, or never there.
    .catch(onConstraint(`custom_attributes_${columns[owner.kind]}_fkey`, () => notFound(names[owner.kind])))
}

/** Tells whether there was one. */
export async function remove(tx: Tx, owner: Owner, key: string): Promise<boolean> {
  const { rows: gone } = await sql`
    delete from custom_attributes a where ${of(owner, sql`${owner.id}`)} and a.key = ${key} returning 1`.execute(
    tx,
  )
  return gone.length > 0
}

export async function userExists(tx: Tx, id: number): Promise<boolean> {
  const { rows: found } = await sql`select from users u where u.id = ${id}`.execute(tx)
  return found.length > 0
}
