import type { RawBuilder } from 'kysely'
import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'

export type BadgePlace = 'project' | 'group'

export interface BadgeRow {
  readonly id: number
  readonly name: string | null
  readonly link_url: string
  readonly image_url: string
  readonly kind: BadgePlace
}

const columns = sql`
  b.id, b.name, b.link_url, b.image_url, case when b.project_id is null then 'group' else 'project' end as kind`

/** Of the subject, and for a project those of the groups above it too. */
const reaching: Record<BadgePlace, RawBuilder<unknown>> = {
  project: sql`(b.project_id = subject.id or b.namespace_id = any (subject.line))`,
  group: sql`b.namespace_id = subject.id`,
}

export function list(place: BadgePlace, name: string | undefined, input: PageInput): Read<BadgeRow> {
  const named = name === undefined ? sql`` : sql`and b.name = ${name}`
  return page(
    { columns, from: sql`from badges b where ${reaching[place]} ${named}`, order: sql`b.id` },
    input,
  )
}

export function one(place: BadgePlace, id: number): Read<BadgeRow> {
  return rows(sql`select ${columns} from badges b where b.id = ${id} and ${reaching[place]}`)
}

export interface BadgeValues {
  readonly name: string | null
  readonly link_url: string
  readonly image_url: string
}

export async function create(
  tx: Tx,
  place: { readonly project: number | null; readonly group: number | null },
  { name, link_url, image_url }: BadgeValues,
): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    insert into badges (project_id, namespace_id, name, link_url, image_url)
    values (${place.project}, ${place.group}, ${name}, ${link_url}, ${image_url}) returning id`.execute(tx)
  return made[0]!.id
}

export async function change(
  db: Writer,
  id: number,
  { name, link_url, image_url }: BadgeValues,
): Promise<void> {
  await sql`
    update badges set name = ${name}, link_url = ${link_url}, image_url = ${image_url} where id = ${id}`.execute(
    db,
  )
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from badges where id = ${id}`.execute(db)
}
