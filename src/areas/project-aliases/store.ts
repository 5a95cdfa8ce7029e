import { onConstraint, sql, type Reader, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { taken } from './rules.ts'

export interface AliasRow {
  readonly id: number
  readonly project_id: number
  readonly name: string
}

const columns = sql`a.id, a.project_id, a.name`

export function list(input: PageInput): Read<AliasRow> {
  return page({ columns, from: sql`from project_aliases a`, order: sql`a.id` }, input)
}

export function one(name: string): Read<AliasRow> {
  return rows(sql`select ${columns} from project_aliases a where a.name = ${name}`)
}

export async function insert(db: Writer, projectId: number, name: string): Promise<AliasRow> {
  return (
    db
      .insertInto('project_aliases')
      .values({ project_id: projectId, name })
      .returning(['id', 'project_id', 'name'])
      .executeTakeFirstOrThrow()
      .catch(onConstraint('project_aliases_name', taken))
      // Deleted in this very moment.
      .catch(onConstraint('project_aliases_project_id_fkey', () => notFound('Project')))
  )
}

export async function remove(db: Writer, name: string): Promise<void> {
  await db.deleteFrom('project_aliases').where('name', '=', name).execute()
}

/** Id of the project that an alias means; its case counts. */
export async function projectOfAlias(db: Reader, name: string): Promise<number | undefined> {
  const found = await db
    .selectFrom('project_aliases as a')
    .select('a.project_id')
    .where('a.name', '=', name)
    .executeTakeFirst()
  return found?.project_id
}
