import { endpoint, isAdministrator, userOf } from '../../../access/index.ts'
import { notFound, recordNotFound, unauthorized } from '../../../kernel/errors/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Page,
  Text,
  type Endpoint,
  type PageInput,
} from '../../../kernel/endpoint/index.ts'
import { finishTodos } from '../../todos/index.ts'
import * as awards from '../awards.ts'
import type { Awarded, AwardableKind } from '../awards.ts'
import type { NotesRoom } from '../index.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { aboutOf, namedBy, open, type NoteCall, type Open } from '../opening.ts'
import * as read from '../read.ts'
import * as rules from '../rules.ts'

/** Reactions to one kind of noteable, and to its notes. */
export function awardEndpoints(room: NotesRoom, noteable: Noteable): Endpoint[] {
  return [
    ...awardsOf(room, noteable, noteable.path, noteable.called),
    ...awardsOf(room, noteable, `${noteable.path}/notes/:note_id`, `a note of ${noteable.called}`),
  ]
}

interface Awardable extends Awarded {
  readonly opened: Open<unknown>
}

function awardsOf(room: NotesRoom, noteable: Noteable, path: string, called: string): Endpoint[] {
  const { db, externalUrl } = room
  const ofNote = path.endsWith('/:note_id')
  const base = `${path}/award_emoji`
  const id = { [noteable.param]: noteable.paramType, ...(ofNote && { note_id: Id() }) }
  const one = (params: object) => (named: string | number) =>
    ofNote
      ? read.note(noteable, named, (params as { note_id: number }).note_id)
      : (read.alone(noteable, named) as ReturnType<typeof read.note>)
  const about = {
    ...aboutOf(noteable),
    read: ({ params }: { params: object }) => one(params)(namedBy(noteable, params)),
  }
  /** Notes of the service have no reactions. */
  const find = async (call: NoteCall<never>): Promise<Awardable> => {
    const opened = await open(room, noteable, call, one(call.params))
    const projectId = opened.place.kind === 'project' ? opened.place.id : null
    if (!ofNote)
      return { opened, projectId, kind: noteable.kind as AwardableKind, id: opened.found.target_id! }
    const [row] = opened.items
    if (row == null || row.note.system) throw recordNotFound()
    if (row.hidden) throw notFound('Note')
    return { opened, projectId, kind: 'Note', id: row.note.id }
  }
  const shown = async ({ kind, id: of }: Awardable, awardId: number) => {
    const row = await awards.findAward(db.reader, kind, of, awardId)
    if (row === undefined) throw notFound('Award Emoji')
    return row
  }

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: base,
      summary: `List the reactions to ${called}`,
      paged: true,
      params: Fields(id),
      answers: ListOf(awards.Award),
      async handle(call) {
        const { page } = call as { page: PageInput }
        const { kind, id: of } = await find(call as never)
        const { rows, total } = await awards.listAwards(db.reader, kind, of, page)
        return new Page(
          rows.map((row) => awards.awardEntity(row, externalUrl())),
          { total, hasMore: total > page.offset + page.limit },
        )
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: `${base}/:award_id`,
      summary: `Get a reaction to ${called}`,
      params: Fields({ ...id, award_id: Id() }),
      answers: awards.Award,
      async handle(call) {
        const { params } = call as unknown as { params: { award_id: number } }
        return awards.awardEntity(await shown(await find(call as never), params.award_id), externalUrl())
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: base,
      summary: `React to ${called}`,
      params: Fields({ ...id, name: Text({ description: 'Of an emoji, without colons' }) }),
      answers: awards.Award,
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & { params: { name: string } }
        const found = await find(call as never)
        rules.checkWriter(actor, found.opened.place, found.opened.found)
        const name = awards.emojiNamed(params.name)
        const made = await db.transaction(async (tx) => {
          const { id: userId } = userOf(actor)
          const { kind, id: targetId } = found.opened.target
          if (kind !== 'Commit') await finishTodos(tx, { kind, id: targetId }, [userId])
          return awards.addAward(room, tx, found, { userId, name })
        })
        return awards.awardEntity(await shown(found, made), externalUrl())
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: `${base}/:award_id`,
      summary: `Take back a reaction to ${called}`,
      params: Fields({ ...id, award_id: Id() }),
      answers: null,
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & { params: { award_id: number } }
        const found = await find(call as never)
        const row = await shown(found, params.award_id)
        const { id: by } = userOf(actor)
        if (row.user.id !== by && !isAdministrator(actor)) throw unauthorized()
        rules.checkWriter(actor, found.opened.place, found.opened.found)
        await db.transaction((tx) => awards.removeAward(room, tx, found, { id: row.id, by }))
      },
    }),
  ]
}
