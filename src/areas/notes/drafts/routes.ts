import { endpoint, userOf } from '../../../access/index.ts'
import { badRequest, notFound, recordNotFound } from '../../../kernel/errors/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
  type PageInput,
} from '../../../kernel/endpoint/index.ts'
import type { NotesRoom } from '../index.ts'
import { mergeRequestNoteable as noteable } from '../noteables/kinds.ts'
import { aboutOf, namedBy, open, placeOf, type NoteCall, type Open } from '../opening.ts'
import { anchorOf } from '../positions/anchor.ts'
import { PositionParams, type SentPosition } from '../positions/position.ts'
import * as read from '../read.ts'
import * as rules from '../rules.ts'
import { Draft, draftEntity, type DraftRow } from './entities.ts'
import { publish, type ReviewState } from './publish.ts'
import * as store from './store.ts'

const id = { [noteable.param]: noteable.paramType }
const draftId = { ...id, draft_note_id: Id() }

interface DraftFields {
  readonly note?: string
  readonly position?: SentPosition
  readonly commit_id?: string
  readonly in_reply_to_discussion_id?: string
  readonly resolve_discussion?: boolean
}

/** Notes of a review that nobody but its author sees until it is published. */
export function draftEndpoints(room: NotesRoom): Endpoint[] {
  const { db, writer } = room
  const base = `${noteable.path}/draft_notes`
  const single = `${base}/:draft_note_id`
  const about = {
    ...aboutOf(noteable),
    read: ({ params }: { params: object }) => read.alone(noteable, namedBy(noteable, params)),
  }
  const find = async (call: unknown): Promise<{ opened: Open<never>; review: store.Review }> => {
    const opened = await open(room, noteable, call as NoteCall<never>, (named) => read.alone(noteable, named))
    const { actor } = call as NoteCall<never>
    return { opened, review: { authorId: userOf(actor).id, requestId: opened.target.id! } }
  }
  const findDraft = async (
    call: unknown,
  ): Promise<{ opened: Open<never>; review: store.Review; draft: DraftRow }> => {
    const { opened, review } = await find(call)
    const { draft_note_id } = (call as { params: { draft_note_id: number } }).params
    const draft = await store.find(db.reader, review, draft_note_id)
    if (draft === undefined) throw recordNotFound()
    return { opened, review, draft }
  }
  const anchorFor = (opened: Open<never>, { position, commit_id }: DraftFields) =>
    position && anchorOf(room, opened, position, commit_id)
  const shown = async (review: store.Review, made: number) =>
    draftEntity((await store.find(db.writer, review, made))!)

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: base,
      summary: "List the caller's drafts on a merge request",
      paged: true,
      params: Fields(id),
      answers: ListOf(Draft),
      async handle(call) {
        const { page } = call as { page: PageInput }
        const { review } = await find(call)
        const { rows, total } = await store.list(db.reader, review, page)
        return new Page(rows.map(draftEntity), { total, hasMore: total > page.offset + page.limit })
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: single,
      summary: "Get one of the caller's drafts",
      params: Fields(draftId),
      answers: Draft,
      handle: async (call) => draftEntity((await findDraft(call)).draft),
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: base,
      summary: 'Write a draft, of a new thread or of an answer',
      params: Fields({
        ...id,
        note: Text(),
        in_reply_to_discussion_id: Optional(Text()),
        resolve_discussion: Optional(
          Flag({ description: 'Whether publishing it resolves the thread it answers, or opens it again' }),
        ),
        commit_id: Optional(Text({ description: 'A commit of the request that the thread is on' })),
        position: Optional(PositionParams),
      }),
      answers: Draft,
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & {
          params: DraftFields & { note: string }
        }
        const { opened, review } = await find(call)
        rules.checkWriter(actor, opened.place, opened.found)
        rules.checkBody(params.note)
        const thread = await threadOf(params.in_reply_to_discussion_id, call as never)
        const anchor = thread === null ? await anchorFor(opened, params) : undefined
        writer.checkLimit(actor)
        const draft = {
          note: params.note,
          threadId: thread,
          resolve: thread !== null && params.resolve_discussion === true,
          commitId: anchor === undefined ? null : (params.commit_id ?? null),
          anchor,
        }
        const made = await db.transaction(async (tx) => {
          await store.beginReview(tx, review)
          return store.insert(tx, review, draft)
        })
        return shown(review, made)
      },
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: single,
      summary: 'Change a draft',
      params: Fields({ ...draftId, note: Optional(Text()), position: Optional(PositionParams) }),
      rules: { atLeastOneOf: [['note', 'position']] },
      answers: Draft,
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & { params: DraftFields }
        const { opened, review, draft } = await findDraft(call)
        rules.checkWriter(actor, opened.place, opened.found)
        if (params.note !== undefined) rules.checkBody(params.note)
        const anchor =
          draft.thread_id === null
            ? await anchorFor(opened, {
                ...params,
                ...(draft.commit_id !== null && { commit_id: draft.commit_id }),
              })
            : undefined
        await db.transaction((tx) => store.change(tx, draft.id, { note: params.note, anchor }))
        return shown(review, draft.id)
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: single,
      summary: 'Delete a draft',
      params: Fields(draftId),
      answers: null,
      async handle(call) {
        const { review, draft } = await findDraft(call)
        await db.transaction((tx) => store.take(tx, review, draft.id))
      },
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: `${single}/publish`,
      summary: 'Publish a draft',
      params: Fields(draftId),
      status: 204,
      answers: null,
      async handle(call) {
        const { actor } = call as unknown as NoteCall<never>
        const { opened, review, draft } = await findDraft(call)
        rules.checkWriter(actor, opened.place, opened.found)
        await publish(room, actor, opened, review, [draft])
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: `${base}/bulk_publish`,
      summary: "Publish all of the caller's drafts on a merge request",
      params: Fields({
        ...id,
        note: Optional(Text({ description: 'A note on the whole' })),
        internal: Optional(Flag({ description: 'That note is for Planners, Reporters and above only' })),
        reviewer_state: Optional(OneOf('reviewed', 'requested_changes')),
      }),
      status: 204,
      answers: null,
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & {
          params: { note?: string; internal?: boolean; reviewer_state?: ReviewState }
        }
        const { opened, review } = await find(call)
        rules.checkWriter(actor, opened.place, opened.found)
        const { note: body, reviewer_state: state } = params
        if (body !== undefined) rules.checkBody(body)
        const internal = rules.internalOf(noteable, actor, opened.place, params)
        const { rows } = await store.list(db.reader, review, {
          limit: rules.mostNotes,
          offset: 0,
        } as PageInput)
        const summary = body === undefined ? undefined : { body, internal }
        await publish(room, actor, opened, review, rows, { summary, state })
      },
    }),
  ]

  /** The thread that a draft answers, among those that its author sees. */
  async function threadOf(key: string | undefined, call: NoteCall<never>): Promise<number | null> {
    if (key === undefined || key === '') return null
    const found = await read.readNow(
      db.reader,
      call.actor,
      placeOf(call),
      read.discussion(noteable, namedBy(noteable, call.params), key.toLowerCase()),
    )
    const [discussion] = found?.items ?? []
    if (discussion == null) throw notFound('Discussion')
    if (discussion.individual && !noteable.answers) throw badRequest('Discussion can not be replied to.')
    return discussion.id
  }
}
