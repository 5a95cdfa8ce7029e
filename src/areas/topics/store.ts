import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { placeAvatar } from '../avatars/index.ts'
import type { TopicRow } from './entities.ts'
import { taken, type TopicValues } from './rules.ts'

const columns = sql`
  t.id, t.name, t.title, t.description, t.total_projects_count, ${placeAvatar('projects/topic', 't')} as avatar`

export interface TopicFilter {
  readonly search?: string | undefined
  readonly without_projects?: boolean | undefined
}

/** Those of most projects first. */
export function list({ search, without_projects }: TopicFilter, input: PageInput): Read<TopicRow> {
  const pattern = `%${(search ?? '').replace(/[\\%_]/g, '\\$&')}%`
  const conditions = [
    sql`true`,
    ...(search === undefined || search === '' ? [] : [sql`t.name ilike ${pattern}`]),
    ...(without_projects === true ? [sql`t.total_projects_count = 0`] : []),
  ]
  return page(
    {
      columns,
      from: sql`from topics t where ${sql.join(conditions, sql` and `)}`,
      order: sql`t.total_projects_count desc, t.id`,
    },
    input,
  )
}

export function one(id: number): Read<TopicRow> {
  return rows(sql`select ${columns} from topics t where t.id = ${id}`)
}

export async function find(db: Reader, id: number): Promise<TopicRow | undefined> {
  const { rows: found } = await sql<TopicRow>`select ${columns} from topics t where t.id = ${id}`.execute(db)
  return found[0]
}

export async function insert(tx: Tx, { name, title, description }: TopicValues): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    insert into topics (name, title, description) values (${name}, ${title}, ${description}) returning id`
    .execute(tx)
    .catch(onConstraint('topics_name', taken))
  return made[0]!.id
}

/** Holds all topics still: whoever changes names in many projects must meet nobody who counts other ones. */
export async function lockAll(tx: Tx): Promise<void> {
  await sql`lock table topics in share row exclusive mode`.execute(tx)
}

/** With another name the projects follow, and are counted as they do. */
export async function change(
  tx: Tx,
  before: TopicRow,
  { name, title, description }: TopicValues,
): Promise<void> {
  await sql`
    update topics t set name = ${name}, title = ${title}, description = ${description}, updated_at = now(),
      total_projects_count = case when lower(t.name) = lower(${name}) then t.total_projects_count else 0 end
    where t.id = ${before.id}`
    .execute(tx)
    .catch(onConstraint('topics_name', taken))
  if (name !== before.name) await replaceInProjects(tx, before.name, name)
}

/** A project that has both keeps the target in the first of the two places. */
export async function replaceInProjects(tx: Tx, source: string, target: string): Promise<void> {
  await sql`
    update projects p set topics = array_replace(p.topics, ${source}, ${target}), updated_at = now()
    where p.topics @> array[${source}::text]`.execute(tx)
}

export async function removeFromProjects(tx: Tx, name: string): Promise<void> {
  await sql`
    update projects p set topics = array_remove(p.topics, ${name}), updated_at = now()
    where p.topics @> array[${name}::text]`.execute(tx)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('topics').where('id', '=', id).execute()
}
