import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { TagRuleRow } from './entities.ts'
import { maximumTagRules, tagPatternTaken, tooManyTagRules, type TagRuleFacts } from './tag-rules.ts'

const columns = sql`r.id, r.project_id, r.tag_name_pattern, r.minimum_push, r.minimum_delete, r.updated_at`

export function list(input: PageInput): Read<TagRuleRow> {
  const from = sql`from container_tag_protection_rules r where r.project_id = subject.id`
  return page({ columns, from, order: sql`r.id` }, input)
}

export function ofId(id: number): Read<TagRuleRow> {
  return rows(sql`
    select ${columns} from container_tag_protection_rules r where r.project_id = subject.id and r.id = ${id}`)
}

export async function tagRulesOf(db: Reader, projectId: number): Promise<TagRuleRow[]> {
  const result = await sql<TagRuleRow>`
    select ${columns} from container_tag_protection_rules r where r.project_id = ${projectId}
    order by r.id`.execute(db)
  return result.rows
}

/** The limit is looked at with the project locked, so that two at once do not pass it. */
export async function create(tx: Tx, projectId: number, values: TagRuleFacts): Promise<TagRuleRow> {
  await sql`select p.id from projects p where p.id = ${projectId} for no key update`.execute(tx)
  const result = await sql<TagRuleRow>`
    insert into container_tag_protection_rules as r (project_id, tag_name_pattern, minimum_push, minimum_delete)
    select ${projectId}::bigint, ${values.tag_name_pattern}, ${values.minimum_push}::smallint,
      ${values.minimum_delete}::smallint
    where (select count(*) from container_tag_protection_rules o where o.project_id = ${projectId}) < ${maximumTagRules}
    returning ${columns}`
    .execute(tx)
    .catch(onConstraint('container_tag_protection_rules_pattern', tagPatternTaken))
  const row = result.rows[0]
  if (row === undefined) throw tooManyTagRules()
  return row
}

export async function lock(tx: Tx, projectId: number, id: number): Promise<TagRuleRow | undefined> {
  const result = await sql<TagRuleRow>`
    select ${columns} from container_tag_protection_rules r where r.project_id = ${projectId} and r.id = ${id}
    for update`.execute(tx)
  return result.rows[0]
}

export async function change(tx: Tx, id: number, values: TagRuleFacts): Promise<TagRuleRow> {
  const result = await sql<TagRuleRow>`
    update container_tag_protection_rules r set tag_name_pattern = ${values.tag_name_pattern},
      minimum_push = ${values.minimum_push}, minimum_delete = ${values.minimum_delete}, updated_at = now()
    where r.id = ${id} returning ${columns}`
    .execute(tx)
    .catch(onConstraint('container_tag_protection_rules_pattern', tagPatternTaken))
  return result.rows[0]!
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('container_tag_protection_rules as r').where('r.id', '=', id).execute()
}
