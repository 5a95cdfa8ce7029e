import type { Oid } from '../../../git/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import { sql, type Reader, type Tx } from '../../../kernel/db/index.ts'
import { headOf } from '../branches.ts'
import type { RequestProject } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import type { ComputedVersion } from '../versions/compute.ts'
import { ownersOf } from './owners.ts'
import { approvalSettings } from './settings.ts'

/** Whose approvals a push takes away. */
export type Lapsing = 'all' | readonly number[]

/**
 * Whom a new version makes look again: everybody, or those who own files that it changed, as the project wants it.
 * What was brought before and is brought again, on a newer target or in other commits, has been looked at.
 */
export async function lapsingApprovals(
  services: Pick<MergeRequestServices, 'db' | 'places' | 'plan'>,
  target: RequestProject,
  row: Pick<MergeRequestRow, 'head_sha' | 'version_id' | 'target_branch'>,
  version: Pick<ComputedVersion, 'head' | 'patchId'>,
): Promise<Lapsing> {
  const { db, places, plan } = services
  const settings = approvalSettings(target.settings)
  if (!offers(plan, 'approval_rules')) return []
  // With another target all is asked anew.
  if (version.head === row.head_sha) return settings.reset_approvals_on_push ? 'all' : []
  if (!settings.reset_approvals_on_push && !settings.selective_code_owner_removals) return []
  if (version.patchId !== undefined && version.patchId === (await patchOf(db.writer, row.version_id)))
    return []
  if (settings.reset_approvals_on_push) return 'all'
  const repository = places.of(target)
  const into = await headOf(repository, row.target_branch)
  if (into === undefined) return []
  const owned = await ownersOf({ db, repository }, target.id, into, [row.head_sha as Oid, version.head])
  return (owned ?? []).flatMap(({ owners }) => owners.map(({ id }) => id))
}

async function patchOf(db: Reader, versionId: number | null): Promise<string | null> {
  const { rows } = await sql<{ patch_id_sha: string | null }>`
    select v.patch_id_sha from merge_request_versions v where v.id = ${versionId}`.execute(db)
  return rows[0]?.patch_id_sha ?? null
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
  await resetApprovals(tx, id, lapsing)
}

/** Who approved may approve, and is asked, again. */
export async function resetApprovals(tx: Tx, id: number, of: Lapsing = 'all'): Promise<void> {
  if (of.length === 0) return
  const theirs = of === 'all' ? sql`true` : sql`x.user_id = any (${[...of]}::bigint[])`
  await sql`delete from merge_request_approvals x where x.merge_request_id = ${id} and ${theirs}`.execute(tx)
  await sql`
    update merge_request_reviewers x set state = 'unreviewed'
    where x.merge_request_id = ${id} and x.state in ('approved', 'unapproved') and ${theirs}`.execute(tx)
}
