import type { ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { changeLabels } from '../labels/index.ts'
import {
  copyAwards,
  copyDiscussions,
  copySubscriptions,
  labelsOf,
  type CopyTarget,
} from './copied-history.ts'
import { issueTarget, tell } from './system-notes.ts'

interface Numbered {
  readonly id: number
  readonly iid: number
}

/**
 * Gives an epic that was made of an issue what belongs to it: what was said about the issue, the reactions to it, who
 * wants to hear of it, and those of its labels that are known to the group. The issue keeps it all, too.
 */
export async function copyToEpic(
  tx: Tx,
  userId: number,
  { issue, epic, project }: { issue: Numbered; epic: Numbered; project: ProjectSubject },
): Promise<void> {
  const group = { id: project.namespaceId, fullPath: project.fullPath.slice(0, -project.path.length - 1) }
  const from = issueTarget(issue.id, project.id)
  const to: CopyTarget = { kind: 'Epic', id: epic.id, projectId: null, namespaceId: group.id }
  await copyDiscussions(tx, issue.id, to)
  await copyAwards(tx, issue.id, to)
  await copySubscriptions(tx, issue.id, to)
  const labels = await labelsOf(tx, issue.id, { projectId: null, line: project.line })
  await changeLabels(tx, { type: 'Epic', id: epic.id }, { set: labels }, userId)
  await tell(tx, from, userId, [
    { action: 'moved', body: `promoted to epic ${group.fullPath}&${epic.iid}`, of: to },
  ])
  await tell(tx, to, userId, [
    { action: 'moved', body: `promoted from issue ${project.fullPath}#${issue.iid}`, of: from },
  ])
}
