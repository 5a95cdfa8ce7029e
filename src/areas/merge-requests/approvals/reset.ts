import { sql } from 'kysely'
import type { Oid } from '../../../git/index.ts'
import type { Tx } from '../../../kernel/db/index.ts'
import { headOf } from '../branches.ts'
import type { RequestProject } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { ownersOf } from './owners.ts'
import { approvalSettings } from './settings.ts'

/** Whose approvals a push takes away. */
export type Lapsing = 'all' | readonly number[]

/**
 * Whom a push to the source makes look again: everybody, or those who own files that it changed, as the project wants
 * it.
 */
export async function lapsingApprovals(
  { db, places, plan }: Pick<MergeRequestServices, 'db' | 'places' | 'plan'>,
  target: RequestProject,
  row: Pick<MergeRequestRow, 'head_sha' | 'target_branch'>,
  head: Oid,
): Promise<Lapsing> {
  const settings = approvalSettings(target.settings)
  if (plan === 'free') return []
  if (settings.reset_approvals_on_push) return 'all'
  if (!settings.selective_code_owner_removals) return []
  const repository = places.of(target)
  const into = await headOf(repository, row.target_branch)
  if (into === undefined) return []
  const owned = await ownersOf({ db, repository }, target.id, into, [row.head_sha as Oid, head])
  return (owned ?? []).flatMap(({ owners }) => owners.map(({ id }) => id))
}

/**
 * What was said of a request before its source was pushed holds no longer: a merge that was left to happen by itself is
 * called off, and approvals lapse.
 */
export async function resetAfterPush(
  tx: Tx,
  { id }: Pick<MergeRequestRow, 'id'>,
  lapsing: Lapsing,
): Promise<void> {
  await sql`
    update merge_requests set auto_merge = false, merge_params = '{}', merge_user_id = null
    where id = ${id} and auto_merge`.execute(tx)
  if (lapsing.length > 0) await resetApprovals(tx, id, lapsing)
}

/** Who approved may approve, and is asked, again. */
export async function resetApprovals(tx: Tx, id: number, of: Lapsing = 'all'): Promise<void> {
  const theirs = of === 'all' ? sql`true` : sql`x.user_id = any (${[...of]}::bigint[])`
  await sql`delete from merge_request_approvals x where x.merge_request_id = ${id} and ${theirs}`.execute(tx)
  await sql`
    update merge_request_reviewers x set state = 'unreviewed'
    where x.merge_request_id = ${id} and x.state in ('approved', 'unapproved') and ${theirs}`.execute(tx)
}
