import { findCommit, parseOid, zeroOid, type Repository } from '../../../git/index.ts'
import type { ProjectSubject } from '../../../access/index.ts'
import { sql, type Database, type Reader } from '../../../kernel/db/index.ts'
import type { RepositoryPlaces } from '../../repository/index.ts'
import type { Open } from '../opening.ts'
import { noteFault } from '../rules.ts'
import { checkPosition, type DiffRefs, type Position, type SentPosition } from './position.ts'
import { Tracer } from './trace.ts'

/** Where a new thread stands, ready to be stored. */
export interface Anchor {
  readonly position: Position
  readonly lineCode: string | undefined
  /** It was begun at a diff that has been replaced since. */
  readonly current?: { readonly position: Position; readonly change: Position | null } | undefined
}

const stranger = (): Error => noteFault({ line_code: ["can't be blank", 'must be a valid line code'] })

/** Where a new thread about a commit or merge request stands. */
export async function anchorOf(
  { db, places }: { readonly db: Database; readonly places: RepositoryPlaces },
  { place, target }: Open<unknown>,
  sent: SentPosition,
  commitId?: string,
): Promise<Anchor> {
  const repository = places.of(place as ProjectSubject)
  return target.id === null
    ? anchorInCommit(repository, target.sha!, sent)
    : anchorInRequest(db.reader, repository, target.id, sent, commitId)
}

/** A position in the diff of a commit against its first parent. */
async function anchorInCommit(repository: Repository, sha: string, sent: SentPosition): Promise<Anchor> {
  const oid = parseOid(sha)
  const commit = oid && (await findCommit(repository, oid))
  const parent: string = commit?.parents[0] ?? zeroOid
  if (commit === undefined || sent.head_sha !== commit.oid || sent.base_sha !== parent) throw stranger()
  return checkPosition(repository, sent, { lineRange: false })
}

/**
 * A position in one of the versions of a merge request, or in the diff of one of its commits. One of an older version
 * is followed to the latest at once.
 */
async function anchorInRequest(
  db: Reader,
  repository: Repository,
  requestId: number,
  sent: SentPosition,
  commitId: string | undefined,
): Promise<Anchor> {
  const ofRequest = sql`exists (
    select from merge_request_versions v
    where v.merge_request_id = m.id and v.commits @> array[${commitId ?? null}::text])`
  const found = await sql<{ known: boolean; commit_known: boolean; incomplete: boolean } & DiffRefs>`
    select m.base_sha, m.start_sha, m.head_sha, m.base_sha is null as incomplete,
      exists (
        select from merge_request_versions v where v.merge_request_id = m.id and v.head_sha = ${sent.head_sha}
          and (v.base_sha = ${sent.base_sha} or exists (
            select from merge_request_versions w
            where w.merge_request_id = m.id and w.head_sha = ${sent.base_sha}))
          and ${sent.start_sha} in (select unnest(array[w.start_sha, w.base_sha, w.head_sha])
            from merge_request_versions w where w.merge_request_id = m.id))
        or (${commitId ?? null}::text = ${sent.head_sha} and ${ofRequest}) as known,
      ${commitId === undefined ? sql`true` : ofRequest} as commit_known
    from merge_requests m where m.id = ${requestId}`.execute(db)
  const request = found.rows[0]
  if (request === undefined || request.incomplete)
    throw noteFault({ noteable: ["doesn't support new-style diff notes"] })
  if (!request.known || !request.commit_known) throw stranger()
  const anchor = await checkPosition(repository, sent, { lineRange: true })
  if (isAt(sent, request) || commitId !== undefined) return anchor
  const refs = { base_sha: request.base_sha, start_sha: request.start_sha, head_sha: request.head_sha }
  const traced = await new Tracer(repository, sent, refs).trace(anchor.position)
  return traced.outdated
    ? { ...anchor, current: { position: anchor.position, change: traced.change ?? anchor.position } }
    : { ...anchor, lineCode: traced.lineCode, current: { position: traced.position, change: null } }
}

export function isAt(position: DiffRefs, refs: DiffRefs): boolean {
  return (
    position.base_sha === refs.base_sha &&
    position.start_sha === refs.start_sha &&
    position.head_sha === refs.head_sha
  )
}
