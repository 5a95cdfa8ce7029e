import type { ProjectSubject } from '../../access/index.ts'
import { parseOid, type Repository } from '../../git/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import { Diff } from './positions/diff.ts'
import { checkPosition, sideOf, type DiffRefs } from './positions/position.ts'
import type { Anchor } from './positions/anchor.ts'
import { reply, startDiscussion } from './write.ts'

/** A note of an issue or merge request as it was somewhere else. */
export interface BroughtNote {
  readonly authorId: number
  readonly body: string
  readonly createdAt: string
  /** Of a merge request, in its diff. */
  readonly place?: BroughtPlace | undefined
  /** Which thread it belongs to; left out: it begins one. */
  readonly discussionId?: number | undefined
  /** It begins a thread that can be resolved, and not a single comment. */
  readonly thread?: boolean
}

export interface BroughtPlace {
  readonly path: string
  readonly side: 'old' | 'new'
  readonly line: number
}

interface Noteable {
  readonly kind: 'Issue' | 'MergeRequest'
  readonly id: number
}

/** Where in the diff a note stands; undefined where the diff has no such line. */
export async function anchorOfBrought(
  repository: Repository,
  refs: DiffRefs,
  { path, side, line }: BroughtPlace,
): Promise<Anchor | undefined> {
  const [base, head] = [sideOf(refs.base_sha), parseOid(refs.head_sha)]
  if (base === undefined || head === undefined) return undefined
  const diff = new Diff(repository, base, head)
  const file = (await diff.byNewPath(path)) ?? (await diff.byOldPath(path))
  const lines = file === undefined ? undefined : await diff.lines(file)
  if (file === undefined || lines === undefined) return undefined
  const changed = side === 'new' ? lines.shownAt(null, line) : lines.shownAt(line, null)
  const [old, now] = side === 'new' ? [lines.oldOf(line), line] : [line, lines.newOf(line)]
  const numbers =
    changed === undefined
      ? { old_line: old ?? null, new_line: now ?? null }
      : { old_line: side === 'old' ? line : null, new_line: side === 'new' ? line : null }
  const sent = {
    ...refs,
    ...numbers,
    position_type: 'text',
    old_path: file.oldPath,
    new_path: file.path,
  } as const
  try {
    return await checkPosition(repository, sent, { lineRange: false })
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/**
 * Writes notes that were written elsewhere, in their order, without news of them; what they are about is as old as it
 * was. Answers their threads; undefined for one that cannot be taken any more.
 */
export async function bringNote(
  tx: Tx,
  project: ProjectSubject,
  { kind, id }: Noteable,
  note: BroughtNote & { readonly anchor?: Anchor | undefined },
): Promise<number | undefined> {
  const { authorId, body, discussionId, anchor } = note
  const createdAt = new Date(note.createdAt)
  try {
    if (discussionId !== undefined) {
      const { rows } = await sql<{ noteable_id: number }>`
        select d.noteable_id from discussions d where d.id = ${discussionId}`.execute(tx)
      const [thread] = rows
      if (thread !== undefined) {
        const to = { noteableId: thread.noteable_id, discussionId }
        return (await reply(tx, to, { authorId, body, createdAt })).discussionId
      }
    }
    const target = { kind, id, projectId: project.id, namespaceId: null }
    const individual = anchor === undefined && note.thread !== true
    return (await startDiscussion(tx, target, { authorId, body, individual, anchor, createdAt })).discussionId
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
