import type { RawBuilder } from 'kysely'
import type { AccessEntry } from '../../access/index.ts'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import { targetColumns } from '../protected-branches/index.ts'
import { tagRule, type TagRuleRow } from './entities.ts'
import type { TagRule } from './rules.ts'

/** Of rule `t`. Whether entries of groups let somebody in is told for this user. */
const columnsFor = (userId: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  t.id, t.name, t.updated_at, (
    select coalesce(json_agg(json_build_object('id', l.id, 'access_level', l.access_level, 'user_id', l.user_id,
      'deploy_key_id', l.deploy_key_id, 'group_id', l.group_id, 'name', coalesce(u.name, k.title, g.name),
      'through_group', l.group_id is not null and admits_through_group(l.project_id, l.group_id, ${userId}))
      order by l.id), '[]'::json)
    from protected_tag_create_levels l left join users u on u.id = l.user_id
      left join ssh_keys k on k.id = l.deploy_key_id left join namespaces g on g.id = l.group_id
    where l.protected_tag_id = t.id) as entries`

/** Inside a `read`. */
const columns = columnsFor(sql`actor.id`)

export function list(input: PageInput): Read<TagRuleRow> {
  const from = sql`from protected_tags t where t.project_id = subject.id`
  return page({ columns, from, order: sql`t.id` }, input)
}

export function named(name: string): Read<TagRuleRow> {
  return rows(
    sql`select ${columns} from protected_tags t where t.project_id = subject.id and t.name = ${name}`,
  )
}

export async function find(
  db: Reader,
  projectId: number,
  name: string,
  userId: number | null,
): Promise<TagRuleRow> {
  const { rows: found } = await sql<TagRuleRow>`
    select ${columnsFor(sql`${userId}::bigint`)} from protected_tags t
    where t.project_id = ${projectId} and t.name = ${name}`.execute(db)
  return found[0]!
}

/**
 * All rules of a project. There are few; which of them match is decided outside the database. Entries of groups are
 * told for this user; where nobody is asked about, null.
 */
export async function rulesOf(db: Reader, projectId: number, userId: number | null): Promise<TagRule[]> {
  const result = await sql<TagRuleRow>`
    select ${columnsFor(sql`${userId}::bigint`)} from protected_tags t
    where t.project_id = ${projectId} order by t.id`.execute(db)
  return result.rows.map(tagRule)
}

/** The same, read together with the caller's access: one row, however many rules there are. */
export function allTagRules(): Read<{ readonly rules: readonly TagRuleRow[] }> {
  return rows(sql`
    select coalesce(json_agg(r), '[]'::json) as rules
    from (select ${columns} from protected_tags t where t.project_id = subject.id order by t.id) r`)
}

/** What `allTagRules` brought. */
export function tagRulesIn(found: readonly { readonly rules: readonly TagRuleRow[] }[]): TagRule[] {
  return found.flatMap((row) => row.rules.map(tagRule))
}

export async function create(
  tx: Tx,
  projectId: number,
  name: string,
  entries: readonly AccessEntry[],
): Promise<void> {
  const { id } = await tx
    .insertInto('protected_tags')
    .values({ project_id: projectId, name })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('protected_tags_name', () => unprocessable(['Name has already been taken'])))
  await tx
    .insertInto('protected_tag_create_levels')
    .values(
      entries.map((entry) => ({
        project_id: projectId,
        protected_tag_id: id,
        ...targetColumns(entry),
      })),
    )
    .execute()
    .catch(
      onConstraint('protected_tag_create_levels_target', () =>
        unprocessable([`Create access levels ${twice(entries)} has already been taken`]),
      ),
    )
}

/** What is named twice among the entries, which one constraint forbids for all kinds. */
function twice(entries: readonly AccessEntry[]): string {
  const among = (key: 'userId' | 'deployKeyId' | 'groupId'): boolean => {
    const ids = entries.flatMap((entry) => entry[key] ?? [])
    return new Set(ids).size < ids.length
  }
  if (among('userId')) return 'user'
  if (among('deployKeyId')) return 'deploy key'
  return among('groupId') ? 'group' : 'access level'
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('protected_tags as t').where('t.id', '=', id).execute()
}
