import { endpoint } from '../../../access/index.ts'
import { badRequest, forbidden, notFound } from '../../../kernel/errors/index.ts'
import { needsCaptchaAnswer } from '../../spam/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Optional,
  Page,
  requireUnmodified,
  Text,
  type Endpoint,
  type PageInput,
} from '../../../kernel/endpoint/index.ts'
import { Discussion, discussionEntity, Note, noteEntity, type DiscussionRow } from '../entities.ts'
import type { NotesRoom } from '../index.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { anchorOf } from '../positions/anchor.ts'
import { PositionParams, type SentPosition } from '../positions/position.ts'
import { aboutOf, namedBy, noteIn, onlyDiscussion, open, type NoteCall, type Open } from '../opening.ts'
import * as read from '../read.ts'
import type { Opened } from '../read.ts'
import * as rules from '../rules.ts'
import { speak, type Speech } from '../speaking.ts'

/** The discussions of one kind of noteable. */
export function discussionEndpoints(room: NotesRoom, noteable: Noteable): Endpoint[] {
  const { db, writer } = room
  const { called } = noteable
  const base = `${noteable.path}/discussions`
  const single = `${base}/:discussion_id`
  const about = aboutOf(noteable)
  const id = { [noteable.param]: noteable.paramType }

  const one = (params: object) => (named: string | number) =>
    read.discussion(noteable, named, (params as { discussion_id: string }).discussion_id.toLowerCase())
  const onOne = {
    ...about,
    params: Fields(id),
    read: ({ params }: { params: object }) => one(params)(namedBy(noteable, params)),
  }
  /** The discussion that is named, of a noteable that the caller reads. */
  const find = async (
    call: NoteCall<Opened<DiscussionRow>>,
    sought: 'Discussion' | 'Notes' = 'Discussion',
  ): Promise<{ opened: Open<DiscussionRow>; discussion: DiscussionRow }> => {
    const opened = await open(room, noteable, call, one(call.params))
    return { opened, discussion: onlyDiscussion(opened, sought) }
  }
  const again = async (call: { actor: NoteCall<unknown>['actor'] }, discussionId: number) => {
    const found = await read.discussionById(db.reader, call.actor, discussionId)
    if (found === undefined) throw notFound('Discussion')
    return found
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: base,
      summary: `List the discussions of ${called}`,
      paged: true,
      pollable: 6_000,
      params: Fields(id),
      answers: ListOf(Discussion),
      read: ({ params, page }) => read.discussions(noteable, namedBy(noteable, params), page),
      async handle(call) {
        const { page } = call as { page: PageInput }
        const opened = await open(room, noteable, call as never, (named) =>
          read.discussions(noteable, named, page),
        )
        return pageOf(opened, page, (row: DiscussionRow) => discussionEntity(row, opened.shown))
      },
    }),

    endpoint({
      ...onOne,
      method: 'GET',
      path: single,
      summary: `Get a discussion of ${called}`,
      answers: Discussion,
      async handle(call) {
        const { opened, discussion } = await find(call)
        return discussionEntity(discussion, opened.shown)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: base,
      summary: `Start a thread about ${called}`,
      params: Fields({
        ...id,
        body: Text(),
        created_at: Optional(DateTime()),
        ...(noteable.diffs && { position: Optional(PositionParams) }),
        ...(noteable.diffs &&
          noteable.resolvable && {
            commit_id: Optional(Text({ description: 'A commit of the request that the thread is on' })),
          }),
      }),
      answers: Discussion,
      refuses: needsCaptchaAnswer,
      read: ({ params }) => read.alone(noteable, namedBy(noteable, params)),
      async handle(call) {
        const { actor, params, request } = call as unknown as NoteCall<never> & {
          params: { body: string; created_at?: Date; position?: SentPosition; commit_id?: string }
          request: Speech['request']
        }
        const opened = await open(room, noteable, call as never, (named) => read.alone(noteable, named))
        const { body, position, commit_id: commitId } = params
        rules.checkWriter(actor, opened.place, opened.found)
        rules.checkBody(body)
        const anchor = position && (await anchorOf(room, opened, position, commitId))
        writer.checkLimit(actor)
        const createdAt = rules.timeOf(actor, opened.place, params.created_at)
        return speak(
          room,
          { actor, request, opened, body },
          {
            async say(text) {
              const note = { body: text, individual: false, createdAt, anchor, commitId: anchor && commitId }
              const { discussionId } = await writer.start(actor, opened, note)
              return async (changes) =>
                discussionEntity(await again(call, discussionId), opened.shown, changes)
            },
          },
        )
      },
    }),

    endpoint({
      ...onOne,
      method: 'PUT',
      path: single,
      summary: `Resolve a thread about ${called}, or open it again`,
      description: 'Only threads of merge requests can be resolved; with others it is refused.',
      params: Fields({ ...id, resolved: Flag() }),
      answers: Discussion,
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & { params: { resolved: boolean } }
        const { opened, discussion } = await find(call)
        const { place, found } = opened
        rules.checkWriter(actor, place, found)
        if (!rules.isResolver(actor, place, found.author_id)) throw forbidden()
        if (!discussion.notes.some(({ resolvable }) => resolvable)) throw forbidden()
        await writer.resolve(actor, opened, { discussionId: discussion.id }, params.resolved)
        return discussionEntity(await again(call, discussion.id), opened.shown)
      },
    }),

    endpoint({
      ...onOne,
      method: 'GET',
      path: `${single}/notes`,
      summary: `List the notes of a discussion of ${called}`,
      paged: true,
      answers: ListOf(Note),
      async handle(call) {
        const { page } = call as { page: PageInput }
        const { opened, discussion } = await find(call, 'Notes')
        const { notes, ...fields } = discussion
        const shown = notes.slice(page.offset, page.offset + page.limit)
        return new Page(
          shown.map((note) => noteEntity({ ...fields, note }, opened.shown)),
          { total: notes.length, hasMore: notes.length > page.offset + page.limit },
        )
      },
    }),

    endpoint({
      ...onOne,
      method: 'POST',
      path: `${single}/notes`,
      summary: `Answer in a discussion of ${called}`,
      params: Fields({
        ...id,
        body: Text(),
        created_at: Optional(DateTime()),
        note_id: Optional(Int({ description: 'Without effect' })),
      }),
      answers: Note,
      refuses: needsCaptchaAnswer,
      async handle(call) {
        const { actor, params, request } = call as unknown as NoteCall<never> & {
          params: { body: string; created_at?: Date }
          request: Speech['request']
        }
        const { opened, discussion } = await find(call)
        const { place, found } = opened
        rules.checkWriter(actor, place, found)
        if (discussion.individual && !noteable.answers) throw badRequest('Discussion can not be replied to.')
        rules.checkBody(params.body)
        writer.checkLimit(actor)
        const { id: discussionId, position } = discussion
        const to = { noteableId: found.noteable_id!, discussionId, position }
        const createdAt = rules.timeOf(actor, place, params.created_at)
        return speak(
          room,
          { actor, request, opened, body: params.body, internal: discussion.internal },
          {
            async say(text) {
              const { noteId } = await writer.reply(actor, opened, to, { body: text, createdAt })
              return async (changes) =>
                noteEntity(noteIn(await again(call, discussion.id), noteId), opened.shown, changes)
            },
          },
        )
      },
    }),

    endpoint({
      ...onOne,
      method: 'GET',
      path: `${single}/notes/:note_id`,
      summary: `Get a note of a discussion of ${called}`,
      params: Fields({ ...id, note_id: Id() }),
      answers: Note,
      async handle(call) {
        const { params } = call as unknown as { params: { note_id: number } }
        const { opened, discussion } = await find(call)
        return noteEntity(noteIn(discussion, params.note_id), opened.shown)
      },
    }),

    endpoint({
      ...onOne,
      method: 'PUT',
      path: `${single}/notes/:note_id`,
      summary: `Change a note of a discussion of ${called}`,
      params: Fields({
        ...id,
        note_id: Id(),
        body: Optional(Text()),
        resolved: Optional(Flag({ description: 'Of merge requests only' })),
      }),
      rules: { exactlyOneOf: [['body', 'resolved']] },
      answers: Note,
      refuses: needsCaptchaAnswer,
      async handle(call) {
        const { actor, params, request } = call as unknown as NoteCall<never> & {
          params: { note_id: number; body?: string; resolved?: boolean }
          request: Speech['request']
        }
        const { opened, discussion } = await find(call)
        const row = noteIn(discussion, params.note_id)
        const { place, found } = opened
        rules.checkWriter(actor, place, found)
        const show = async (changes: object = {}) =>
          noteEntity(noteIn(await again(call, discussion.id), row.note.id), opened.shown, changes)
        const { body = '', resolved } = params
        if (resolved === undefined) {
          rules.checkEditor(actor, place, row.note)
          rules.checkBody(body)
          return speak(
            room,
            { actor, request, opened, body, internal: row.internal, before: row.note },
            {
              async say(text) {
                await writer.edit(actor, opened, row, text)
                return show
              },
              silent: () => writer.remove(opened, row.note.id),
            },
          )
        }
        const { author } = row.note
        if (noteable.resolvable && !rules.isResolver(actor, place, found.author_id, author?.id))
          throw forbidden()
        if (!row.note.resolvable) throw rules.notResolvable()
        await writer.resolve(actor, opened, { noteId: row.note.id }, resolved)
        return show()
      },
    }),

    endpoint({
      ...onOne,
      method: 'DELETE',
      path: `${single}/notes/:note_id`,
      summary: `Delete a note of a discussion of ${called}`,
      params: Fields({ ...id, note_id: Id() }),
      answers: null,
      async handle(call) {
        const { actor, params, request } = call as unknown as NoteCall<never> & {
          params: { note_id: number }
          request: Parameters<typeof requireUnmodified>[0]
        }
        const { opened, discussion } = await find(call)
        const { note } = noteIn(discussion, params.note_id)
        rules.checkWriter(actor, opened.place, opened.found)
        rules.checkEditor(actor, opened.place, note)
        requireUnmodified(request, note.updated_at)
        await writer.remove(opened, note.id)
      },
    }),
  ]
}

/** A page of what was opened; what is wholly hidden is left out. */
export function pageOf<Item, Entity>(
  { items, found }: Open<Item>,
  { limit }: PageInput,
  entity: (item: Item) => Entity,
): Page<Entity> {
  const shown = items.slice(0, limit).filter((item) => item !== null)
  return new Page(shown.map(entity), { total: found.total, hasMore: items.length > limit })
}
