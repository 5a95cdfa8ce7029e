import type { RawBuilder } from 'kysely'
import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { lineName } from '../namespaces/index.ts'

export interface ListedProject {
  readonly id: number
  readonly description: string | null
  readonly name: string
  readonly name_with_namespace: string
  readonly path: string
  readonly path_with_namespace: string
  readonly created_at: string
  readonly default_branch: string | null
}

export interface ListedGroup {
  readonly id: number
  readonly name: string
  readonly full_path: string
}

/** The project itself, which its own jobs always reach, and those on its list. */
export function projects(input: PageInput): Read<ListedProject> {
  return page(
    {
      columns: sql`p.id, p.description, p.name, p.path, p.full_path as path_with_namespace, p.created_at,
        p.default_branch, ${lineName('n')} || ' / ' || p.name as name_with_namespace`,
      from: sql`
        from projects p join namespaces n on n.id = p.namespace_id
        where p.id = subject.id or p.id in (
          select a.target_project_id from ci_job_token_allowlist a where a.project_id = subject.id)`,
      order: sql`p.id`,
    },
    input,
  )
}

export function groups(input: PageInput): Read<ListedGroup> {
  return page(
    {
      columns: sql`n.id, n.name, n.full_path`,
      from: sql`
        from ci_job_token_allowlist a join namespaces n on n.id = a.target_namespace_id
        where a.project_id = subject.id`,
      order: sql`n.id`,
    },
    input,
  )
}

export type Target = { readonly project: number } | { readonly group: number }

const mostEntries = 200

/** `full`: the list has as many entries as it may have. */
export async function add(
  tx: Tx,
  projectId: number,
  target: Target,
  userId: number,
): Promise<'added' | 'there' | 'full'> {
  const ids = 'project' in target ? [target.project, null] : [null, target.group]
  const result = await sql<{ added: boolean; entries: number }>`
    with counted as (select count(*) as entries from ci_job_token_allowlist a where a.project_id = ${projectId}),
    added as (
      insert into ci_job_token_allowlist (project_id, target_project_id, target_namespace_id, added_by_id)
      select ${projectId}, ${ids[0]}::bigint, ${ids[1]}::bigint, ${userId} from counted
      where counted.entries < ${mostEntries}
      on conflict do nothing returning id)
    select exists (select from added) as added, counted.entries from counted`.execute(tx)
  const { added, entries } = result.rows[0]!
  return added ? 'added' : entries >= mostEntries ? 'full' : 'there'
}

export async function remove(db: Writer, projectId: number, target: Target): Promise<boolean> {
  const which: RawBuilder<unknown> =
    'project' in target
      ? sql`a.target_project_id = ${target.project}`
      : sql`a.target_namespace_id = ${target.group}`
  const { numAffectedRows } = await sql`
    delete from ci_job_token_allowlist a where a.project_id = ${projectId} and ${which}`.execute(db)
  return Number(numAffectedRows ?? 0) > 0
}

/** Whether only jobs of the project itself and of those on its list reach it. */
export async function setLimited(db: Writer, projectId: number, limited: boolean): Promise<void> {
  await sql`
    update projects p set updated_at = now(),
      settings = p.settings || jsonb_build_object('ci_inbound_job_token_scope_enabled', ${limited}::boolean)
    where p.id = ${projectId}`.execute(db)
}
