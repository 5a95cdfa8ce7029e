import { sql } from '../../../kernel/db/index.ts'
import { userOf, type Actor, type ProjectSubject } from '../../../access/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import { conflict, recordNotFound, unauthorized } from '../../../kernel/errors/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { confirmsPassword } from '../../sessions/index.ts'
import { announce } from '../news.ts'
import type { MergeRequestServices } from '../services.ts'
import { tellOf, told } from '../system-notes.ts'
import { autoMergeTask } from '../tasks.ts'
import { withApprovals, type RequestWithApprovals } from './rows.ts'
import { mayApprove } from './rules.ts'
import { approvalSettings } from './settings.ts'

/** `sha`: what the caller has looked at; `password`: his own, where the project wants it shown once more. */
export async function approve(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  row: RequestWithApprovals,
  { sha, password }: { readonly sha?: string | undefined; readonly password?: string | undefined },
): Promise<void> {
  const paid = offers(services.plan, 'approval_rules')
  if (!mayApprove(actor, project, row, paid)) throw unauthorized()
  if (paid && approvalSettings(project.settings).require_password_to_approve) {
    const { id } = userOf(actor)
    if (password === undefined || !(await confirmsPassword(services, id, password))) throw unauthorized()
  }
  if (sha !== undefined && sha !== row.head_sha) {
    throw conflict(`SHA does not match HEAD of source branch: ${row.head_sha}`)
  }
  const user = userOf(actor).id
  await services.db.transaction(async (tx) => {
    // A push that came meanwhile has made another head: what was looked at is not what would be approved.
    const { rows } = await sql`
      with request as (
        select m.id, m.head_sha from merge_requests m
        where m.id = ${row.id} and m.state = 'opened' and m.head_sha = ${row.head_sha} for no key update)
      insert into merge_request_approvals (merge_request_id, user_id, sha)
      select request.id, ${user}, request.head_sha from request
      on conflict do nothing returning merge_request_id`.execute(tx)
    if (rows.length === 0) throw unauthorized()
    await setReviewState(tx, row.id, user, 'approved')
    await tellOf(tx, row, user, [told.approved])
    await announce(services, tx, row, actor, { action: 'approved' })
    if (row.auto_merge) await enqueue(tx, autoMergeTask, { id: row.id })
  })
}

export async function unapprove(
  services: MergeRequestServices,
  actor: Actor,
  row: RequestWithApprovals,
): Promise<void> {
  const user = userOf(actor).id
  await services.db.transaction(async (tx) => {
    const { rows } = await sql`
      delete from merge_request_approvals a
      where a.merge_request_id = ${row.id} and a.user_id = ${user} returning a.user_id`.execute(tx)
    if (rows.length === 0) throw recordNotFound()
    await setReviewState(tx, row.id, user, 'unapproved')
    await tellOf(tx, row, user, [told.unapproved])
    await announce(services, tx, row, actor, { action: 'unapproved' })
  })
}

async function setReviewState(
  tx: Parameters<typeof announce>[1],
  id: number,
  user: number,
  state: 'approved' | 'unapproved',
): Promise<void> {
  await sql`
    update merge_request_reviewers set state = ${state}
    where merge_request_id = ${id} and user_id = ${user}`.execute(tx)
  await sql`update merge_requests set updated_at = now() where id = ${id}`.execute(tx)
}

export async function findWithApprovals(
  { db }: Pick<MergeRequestServices, 'db'>,
  id: number,
): Promise<RequestWithApprovals> {
  const { rows } = await withApprovals(id).execute(db.writer)
  return rows[0]!.row
}
