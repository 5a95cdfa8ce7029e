import {
  find,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { branchState, mayPushCodeTo, protectionOf, rulesOf } from '../../protected-branches/index.ts'
import { headIn } from '../branches.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'

/**
 * Why somebody may not make the commits of a request anew at its source, or undefined: it moves the branch by force.
 * `project`: the one that it is to be merged into.
 */
export async function rebaseRefusal(
  { db, places }: Pick<MergeRequestServices, 'db' | 'places'>,
  actor: Actor,
  project: ProjectSubject,
  { source_project_id: sourceId, source_branch: branch }: MergeRequestRow,
): Promise<string | undefined> {
  const source =
    sourceId === project.id
      ? project
      : sourceId === null
        ? undefined
        : await find<ProjectSubject>(db.reader, projectKind, actor, String(sourceId))
  if (source === undefined) return mayNotPush
  const [rules, mayPushCode] = await Promise.all([
    rulesOf(db.reader, source.id, userOf(actor).id),
    mayPushCodeTo(db.reader, actor, source, branch),
  ])
  if (!branchState(branch, rules, actor, source, mayPushCode).mayPush) return mayNotPush
  if ((await headIn(places, source, branch)) === undefined) return 'Source branch does not exist'
  if (protectionOf(branch, rules)?.allowForcePush === false) {
    return 'Source branch is protected from force push'
  }
  return undefined
}

const mayNotPush = 'Cannot push to source branch'
