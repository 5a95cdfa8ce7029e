import { sql } from '../../../kernel/db/index.ts'
import { isAncestor, type Oid } from '../../../git/index.ts'
import { headOf } from '../branches.ts'
import { findProjects } from '../projects.ts'
import type { MergeRequestServices } from '../services.ts'
import { finishMerge, reopenUnmerged, wentWrong, type BeforeMerge } from './finish.ts'

interface Unfinished extends BeforeMerge {
  readonly project_id: number
  readonly target_branch: string
  readonly merging_sha: string | null
}

/**
 * Ends merges that nobody works on any more: what is locked for more than a minute is what a crash left. Where the
 * commits are on the target branch it is merged, else it is open again. A merge that only was slow finds that out when
 * it is done, and its push ends it after all.
 */
export async function settleMerges(services: MergeRequestServices): Promise<void> {
  const { db, places } = services
  const { rows } = await sql<Unfinished>`
    select m.id, m.project_id, m.target_branch, m.merging_sha, m.auto_merge, m.merge_params,
      json_build_object('id', m.merge_user_id) as merge_user
    from merge_requests m
    where m.state = 'locked' and m.locked_at < now() - interval '1 minute' order by m.id limit 1000`.execute(
    db.writer,
  )
  const projects = await findProjects(
    db.reader,
    rows.map(({ project_id }) => project_id),
  )
  for (const unfinished of rows) {
    const { id, project_id, target_branch, merging_sha } = unfinished
    const project = projects.get(project_id)
    const head = project && (await headOf(places.of(project), target_branch))
    const arrived =
      project !== undefined &&
      head !== undefined &&
      merging_sha !== null &&
      (await isAncestor(places.of(project), merging_sha as Oid, head))
    if (arrived) await finishMerge(services, id)
    else await reopenUnmerged(services, unfinished, wentWrong)
  }
}
