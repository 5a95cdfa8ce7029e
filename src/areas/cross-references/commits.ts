import { sql } from 'kysely'
import { enterAs, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  branchName,
  branchRef,
  isZero,
  listCommitIds,
  listCommits,
  parseOid,
  parseRefName,
  resolve,
  type Commit,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'
import { closeAs, closedBy, findReferenced } from '../issues/index.ts'
import type { PushEvent, RepositoryPlaces } from '../repository/index.ts'
import { mention, type MentionServices } from './mention.ts'
import { commitSource } from './sources.ts'

export interface CommitServices extends MentionServices {
  readonly events: Events
  readonly places: RepositoryPlaces
}

/** Of one push; whoever pushes more does not mean each of them as news. */
const mostCommits = 100
/** Of a merge request that are looked through for the commit that names it. */
const mostOfRequest = 1000

/** The messages of commits that are new to a project tell what they name; on the default branch they close issues. */
export async function readCommits(services: CommitServices, event: DomainEvent<PushEvent>): Promise<void> {
  const { projectId, userId, payload } = event
  const refName = parseRefName(payload.ref)
  const branch = refName && branchName(refName)
  const head = parseOid(payload.newOid)
  if (branch === undefined || head === undefined || isZero(head)) return
  if (projectId === null || userId === null) return
  const entered = await enterAs<ProjectSubject>(services.db, projectKind, userId, projectId)
  if (entered === undefined) return
  const { actor, subject: project } = entered
  const repository = services.places.of(project)
  const isDefault = branch === project.defaultBranch
  const old = parseOid(payload.oldOid)
  const known = [
    ...(old !== undefined && !isZero(old) ? [old] : []),
    ...(isDefault ? [] : await headOf(repository, project.defaultBranch)),
  ]
  const commits = await listCommits(repository, { revs: [head], not: known, limit: mostCommits })
  for (const commit of commits) {
    await mention(services, actor, project, commitSource(project, commit), ({ target }) =>
      contains(services, repository, target.kind === 'MergeRequest' ? target.id : null, commit.oid),
    )
    if (isDefault) await close(services, actor, project, commit)
  }
}

async function headOf(repository: Repository, branch: string | null): Promise<Oid[]> {
  const ref = branch === null ? undefined : branchRef(branch)
  const head = ref && (await resolve(repository, ref))
  return head === undefined ? [] : [head]
}

/** What a merge closes is closed by the merge request, which its commit only speaks for. */
async function close(
  services: CommitServices,
  actor: Actor,
  project: ProjectSubject,
  { oid, message }: Commit,
): Promise<void> {
  const references = closedBy(message)
  if (references.length === 0 || project.settings['autoclose_referenced_issues'] === false) return
  const { rows } = await sql`
    select from merge_requests m
    where m.project_id = ${project.id} and ${oid} in (m.merge_commit_sha, m.squash_commit_sha) limit 1`.execute(
    services.db.reader,
  )
  if (rows.length > 0) return
  for (const issue of await findReferenced(services.db.reader, actor, project, references)) {
    if (issue.state === 'opened') await closeAs(services, actor.user!.id, issue, { commit: oid })
  }
}

/** Whether a commit is one of those that a merge request brings. */
async function contains(
  { db }: CommitServices,
  repository: Repository,
  requestId: number | null,
  oid: Oid,
): Promise<boolean> {
  if (requestId === null) return false
  const { rows } = await sql<{ head: string; base: string | null }>`
    select m.head_sha as head, m.base_sha as base from merge_requests m where m.id = ${requestId}`.execute(
    db.reader,
  )
  const head = parseOid(rows[0]?.head ?? '')
  const base = parseOid(rows[0]?.base ?? '')
  if (head === undefined || base === undefined) return false
  return (await listCommitIds(repository, { revs: [head], not: [base], limit: mostOfRequest })).includes(oid)
}
