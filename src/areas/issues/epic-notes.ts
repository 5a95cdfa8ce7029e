import { sql, type Tx } from '../../kernel/db/index.ts'
import { issueTarget, tell, type Target } from './system-notes.ts'

interface Named {
  readonly issue_iid: number
  readonly project_id: number
  readonly project_path: string
  readonly epic_id: number
  readonly epic_iid: number
  readonly group_id: number
  readonly group_path: string
}

/** An issue came into an epic, or left it: each end tells of the other one. */
export async function tellOfEpic(
  tx: Tx,
  userId: number,
  issueId: number,
  change: { readonly from: number | null; readonly to: number | null },
): Promise<void> {
  const { from, to } = change
  if (from === to) return
  const { rows } = await sql<Named>`
    select i.iid as issue_iid, i.project_id, p.full_path as project_path, e.id as epic_id, e.iid as epic_iid,
      n.id as group_id, n.full_path as group_path
    from issues i join projects p on p.id = i.project_id, epics e join namespaces n on n.id = e.namespace_id
    where i.id = ${issueId} and e.id in (${from}, ${to})`.execute(tx)
  for (const [epicId, verb, place] of [
    [from, 'removed', 'from'],
    [to, 'added', 'to'],
  ] as const) {
    const row = rows.find(({ epic_id }) => epic_id === epicId)
    if (row === undefined) continue
    const issue = issueTarget(issueId, row.project_id)
    const epic: Target = { kind: 'Epic', id: row.epic_id, projectId: null, namespaceId: row.group_id }
    await tell(tx, issue, userId, [
      { action: 'epic', body: `${verb} ${place} epic ${row.group_path}&${row.epic_iid}`, of: epic },
    ])
    await tell(tx, epic, userId, [
      { action: 'epic', body: `${verb} issue ${row.project_path}#${row.issue_iid}`, of: issue },
    ])
  }
}
