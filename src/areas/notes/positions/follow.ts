import { isAncestor, type Oid, type Repository } from '../../../git/index.ts'
import { sql, type Database, type Tx } from '../../../kernel/db/index.ts'
import type { NotesRoom } from '../index.ts'
import { finishAttempts } from '../suggestions/attempts.ts'
import { between, linesOf } from '../suggestions/lines.ts'
import { markOutdated, type SuggestionRow } from '../suggestions/store.ts'
import { reply, resolveNotes } from '../write.ts'
import { isAt } from './anchor.ts'
import type { DiffRefs, Position } from './position.ts'
import { Tracer, type Traced } from './trace.ts'

interface Request extends DiffRefs {
  readonly head_sha: Oid
  readonly project_id: number
  readonly storage: string
  readonly resolve: boolean
  readonly version: number
}

/** A suggestion of a thread that was not applied. */
type Pending = Pick<SuggestionRow, 'id' | 'above' | 'below' | 'from_content'>

interface Standing {
  readonly id: number
  readonly noteable_id: number
  readonly position: Position
  readonly suggestions: readonly Pending[] | null
}

/**
 * After a push: all threads of a merge request that stand at lines of the diff before are followed into the present
 * one. Done again it finds nothing to do.
 */
export async function followPositions(
  room: Pick<NotesRoom, 'db' | 'places' | 'writer'>,
  requestId: number,
  by: number | null,
): Promise<void> {
  const { db, places } = room
  const request = await findRequest(db, requestId)
  if (request === undefined) return
  const repository = places.of({ id: request.project_id, storage: request.storage })
  await finishAttempts(room, { requestId }, (commit) => isAncestor(repository, commit, request.head_sha))
  const after = { base_sha: request.base_sha, start_sha: request.start_sha, head_sha: request.head_sha }
  const tracers = new Map<string, Tracer>()
  for (const thread of await standing(db, requestId)) {
    const { position } = thread
    if (isAt(position, after)) continue
    const key = `${position.base_sha} ${position.head_sha}`
    const tracer = tracers.get(key) ?? new Tracer(repository, position, after)
    tracers.set(key, tracer)
    const traced = await tracer.trace(position)
    const outdated = traced.outdated ? [] : await changedSuggestions(repository, traced.position, thread)
    await db.transaction(async (tx) => {
      await settle(tx, request, thread, traced, by)
      await markOutdated(tx, outdated)
    })
  }
}

/** Of lines around the one that the thread stands at, which may be as it was. */
async function changedSuggestions(
  repository: Repository,
  position: Position,
  { suggestions }: Standing,
): Promise<number[]> {
  if (suggestions === null || position.position_type !== 'text' || position.new_line === null) return []
  const line = position.new_line
  const lines = (await linesOf(repository, position.head_sha, position.new_path)) ?? []
  return suggestions.flatMap(({ id, above, below, from_content: before }) =>
    between(lines, line - above, line + below) === before ? [] : [id],
  )
}

async function settle(
  tx: Tx,
  request: Request,
  thread: Standing,
  traced: Traced,
  by: number | null,
): Promise<void> {
  const before = JSON.stringify(thread.position)
  if (!traced.outdated) {
    await sql`
      update discussions set position = ${JSON.stringify(traced.position)}::jsonb,
        line_code = ${traced.lineCode ?? null}
      where id = ${thread.id} and position = ${before}::jsonb`.execute(tx)
    return
  }
  const change = JSON.stringify(traced.change ?? thread.position)
  const marked = await sql`
    update discussions set change_position = ${change}::jsonb
    where id = ${thread.id} and position = ${before}::jsonb and change_position is null returning id`.execute(
    tx,
  )
  if (marked.rows.length === 0) return
  const what = thread.position.position_type === 'image' ? 'file' : 'line'
  const body = `changed this ${what} in version ${request.version} of the diff`
  const place = { noteableId: thread.noteable_id, discussionId: thread.id }
  await reply(tx, place, { authorId: by, body, action: 'outdated' })
  if (request.resolve)
    await resolveNotes(tx, thread.noteable_id, { discussionId: thread.id }, { resolved: true, by })
}

async function findRequest(db: Database, id: number): Promise<Request | undefined> {
  const found = await sql<Request>`
    select m.project_id, p.storage, m.base_sha, m.start_sha, m.head_sha,
      coalesce((p.settings ->> 'resolve_outdated_diff_discussions')::boolean, false) as resolve,
      (select count(*) from merge_request_versions v where v.merge_request_id = m.id) as version
    from merge_requests m join projects p on p.id = m.project_id
    where m.id = ${id} and m.base_sha is not null`.execute(db.reader)
  return found.rows[0]
}

async function standing(db: Database, requestId: number): Promise<Standing[]> {
  const found = await sql<Standing>`
    select d.id, d.noteable_id, d.position,
      (select json_agg(json_build_object('id', s.id, 'above', s.lines_above, 'below', s.lines_below,
        'from_content', s.from_content))
      from notes n join suggestions s on s.note_id = n.id
      where n.discussion_id = d.id and s.applied_commit is null) as suggestions
    from noteables nb join discussions d on d.noteable_id = nb.id
    where nb.kind = 'MergeRequest' and nb.target_id = ${requestId} and d.position is not null
      and d.change_position is null and d.commit_id is null
    order by d.id`.execute(db.reader)
  return found.rows
}
