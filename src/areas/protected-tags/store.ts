import { sql, type RawBuilder } from 'kysely'
import type { AccessEntry } from '../../access/index.ts'
import { onConstraint, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import { tagRule, type TagRuleRow } from './entities.ts'
import type { TagRule } from './rules.ts'

const columns = sql`
  t.id, t.name, (
    select coalesce(json_agg(json_build_object('id', l.id, 'access_level', l.access_level, 'user_id', l.user_id,
      'user_name', u.name, 'deploy_key_id', l.deploy_key_id, 'key_title', k.title) order by l.id), '[]'::json)
    from protected_tag_create_levels l left join users u on u.id = l.user_id
      left join ssh_keys k on k.id = l.deploy_key_id
    where l.protected_tag_id = t.id) as entries`

export function list(input: PageInput): Read<TagRuleRow> {
  const from = sql`from protected_tags t where t.project_id = subject.id`
  return page({ columns, from, order: sql`t.id` }, input)
}

function ofName(project: RawBuilder<unknown>, name: string): RawBuilder<TagRuleRow> {
  return sql<TagRuleRow>`select ${columns} from protected_tags t where t.project_id = ${project} and t.name = ${name}`
}

export function named(name: string): Read<TagRuleRow> {
  return rows(ofName(sql`subject.id`, name))
}

export async function find(db: Reader, projectId: number, name: string): Promise<TagRuleRow> {
  return (await ofName(sql`${projectId}`, name).execute(db)).rows[0]!
}

/** All rules of a project. There are few; which of them match is decided outside the database. */
export async function rulesOf(db: Reader, projectId: number): Promise<TagRule[]> {
  const result = await sql<TagRuleRow>`
    select ${columns} from protected_tags t where t.project_id = ${projectId} order by t.id`.execute(db)
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
      entries.map(({ accessLevel, userId, deployKeyId }) => ({
        project_id: projectId,
        protected_tag_id: id,
        access_level: accessLevel,
        user_id: userId,
        deploy_key_id: deployKeyId,
      })),
    )
    .execute()
    .catch(
      onConstraint('protected_tag_create_levels_target', () =>
        unprocessable(['Create access levels access level has already been taken']),
      ),
    )
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('protected_tags as t').where('t.id', '=', id).execute()
}
