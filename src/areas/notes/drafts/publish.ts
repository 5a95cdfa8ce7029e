import { userOf, type Actor } from '../../../access/index.ts'
import type { Tx } from '../../../kernel/db/index.ts'
import type { NotesRoom } from '../index.ts'
import type { Open } from '../opening.ts'
import { anchorOf, type Anchor } from '../positions/anchor.ts'
import { mayIn, vanished } from '../rules.ts'
import type { NewSuggestion } from '../suggestions/lines.ts'
import { positionsOf } from '../suggestions/store.ts'
import type { DraftRow } from './entities.ts'
import * as store from './store.ts'

/** The news that somebody has published a review: event kind `review`. */
export interface ReviewEvent {
  readonly mergeRequestId: number
  readonly noteIds: readonly number[]
  readonly state: ReviewState
}

/** What a reviewer makes of a merge request, besides approving it. */
export type ReviewState = 'reviewed' | 'requested_changes'

/** What comes with the drafts: a note on the whole, and what the reviewer makes of it. */
export interface Verdict {
  readonly summary?: { readonly body: string; readonly internal: boolean } | undefined
  readonly state?: ReviewState | undefined
}

/** Makes notes of drafts, all or none, and tells of them as of one review. */
export async function publish(
  room: NotesRoom,
  actor: Actor,
  opened: Open<unknown>,
  review: store.Review,
  drafts: readonly DraftRow[],
  { summary, state }: Verdict = {},
): Promise<void> {
  // Where the drafts stand is looked up in git before anything is held.
  const anchors = new Map<number, Anchor>()
  for (const { id, position, commit_id: commit } of drafts) {
    if (position === null) continue
    anchors.set(id, await anchorOf(room, opened, position, commit ?? undefined))
  }
  const proposed = await proposals(room, opened, drafts, anchors)
  const wanted = new Set(drafts.map(({ id }) => id))
  await room.db.transaction(async (tx) => {
    const taken =
      drafts.length === 1 ? await store.take(tx, review, drafts[0]!.id) : await store.take(tx, review)
    const noteIds: number[] = []
    for (const draft of taken) {
      // One that was written meanwhile stays a draft.
      if (!wanted.has(draft.id)) await store.insert(tx, review, asNew(draft))
      else
        noteIds.push(
          await publishOne(room, tx, actor, opened, draft, anchors.get(draft.id), proposed.get(draft.id)),
        )
    }
    if (summary !== undefined) {
      const note = { ...summary, individual: true }
      noteIds.push((await room.writer.startIn(tx, actor, opened, note, { inReview: true })).noteId)
    }
    if (noteIds.length === 0 && state === undefined) return
    const payload: ReviewEvent = { mergeRequestId: review.requestId, noteIds, state: state ?? 'reviewed' }
    const { projectId } = opened.target
    await room.events.announce(tx, 'review', { projectId, userId: review.authorId, payload })
  })
}

/** What drafts propose, at lines of their own or of the threads that they answer. */
async function proposals(
  { db, writer }: NotesRoom,
  opened: Open<unknown>,
  drafts: readonly DraftRow[],
  anchors: ReadonlyMap<number, Anchor>,
): Promise<Map<number, readonly NewSuggestion[]>> {
  const threads = drafts.flatMap(({ thread_id: id }) => (id === null ? [] : [id]))
  const positions = threads.length === 0 ? undefined : await positionsOf(db.reader, threads)
  const found = new Map<number, readonly NewSuggestion[]>()
  for (const { id, note, thread_id: thread } of drafts) {
    const anchor = anchors.get(id)
    const position =
      thread === null ? (anchor?.current?.position ?? anchor?.position) : positions?.get(thread)
    found.set(id, await writer.suggestions(opened, position, note))
  }
  return found
}

function asNew({
  note,
  thread_id,
  resolve_discussion,
  commit_id,
  line_code,
  position,
}: DraftRow): store.NewDraft {
  return {
    note,
    threadId: thread_id,
    resolve: resolve_discussion,
    commitId: commit_id,
    anchor: position === null ? undefined : { position, lineCode: line_code ?? undefined },
  }
}

async function publishOne(
  { writer }: NotesRoom,
  tx: Tx,
  actor: Actor,
  opened: Open<unknown>,
  draft: DraftRow,
  anchor: Anchor | undefined,
  suggestions: readonly NewSuggestion[] | undefined,
): Promise<number> {
  const { note: body, thread_id: discussionId, commit_id } = draft
  if (discussionId === null) {
    const commitId = anchor === undefined ? undefined : (commit_id ?? undefined)
    const first = { body, individual: false, anchor, commitId, suggestions }
    return (await writer.startIn(tx, actor, opened, first, { inReview: true })).noteId
  }
  const noteableId = opened.found.noteable_id
  if (noteableId === null) throw vanished()
  const { noteId } = await writer.replyIn(
    tx,
    actor,
    opened,
    { noteableId, discussionId },
    { body, suggestions },
    { inReview: true },
  )
  const by = userOf(actor).id
  if (opened.found.author_id === by || mayIn(actor, 'resolve_note', opened.place))
    await writer.resolveIn(tx, by, opened, { discussionId }, draft.resolve_discussion)
  return noteId
}
