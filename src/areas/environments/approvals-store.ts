import { sql, type Tx } from '../../kernel/db/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { ApprovalRow } from './entities.ts'

export interface NewApproval {
  readonly deploymentId: number
  readonly userId: number
  /** The rule by which it is given; null where none says whose approval is needed. */
  readonly entryId: number | null
  readonly status: 'approved' | 'rejected'
  readonly comment: string | null
}

/** Everybody has one of a deployment: what was said last. */
export async function give(tx: Tx, approval: NewApproval): Promise<ApprovalRow> {
  const { rows } = await sql<{ row: ApprovalRow }>`
    with given as (
      insert into deployment_approvals as a (deployment_id, user_id, entry_id, status, comment)
      values (${approval.deploymentId}, ${approval.userId}, ${approval.entryId}, ${approval.status}, ${approval.comment})
      on conflict (deployment_id, user_id) do update
        set entry_id = excluded.entry_id, status = excluded.status, comment = excluded.comment, created_at = now()
      returning a.id, a.user_id, a.status, a.comment, a.created_at)
    select json_build_object('id', g.id, 'user', ${basicUserJson('u')}, 'status', g.status, 'comment', g.comment,
      'created_at', g.created_at) as row
    from given g join users u on u.id = g.user_id`.execute(tx)
  return rows[0]!.row
}
