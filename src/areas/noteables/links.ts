import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { conflict } from '../../kernel/errors/index.ts'

/** Where links between things of one kind are kept: of related ones, and of those that wait for others. */
export type LinkTable = 'issue_links' | 'epic_links'

/** As callers name them, from the side of the first thing. A link that is blocked by another one is kept as its inverse. */
export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const
export type LinkType = (typeof linkTypes)[number]

export interface LinkRow {
  readonly id: number
  readonly source_id: number
  readonly target_id: number
  readonly link_type: string
}

/** What lists of linked things show of the links. */
export const LinkFields = {
  link_type: Text({ description: 'relates_to, blocks or is_blocked_by' }),
  link_created_at: Timestamp(),
  link_updated_at: Timestamp(),
}

export interface LinkFieldsRow {
  readonly link_type: string
  readonly link_created_at: string
  readonly link_updated_at: string
}

/** Of the row `l` of `linkEnds`. */
export const linkColumns = sql`l.link_type, l.created_at as link_created_at, l.updated_at as link_updated_at`

/**
 * The links of one thing with their other ends, each told from its side. `things`: what stands between `join` and `on`,
 * with an `id`; `where`: which of them it is.
 */
export function linkEnds(
  table: LinkTable,
  { things, id, where }: Readonly<Record<'things' | 'id' | 'where', RawBuilder<unknown>>>,
): RawBuilder<unknown> {
  const side = (own: string, other: string, type: LinkType) => sql`
    select k.id, ${sql.ref(`k.${other}`)} as end_id, k.created_at, k.updated_at,
      case k.link_type when 'blocks' then ${sql.lit(type)} else k.link_type end as link_type
    from ${sql.table(table)} k join ${things} on ${id} = ${sql.ref(`k.${own}`)} where ${where}`
  return sql`(
    ${side('source_id', 'target_id', 'blocks')} union all ${side('target_id', 'source_id', 'is_blocked_by')})`
}

/** A link of that id, where it is one of the thing's. */
export async function findLink(
  db: Reader,
  table: LinkTable,
  thingId: number,
  id: number,
): Promise<LinkRow | undefined> {
  const { rows } = await sql<LinkRow>`
    select k.id, k.source_id, k.target_id, k.link_type from ${sql.table(table)} k
    where k.id = ${id} and ${thingId} in (k.source_id, k.target_id)`.execute(db)
  return rows[0]
}

/** 409 with the words of `taken` where the two are linked already. */
export async function addLink(
  tx: Tx,
  table: LinkTable,
  { own, other, type }: { readonly own: number; readonly other: number; readonly type: LinkType },
  taken: string,
): Promise<LinkRow> {
  const [source, target] = type === 'is_blocked_by' ? [other, own] : [own, other]
  const kept = type === 'relates_to' ? type : 'blocks'
  const { rows } = await sql<LinkRow>`
    insert into ${sql.table(table)} as k (source_id, target_id, link_type) values (${source}, ${target}, ${kept})
    returning k.id, k.source_id, k.target_id, k.link_type`
    .execute(tx)
    .catch(onConstraint(`${table}_pair`, () => conflict(taken)))
  return rows[0]!
}

export async function removeLink(tx: Tx, table: LinkTable, id: number): Promise<void> {
  await sql`delete from ${sql.table(table)} k where k.id = ${id}`.execute(tx)
}
