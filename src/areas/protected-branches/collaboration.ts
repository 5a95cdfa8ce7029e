import { find, may, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { branchState } from './state.ts'
import { rulesOf } from './store.ts'

interface Opened {
  readonly source_branch: string
  readonly target_branch: string
  readonly project_id: number
}

/** Requests from one fork that are looked at. */
const mostRequests = 500

/**
 * Branches of a fork that somebody may push to who is no Developer there: those of open merge requests whose authors
 * let in whoever may merge them. Neither end of such a request is private. `among`: only these are asked about.
 */
export async function collaborationBranches(
  db: Reader,
  actor: Actor,
  fork: ProjectSubject,
  among?: readonly string[],
): Promise<ReadonlySet<string>> {
  const opened = new Set<string>()
  if (actor.user === null || actor.job !== null || !may(actor, 'push_to_branch', fork)) return opened
  const named = among === undefined ? sql`true` : sql`m.source_branch = any (${[...among]}::text[])`
  const { rows } = await sql<Opened>`
    select m.source_branch, m.target_branch, m.project_id
    from merge_requests m join projects target on target.id = m.project_id
    where m.source_project_id = ${fork.id} and m.project_id <> m.source_project_id and m.state = 'opened'
      and m.allow_collaboration and target.visibility > 0 and ${fork.visibility}::int > 0 and ${named}
    order by m.id desc limit ${mostRequests}`.execute(db)
  for (const id of new Set(rows.map(({ project_id }) => project_id))) {
    const target = await find<ProjectSubject>(db, projectKind, actor, String(id))
    if (target === undefined) continue
    const rules = await rulesOf(db, id, actor.user.id)
    const merges = may(actor, 'merge_merge_request', target)
    for (const { project_id, source_branch, target_branch } of rows) {
      if (project_id !== id) continue
      const state = branchState(target_branch, rules, actor, target, merges)
      if (state.mayPush || state.mayMerge) opened.add(source_branch)
    }
  }
  return opened
}

/** Whether somebody may push to a branch as far as no rule protects it: what `branchState` asks for. */
export async function mayPushCodeTo(
  db: Reader,
  actor: Actor,
  project: ProjectSubject,
  branch: string,
): Promise<boolean> {
  if (may(actor, 'push_code', project)) return true
  return (await collaborationBranches(db, actor, project, [branch])).has(branch)
}
