import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { DiscussionRow, FlatRow } from './entities.ts'
import type { NotesRoom } from './index.ts'
import type { Open } from './opening.ts'
import type { Position } from './positions/position.ts'
import { suggestionsFor, type NewSuggestion } from './suggestions/lines.ts'
import { putSuggestions } from './suggestions/store.ts'
import { resolveThreads } from './resolving.ts'
import {
  deleteNote,
  editNote,
  reply,
  startDiscussion,
  type NewDiscussion,
  type Resolved,
  type Written,
} from './write.ts'

/** The news that somebody wrote or changed a note: event kind `note`. To-dos, mails and webhooks are made of it. */
export interface NoteEvent {
  readonly noteId: number
  readonly action: 'create' | 'update'
  /** It is one of several that were published together, of which a `review` tells. */
  readonly inReview?: true
}

interface Thread {
  readonly noteableId: number
  readonly discussionId: number
}

interface Proposing {
  /** What its text proposes, as `suggestions` has found it. */
  readonly suggestions?: readonly NewSuggestion[] | undefined
}

interface Reply extends Proposing {
  readonly body: string
  readonly createdAt?: Date | undefined
}

type Begun = Omit<NewDiscussion, 'authorId'> & Proposing

type Standing = Pick<DiscussionRow, 'position'>

type Room = Pick<NotesRoom, 'db' | 'events' | 'settings' | 'limit' | 'places'>

/** Notes of people: what is written with each of them, in one transaction. */
export class NoteWriter {
  readonly #room: Room

  constructor(room: Room) {
    this.#room = room
  }

  /** 429 for who has written too many notes in the last minute. */
  checkLimit(actor: Actor): void {
    const { id, username } = userOf(actor)
    const allowed = this.#room.settings.values.notes_create_limit_allowlist_raw
    if (
      allowed !== '' &&
      allowed
        .toLowerCase()
        .split(/[,;\s]+/)
        .includes(username.toLowerCase())
    )
      return
    this.#room.limit.use(id)
  }

  /** What a note at a place in a diff proposes; looked up in git, so before anything is held. */
  suggestions({ place, target }: Open<unknown>, position: unknown, text: string): Promise<NewSuggestion[]> {
    if (target.kind !== 'MergeRequest' || position == null) return Promise.resolve([])
    const repository = this.#room.places.of(place as ProjectSubject)
    return suggestionsFor(repository, position as Position, text)
  }

  async start(actor: Actor, opened: Open<unknown>, note: Omit<NewDiscussion, 'authorId'>): Promise<Written> {
    const { anchor } = note
    const suggestions = await this.suggestions(
      opened,
      anchor?.current?.position ?? anchor?.position,
      note.body,
    )
    return this.#room.db.transaction((tx) => this.startIn(tx, actor, opened, { ...note, suggestions }))
  }

  async startIn(
    tx: Tx,
    actor: Actor,
    { target }: Open<unknown>,
    note: Begun,
    news: Omit<NoteEvent, 'noteId' | 'action'> = {},
  ): Promise<Written> {
    const { id: authorId } = userOf(actor)
    const written = await startDiscussion(tx, target, { ...note, authorId })
    if (note.suggestions?.length) await putSuggestions(tx, written.noteId, note.suggestions)
    await this.#announce(tx, target.projectId, authorId, {
      ...news,
      noteId: written.noteId,
      action: 'create',
    })
    return written
  }

  async reply(actor: Actor, opened: Open<unknown>, to: Thread & Standing, note: Reply): Promise<Written> {
    const suggestions = await this.suggestions(opened, to.position, note.body)
    return this.#room.db.transaction((tx) => this.replyIn(tx, actor, opened, to, { ...note, suggestions }))
  }

  async replyIn(
    tx: Tx,
    actor: Actor,
    { target }: Open<unknown>,
    to: Thread,
    note: Reply,
    news: Omit<NoteEvent, 'noteId' | 'action'> = {},
  ): Promise<Written> {
    const { id: authorId } = userOf(actor)
    const written = await reply(tx, to, { ...note, authorId })
    if (note.suggestions?.length) await putSuggestions(tx, written.noteId, note.suggestions)
    await this.#announce(tx, target.projectId, authorId, {
      ...news,
      noteId: written.noteId,
      action: 'create',
    })
    return written
  }

  async edit(
    actor: Actor,
    opened: Open<unknown>,
    { note: { id: noteId }, position }: FlatRow,
    body: string,
  ): Promise<void> {
    const { id: by } = userOf(actor)
    const { target, found } = opened
    const suggestions = await this.suggestions(opened, position, body)
    return this.#room.db.transaction(async (tx) => {
      await editNote(tx, found.noteable_id!, noteId, { body, by })
      if (position !== null) await putSuggestions(tx, noteId, suggestions)
      await this.#announce(tx, target.projectId, by, { noteId, action: 'update' })
    })
  }

  remove({ found }: Open<unknown>, noteId: number): Promise<void> {
    return this.#room.db.transaction((tx) => deleteNote(tx, found.noteable_id!, noteId))
  }

  resolve(actor: Actor, opened: Open<unknown>, which: Resolved, resolved: boolean): Promise<void> {
    const by = userOf(actor).id
    return this.#room.db.transaction((tx) => this.resolveIn(tx, by, opened, which, resolved))
  }

  async resolveIn(
    tx: Tx,
    by: number,
    {
      target,
      found,
    }: Pick<Open<unknown>, 'target'> & { readonly found: { readonly noteable_id: number | null } },
    which: Resolved,
    resolved: boolean,
  ): Promise<void> {
    const { events } = this.#room
    const on = { target, noteableId: found.noteable_id! }
    await resolveThreads(events, tx, on, which, { resolved, by })
  }

  async #announce(tx: Tx, projectId: number | null, userId: number, payload: NoteEvent): Promise<void> {
    await this.#room.events.announce(tx, 'note', { projectId, userId, payload })
  }
}
