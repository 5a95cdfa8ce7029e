import type { RawBuilder } from 'kysely'
import {
  personalSnippetVisible,
  projectSnippetVisible,
  projectVisible,
  snippetVisibleAnywhere,
} from '../../access/index.ts'
import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { matching } from '../noteables/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { SnippetRow } from './entities.ts'

const columns = sql`
  s.id, s.project_id, p.full_path as project_path, ${basicUserJson('u')} as author, s.title, s.description,
  s.visibility, s.storage, s.default_branch, s.refs_version, s.files, s.created_at, s.updated_at`
const from = sql`
  from snippets s left join projects p on p.id = s.project_id left join users u on u.id = s.author_id`

export interface ListFilter {
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
}

/** Which snippets a list is of: those of the subject, which is a project, or some of all. */
export type ListKind = 'project' | 'own' | 'public' | 'all'

const kinds: Readonly<Record<ListKind, RawBuilder<unknown>>> = {
  project: projectSnippetVisible,
  own: sql`s.author_id = actor.id and (p.id is null or ${projectVisible})`,
  public: sql`s.project_id is null and s.visibility = 20`,
  all: sql`true`,
}

/** Read together with the caller's access. */
export function list(kind: ListKind, filter: ListFilter, input: PageInput): Read<SnippetRow> {
  const conditions = [kinds[kind]]
  if (filter.created_after !== undefined) conditions.push(sql`s.created_at >= ${filter.created_after}`)
  if (filter.created_before !== undefined) conditions.push(sql`s.created_at <= ${filter.created_before}`)
  const where = sql`${from} where ${sql.join(conditions, sql` and `)}`
  return page({ columns, from: where, order: sql`s.id desc` }, input)
}

/** Of all that the caller may read those with these words in the title; the newest first. */
export function titled(text: string, input: PageInput): Read<SnippetRow> {
  const where = sql`${from} where ${matching([sql`s.title`], text)} and ${snippetVisibleAnywhere}`
  return page({ columns, from: where, order: sql`s.id desc` }, input)
}

/** Read together with the caller's access. */
export function one(of: 'project' | 'personal', id: number): Read<SnippetRow> {
  const visible = of === 'project' ? projectSnippetVisible : personalSnippetVisible
  return rows(sql`select ${columns} ${from} where s.id = ${id} and ${visible}`)
}

export async function find(db: Reader, id: number): Promise<SnippetRow | undefined> {
  const found = await sql<{ row: SnippetRow }>`
    select to_json(x) as row from (select ${columns} ${from} where s.id = ${id}) x`.execute(db)
  return found.rows[0]?.row
}

export async function nextId(db: Writer): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('snippets', 'id')) as id`.execute(db)
  return made[0]!.id
}

export interface NewSnippet {
  readonly id: number
  readonly project_id: number | null
  readonly author_id: number
  readonly title: string
  readonly description: string | null
  readonly visibility: number
  readonly default_branch: string
  readonly files: readonly string[]
  readonly user_agent: string | null
  readonly ip_address: string
}

export async function create(db: Writer, { files, ...values }: NewSnippet): Promise<void> {
  await db
    .insertInto('snippets')
    .values({ ...values, files: [...files] })
    .execute()
}

export interface Changes {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: number | undefined
}

export async function change(db: Writer, id: number, changes: Changes): Promise<void> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  await db
    .updateTable('snippets')
    .set({ ...given, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('snippets').where('id', '=', id).execute()
}

export async function userAgent(
  db: Reader,
  id: number,
): Promise<{ user_agent: string; ip_address: string } | undefined> {
  const row = await db
    .selectFrom('snippets as s')
    .select(['s.user_agent', 's.ip_address'])
    .where('s.id', '=', id)
    .executeTakeFirst()
  if (row === undefined || row.user_agent === null || row.ip_address === null) return undefined
  return { user_agent: row.user_agent, ip_address: row.ip_address }
}

/** A move of the branch begins. */
export async function beginWrite(db: Writer, snippetId: number): Promise<number> {
  const row = await db
    .insertInto('snippet_writes')
    .values({ snippet_id: snippetId })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

export async function endWrite(db: Writer | Tx, id: number): Promise<void> {
  await db.deleteFrom('snippet_writes').where('id', '=', id).execute()
}

/** Holds the row until the transaction ends, so that the list of files is that of the last move. */
export async function lock(tx: Tx, id: number): Promise<boolean> {
  const { rows: found } = await sql`select from snippets s where s.id = ${id} for update`.execute(tx)
  return found.length > 0
}

export async function keepFiles(tx: Tx, id: number, files: readonly string[]): Promise<void> {
  await tx
    .updateTable('snippets')
    .set({ files: [...files], refs_version: sql`refs_version + 1`, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute()
}

/** Writes that began more than a minute ago and never ended. */
export async function openWrites(
  db: Reader,
): Promise<{ id: number; snippet_id: number; storage: string; default_branch: string }[]> {
  return db
    .selectFrom('snippet_writes as w')
    .innerJoin('snippets as s', 's.id', 'w.snippet_id')
    .select(['w.id', 'w.snippet_id', 's.storage', 's.default_branch'])
    .where('w.created_at', '<', sql<Date>`now() - interval '1 minute'`)
    .orderBy('w.id')
    .execute()
}

export async function exists(db: Reader, id: number): Promise<boolean> {
  const found = await db.selectFrom('snippets as s').select('s.id').where('s.id', '=', id).execute()
  return found.length > 0
}
