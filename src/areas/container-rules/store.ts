import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { PathRuleRow } from './entities.ts'
import { patternTaken, type Levels } from './rules.ts'

/** Of rule `r`. The path of `subject`, or of project `p` where there is none. */
function columns(fullPath: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    r.id, r.project_id, lower(${fullPath}) || r.path_pattern as repository_path_pattern, r.minimum_push,
    r.minimum_delete, r.updated_at`
}

const ofSubject = columns(sql`subject.full_path`)
const ofProject = columns(sql`p.full_path`)

export function list(input: PageInput): Read<PathRuleRow> {
  const from = sql`from container_protection_rules r where r.project_id = subject.id`
  return page({ columns: ofSubject, from, order: sql`r.id` }, input)
}

export function ofId(id: number): Read<PathRuleRow> {
  return rows(sql`
    select ${ofSubject} from container_protection_rules r where r.project_id = subject.id and r.id = ${id}`)
}

/** All rules of a project, read together with the caller's access. There are few; which match is decided in code. */
export function all(): Read<PathRuleRow> {
  return rows(sql`
    select ${ofSubject} from container_protection_rules r where r.project_id = subject.id order by r.id`)
}

export async function rulesOf(db: Reader, projectId: number): Promise<PathRuleRow[]> {
  const result = await sql<PathRuleRow>`
    select ${ofProject} from container_protection_rules r join projects p on p.id = r.project_id
    where r.project_id = ${projectId} order by r.id`.execute(db)
  return result.rows
}

export interface Values extends Levels {
  /** What follows the project's path. */
  readonly pattern: string
}

export async function create(db: Writer, projectId: number, values: Values): Promise<PathRuleRow> {
  const result = await sql<PathRuleRow>`
    with r as (
      insert into container_protection_rules (project_id, path_pattern, minimum_push, minimum_delete)
      values (${projectId}, ${values.pattern}, ${values.minimum_push}, ${values.minimum_delete}) returning *)
    select ${ofProject} from r join projects p on p.id = r.project_id`
    .execute(db)
    .catch(onConstraint('container_protection_rules_pattern', patternTaken))
  return result.rows[0]!
}

export async function lock(tx: Tx, projectId: number, id: number): Promise<PathRuleRow | undefined> {
  const result = await sql<PathRuleRow>`
    select ${ofProject} from container_protection_rules r join projects p on p.id = r.project_id
    where r.project_id = ${projectId} and r.id = ${id} for update of r`.execute(tx)
  return result.rows[0]
}

export async function change(tx: Tx, id: number, values: Values): Promise<PathRuleRow> {
  const result = await sql<PathRuleRow>`
    with r as (
      update container_protection_rules set path_pattern = ${values.pattern}, minimum_push = ${values.minimum_push},
        minimum_delete = ${values.minimum_delete}, updated_at = now()
      where id = ${id} returning *)
    select ${ofProject} from r join projects p on p.id = r.project_id`
    .execute(tx)
    .catch(onConstraint('container_protection_rules_pattern', patternTaken))
  return result.rows[0]!
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('container_protection_rules as r').where('r.id', '=', id).execute()
}
