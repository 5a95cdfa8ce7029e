import { endpoint } from '../../../access/index.ts'
import { notFound, recordNotFound } from '../../../kernel/errors/index.ts'
import { needsCaptchaAnswer } from '../../spam/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  type Endpoint,
  type PageInput,
} from '../../../kernel/endpoint/index.ts'
import { Note, noteEntity, type FlatRow } from '../entities.ts'
import type { NotesRoom } from '../index.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { aboutOf, namedBy, noteIn, open, type NoteCall, type Open } from '../opening.ts'
import * as read from '../read.ts'
import type { FlatFilter, Opened } from '../read.ts'
import * as rules from '../rules.ts'
import { speak, type Speech } from '../speaking.ts'
import { pageOf } from './discussions.ts'

const filter = {
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
  order_by: OneOf(['created_at', 'updated_at'], { default: 'created_at' }),
  activity_filter: OneOf(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' }),
}
const marks = {
  internal: Optional(Flag({ description: 'For Planners, Reporters and above only' })),
  confidential: Optional(Flag({ deprecated: true, description: 'Use `internal`' })),
}

type Found = FlatRow & { readonly hidden: boolean }

/** The notes of one kind of noteable, one after the other, whatever discussion they are in. */
export function noteEndpoints(room: NotesRoom, noteable: Noteable): Endpoint[] {
  const { db, writer } = room
  const { called } = noteable
  const base = `${noteable.path}/notes`
  const single = `${base}/:note_id`
  const about = aboutOf(noteable)
  const id = { [noteable.param]: noteable.paramType }
  const one = (params: object) => (named: string | number) =>
    read.note(noteable, named, (params as { note_id: number }).note_id)
  const onOne = {
    ...about,
    params: Fields({ ...id, note_id: Id() }),
    read: ({ params }: { params: object }) => one(params)(namedBy(noteable, params)),
  }
  const find = async (call: NoteCall<Opened<Found>>): Promise<{ opened: Open<Found>; row: Found }> => {
    const opened = await open(room, noteable, call, one(call.params))
    const [row] = opened.items
    if (row == null) throw recordNotFound()
    if (row.hidden) throw notFound('Note')
    return { opened, row }
  }
  const again = async (
    call: Pick<NoteCall<unknown>, 'actor'>,
    { discussionId, noteId }: { discussionId: number; noteId: number },
  ): Promise<FlatRow> => {
    const found = await read.discussionById(db.reader, call.actor, discussionId)
    if (found === undefined) throw recordNotFound()
    return noteIn(found, noteId)
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: base,
      summary: `List the notes of ${called}`,
      paged: true,
      pollable: 6_000,
      params: Fields({ ...id, ...filter }),
      answers: ListOf(Note),
      read: ({ params, page }) =>
        read.notes(noteable, namedBy(noteable, params), params as unknown as FlatFilter, page),
      async handle(call) {
        const { page, params } = call as unknown as { page: PageInput; params: FlatFilter }
        const opened = await open(room, noteable, call as never, (named) =>
          read.notes(noteable, named, params, page),
        )
        return pageOf(opened, page, (row: FlatRow) => noteEntity(row, opened.shown))
      },
    }),

    endpoint({
      ...onOne,
      method: 'GET',
      path: single,
      summary: `Get a note of ${called}`,
      answers: Note,
      async handle(call) {
        const { opened, row } = await find(call)
        return noteEntity(row, opened.shown)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: base,
      summary: `Write a comment on ${called}`,
      params: Fields({
        ...id,
        body: Text(),
        created_at: Optional(DateTime()),
        ...marks,
        ...(noteable.resolvable && {
          merge_request_diff_head_sha: Optional(Text({ description: 'Needed by the command `/merge`' })),
        }),
      }),
      answers: Note,
      refuses: needsCaptchaAnswer,
      read: ({ params }) => read.alone(noteable, namedBy(noteable, params)),
      async handle(call) {
        const { actor, params, request } = call as unknown as NoteCall<never> & {
          params: {
            body: string
            created_at?: Date
            internal?: boolean
            confidential?: boolean
            merge_request_diff_head_sha?: string
          }
          request: Speech['request']
        }
        const opened = await open(room, noteable, call as never, (named) => read.alone(noteable, named))
        const { place, found } = opened
        rules.checkWriter(actor, place, found)
        const internal = rules.internalOf(noteable, actor, place, params)
        rules.checkBody(params.body)
        writer.checkLimit(actor)
        const createdAt = rules.timeOf(actor, place, params.created_at)
        const { body, merge_request_diff_head_sha: head } = params
        return speak(
          room,
          { actor, request, opened, body, internal, head },
          {
            async say(text) {
              const note = { body: text, individual: true, internal, createdAt }
              const written = await writer.start(actor, opened, note)
              return async (changes) => noteEntity(await again(call, written), opened.shown, changes)
            },
          },
        )
      },
    }),

    endpoint({
      ...onOne,
      method: 'PUT',
      path: single,
      summary: `Change a note of ${called}`,
      params: Fields({ ...id, note_id: Id(), body: Text({ blank: false }), ...marks }),
      answers: Note,
      refuses: needsCaptchaAnswer,
      async handle(call) {
        const { actor, params, request } = call as unknown as NoteCall<never> & {
          params: { body: string; internal?: boolean; confidential?: boolean }
          request: Speech['request']
        }
        const { opened, row } = await find(call)
        rules.checkWriter(actor, opened.place, opened.found)
        rules.checkEditor(actor, opened.place, row.note)
        if ((params.internal ?? params.confidential ?? row.internal) !== row.internal)
          throw rules.noteFault({ confidential: ['can not be changed for existing notes'] })
        rules.checkBody(params.body)
        const { body } = params
        return speak(
          room,
          { actor, request, opened, body, internal: row.internal, before: row.note },
          {
            async say(text) {
              await writer.edit(actor, opened, row, text)
              const place = { discussionId: row.id, noteId: row.note.id }
              return async (changes) => noteEntity(await again(call, place), opened.shown, changes)
            },
            silent: () => writer.remove(opened, row.note.id),
          },
        )
      },
    }),

    endpoint({
      ...onOne,
      method: 'DELETE',
      path: single,
      summary: `Delete a note of ${called}`,
      answers: null,
      async handle(call) {
        const { actor, request } = call as unknown as NoteCall<never> & {
          request: Parameters<typeof requireUnmodified>[0]
        }
        const { opened, row } = await find(call)
        rules.checkWriter(actor, opened.place, opened.found)
        rules.checkEditor(actor, opened.place, row.note)
        requireUnmodified(request, row.note.updated_at)
        await writer.remove(opened, row.note.id)
      },
    }),
  ]
}
