import type { ProjectSubject } from '../../access/index.ts'
import type { Database, Notifications } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { SpamGuard } from '../spam/index.ts'
import type { Commands } from './commands.ts'
import { draftEndpoints } from './drafts/routes.ts'
import { awardables, noteables } from './noteables/kinds.ts'
import { awardEndpoints } from './routes/awards.ts'
import { followPositions } from './positions/follow.ts'
import { commitCommentEndpoints } from './routes/commit-comments.ts'
import { discussionEndpoints } from './routes/discussions.ts'
import { noteEndpoints } from './routes/notes.ts'
import { streamEndpoint } from './routes/stream.ts'
import { forgetDeletedNotes, NoteStreams } from './streams/index.ts'
import { suggestionEndpoints } from './suggestions/routes.ts'
import { NoteWriter } from './writer.ts'

export { loneNote, Note, type LoneNoteRow } from './entities.ts'
export { addSystemNotes, type SystemAction, type SystemNote } from './system.ts'
export { emojiNamed, toggleAward, type EmojiEvent } from './awards.ts'
export { removeNotesOf } from './write.ts'
export { isEditor, isResolver, isWriter } from './rules.ts'
export type { Position, RangeEndOf } from './positions/position.ts'
export { anchorOfBrought, bringNote, type BroughtNote, type BroughtPlace } from './brought.ts'
export type { Command, Commands, CommandTarget, Outcome, Spoken } from './commands.ts'
export type { NoteableKind } from './noteables/noteable.ts'
export type { ReviewEvent } from './drafts/publish.ts'
export { continueThreads, threadsToContinue, type ContinuedThread } from './continuing.ts'
export type { ThreadsResolvedEvent } from './resolving.ts'
export type { NoteEvent } from './writer.ts'

/** What this area is built from. */
export interface NoteServices {
  readonly db: Database
  readonly notifications: Notifications
  readonly events: Events
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly externalUrl: () => string
  readonly spam: SpamGuard
  /** What texts command to be done. */
  readonly commands: Commands
}

/** What its endpoints share. */
export interface NotesRoom extends NoteServices {
  readonly writer: NoteWriter
  /** Notes a minute and user. */
  readonly limit: RateLimit
  readonly streams: NoteStreams
}

const forgetting = 'notes:forget-deleted'

/** What is looked at of the news of merge requests. */
interface RequestEvent {
  readonly mergeRequestId: number
  readonly action: string
}

/** Discussions and notes of all that can be discussed. */
export function notes(services: NoteServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { settings } = services
  const limit = new RateLimit(() => settings.values.notes_create_limit, 60)
  const room: NotesRoom = {
    ...services,
    limit,
    streams: new NoteStreams(services),
    writer: new NoteWriter({ ...services, limit }),
  }
  services.events.subscribe<RequestEvent>(
    'merge_request',
    'notes:follow-positions',
    async ({ payload, userId }) => {
      if (payload.action === 'push' || payload.action === 'retarget')
        await followPositions(room, payload.mergeRequestId, userId)
    },
  )
  return {
    endpoints: [
      ...noteables.flatMap((noteable) => [
        streamEndpoint(room, noteable),
        ...discussionEndpoints(room, noteable),
        ...(noteable.flat ? noteEndpoints(room, noteable) : []),
      ]),
      ...draftEndpoints(room),
      ...suggestionEndpoints(room),
      ...commitCommentEndpoints(room),
      ...awardables.flatMap((noteable) => awardEndpoints(room, noteable)),
    ],
    tasks: [{ name: forgetting, run: () => forgetDeletedNotes(services.db) }],
    schedules: [{ task: forgetting, pattern: '23 4 * * *' }],
    start: async () => room.streams,
  }
}
