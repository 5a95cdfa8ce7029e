import { sql } from '../../kernel/db/index.ts'
import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { branchName, listCommitIds, type Commit, type RefUpdate, type Repository } from '../../git/index.ts'
import { tellOnce, type MentionServices } from './mention.ts'

/** What `git cherry-pick -x` leaves in a message, and picking by the API does. */
const picked = /^\(cherry picked from commit ([0-9a-f]{40})\)$/m

/**
 * The merge request whose changes a commit has picked, by the commit that merged it, hears of that: of the first branch
 * that the commit comes to.
 */
export async function tellOfPick(
  services: MentionServices & { readonly externalUrl: () => string },
  actor: Actor,
  project: ProjectSubject,
  repository: Repository,
  moved: readonly RefUpdate[],
  { oid, message }: Commit,
): Promise<void> {
  const sha = picked.exec(message)?.[1]
  if (sha === undefined) return
  const { rows } = await sql<{ id: number }>`
    select m.id from merge_requests m
    where m.project_id = ${project.id} and ${sha} in (m.merge_commit_sha, m.squash_commit_sha)
      and not exists (
        select from noteables nb join notes n on n.noteable_id = nb.id
        where nb.kind = 'MergeRequest' and nb.target_id = m.id and n.action = 'cherry_pick' and n.body like ${`%${oid}`})
    limit 1`.execute(services.db.reader)
  const request = rows[0]
  const branch = request && (await branchOf(repository, moved, oid))
  if (request === undefined || branch === undefined) return
  const inProject = { projectId: project.id, namespaceId: null }
  const address = `${services.externalUrl()}/${project.fullPath}/-/tree/${branch.split('/').map(encodeURIComponent).join('/')}`
  await tellOnce(services.db, {
    on: { kind: 'MergeRequest', id: request.id, ...inProject },
    action: 'cherry_pick',
    body: `picked the changes into the branch [\`${branch}\`](${address}) with commit ${oid}`,
    authorId: userOf(actor).id,
    reference: { kind: 'Commit', id: null, ...inProject },
  })
}

/** The branch that a move has brought a commit to. */
async function branchOf(
  repository: Repository,
  moved: readonly RefUpdate[],
  oid: Commit['oid'],
): Promise<string | undefined> {
  for (const { ref, newOid } of moved) {
    const missing =
      newOid === oid ? [] : await listCommitIds(repository, { revs: [oid], not: [newOid], limit: 1 })
    if (missing.length === 0) return branchName(ref)
  }
  return undefined
}
