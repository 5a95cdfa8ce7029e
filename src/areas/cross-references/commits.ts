import { sql } from '../../kernel/db/index.ts'
import { enterAs, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  branchName,
  branchRef,
  isZero,
  listCommitIds,
  listCommits,
  parseOid,
  resolve,
  type Commit,
  type Oid,
  type RefUpdate,
  type Repository,
} from '../../git/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'
import { closeAs, closedBy, findReferenced } from '../issues/index.ts'
import type { PushEvent, RepositoryPlaces } from '../repository/index.ts'
import { mention, type MentionServices } from './mention.ts'
import { tellOfPick } from './picks.ts'
import { commitSource } from './sources.ts'

export interface CommitServices extends MentionServices {
  readonly events: Events
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
}

/** Of one branch, and of all branches of a push; whoever pushes more does not mean each of them as news. */
const mostCommits = 100
const mostOfPush = 1000
/** Of a merge request that are looked through for the commit that names it. */
const mostOfRequest = 1000

/** The messages of commits that are new to a project tell what they name; on the default branch they close issues. */
export async function readCommits(services: CommitServices, event: DomainEvent<PushEvent>): Promise<void> {
  const { projectId, userId, payload } = event
  const moved = payload.updates.filter(({ ref, newOid }) => branchName(ref) !== undefined && !isZero(newOid))
  if (moved.length === 0 || projectId === null || userId === null) return
  const entered = await enterAs<ProjectSubject>(services.db, projectKind, userId, projectId)
  if (entered === undefined) return
  const { actor, subject: project } = entered
  const repository = services.places.of(project)
  const tell = async (commit: Commit): Promise<void> => {
    await mention(services, actor, project, commitSource(project, commit), ({ target }) =>
      contains(services, repository, target.kind === 'MergeRequest' ? target.id : null, commit.oid),
    )
    await tellOfPick(services, actor, project, repository, moved, commit)
  }
  const main = project.defaultBranch === null ? undefined : branchRef(project.defaultBranch)
  const others = moved.filter(({ ref }) => ref !== main)
  for (const commit of await newOn(
    repository,
    moved.filter(({ ref }) => ref === main),
    [],
  )) {
    await tell(commit)
    await close(services, actor, project, commit)
  }
  const known = others.length === 0 || main === undefined ? undefined : await resolve(repository, main)
  for (const commit of await newOn(repository, others, known === undefined ? [] : [known])) await tell(commit)
}

/** The commits that these moves have brought to their branches, each once, newest first. */
async function newOn(
  repository: Repository,
  moved: readonly RefUpdate[],
  known: readonly Oid[],
): Promise<readonly Commit[]> {
  if (moved.length === 0) return []
  const old = moved.map(({ oldOid }) => oldOid).filter((oid) => !isZero(oid))
  return listCommits(repository, {
    revs: [...new Set(moved.map(({ newOid }) => newOid))],
    not: [...new Set([...old, ...known])],
    limit: Math.min(mostCommits * moved.length, mostOfPush),
  })
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
