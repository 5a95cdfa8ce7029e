import {
  find,
  may,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { branchState, rulesOf } from '../../protected-branches/index.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'

/** Whether somebody may push to the branch that a request brings. `project`: the one it is to be merged into. */
export async function mayPushToSource(
  { db }: Pick<MergeRequestServices, 'db'>,
  actor: Actor,
  project: ProjectSubject,
  row: Pick<MergeRequestRow, 'source_project_id' | 'source_branch'>,
): Promise<boolean> {
  if (row.source_project_id === null) return false
  const source =
    row.source_project_id === project.id
      ? project
      : await find<ProjectSubject>(db.reader, projectKind, actor, String(row.source_project_id))
  if (source === undefined) return false
  const rules = await rulesOf(db.reader, source.id, userOf(actor).id)
  return branchState(row.source_branch, rules, actor, source, may(actor, 'push_code', source)).mayPush
}
