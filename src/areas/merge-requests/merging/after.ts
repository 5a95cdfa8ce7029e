import { sql } from '../../../kernel/db/index.ts'
import { enterAs, may, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import { branchRef, zeroOid } from '../../../git/index.ts'
import { headIn } from '../branches.ts'
import { protectionOf, rulesOf } from '../../protected-branches/index.ts'
import { closeIssues } from '../issues.ts'
import { findProjects } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { tellOf, toldOfMergedTarget } from '../system-notes.ts'
import { tryBlocked } from './auto.ts'
import { refreshMergeRequest } from '../versions/refresh.ts'

/** Requests into a branch that is gone that are aimed at where it went. */
const mostRetargeted = 4

/** What follows a merge. Done twice it does nothing more. */
export async function afterMerge(services: MergeRequestServices, id: number): Promise<void> {
  const row = await store.find(services.db.writer, id)
  if (row === undefined || row.state !== 'merged') return
  const project = (await findProjects(services.db.reader, [row.project_id])).get(row.project_id)
  await tryBlocked(services.db.writer, id)
  const intoDefault = project?.defaultBranch === row.target_branch
  if (intoDefault && row.project_settings['autoclose_referenced_issues'] !== false) {
    await closeIssues(services, row)
  }
  if (row.merge_params.should_remove_source_branch ?? row.remove_source_branch ?? false) {
    await removeSourceBranch(services, row)
  }
}

/** In the name of who merged. What is protected stays, and so does a branch that was pushed meanwhile. */
async function removeSourceBranch(services: MergeRequestServices, row: MergeRequestRow): Promise<void> {
  const { db, door, places } = services
  const user = row.merge_user?.id
  const ref = branchRef(row.source_branch)
  if (user === undefined || row.source_project_id === null || ref === undefined) return
  const entered = await enterAs<ProjectSubject>(db, projectKind, user, row.source_project_id)
  if (entered === undefined) return
  const { actor, subject: project } = entered
  if (!may(actor, 'push_code', project) || project.defaultBranch === row.source_branch) return
  if (protectionOf(row.source_branch, await rulesOf(db.reader, project.id, user)) !== undefined) return
  const oldOid = await headIn(places, project, row.source_branch)
  if (oldOid === undefined || oldOid !== row.head_sha) return
  await retarget(services, row, user)
  await door.update({ actor, project, via: 'web' }, [{ ref, oldOid, newOid: zeroOid }])
}

/** What was to be merged into the branch goes where the branch went. */
async function retarget(services: MergeRequestServices, row: MergeRequestRow, user: number): Promise<void> {
  if (row.source_project_id !== row.project_id) return
  const { rows } = await services.db.transaction(async (tx) => {
    const moved = await sql<{ id: number; project_id: number }>`
    update merge_requests set target_branch = ${row.target_branch} where id in (
      select m.id from merge_requests m
      where m.project_id = ${row.project_id} and m.target_branch = ${row.source_branch} and m.state = 'opened'
        and not exists (
          select from merge_requests o
          where o.source_project_id = m.source_project_id and o.source_branch = m.source_branch
            and o.project_id = m.project_id and o.target_branch = ${row.target_branch}
            and o.state in ('opened', 'locked'))
      order by m.id limit ${mostRetargeted})
    returning id, project_id`.execute(tx)
    for (const one of moved.rows) {
      await tellOf(tx, one, user, [toldOfMergedTarget(row.source_branch, row.target_branch)])
    }
    return moved
  })
  for (const { id } of rows) await refreshMergeRequest(services, id, { by: user, anew: true })
}
