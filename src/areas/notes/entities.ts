import {
  Fields,
  Flag,
  Float,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'
import type { SuggestionRow } from './suggestions/store.ts'
import type { Found, Noteable, Place } from './noteables/noteable.ts'

const LineEnd = Fields({
  line_code: Nullable(Text()),
  type: Nullable(Text()),
  old_line: Nullable(Int()),
  new_line: Nullable(Int()),
})

export const Position = Fields({
  base_sha: Nullable(Text()),
  start_sha: Nullable(Text()),
  head_sha: Nullable(Text()),
  old_path: Nullable(Text()),
  new_path: Nullable(Text()),
  position_type: Text({ description: '`text` or `image`' }),
  old_line: Optional(Nullable(Int())),
  new_line: Optional(Nullable(Int())),
  line_range: Optional(Nullable(Fields({ start: LineEnd, end: LineEnd }))),
  width: Optional(Nullable(Int())),
  height: Optional(Nullable(Int())),
  x: Optional(Nullable(Float())),
  y: Optional(Nullable(Float())),
})
export type PositionEntity = Static<typeof Position>

export const Suggestion = Fields({
  id: Id(),
  from_line: Int(),
  to_line: Int(),
  appliable: Flag(),
  applied: Flag(),
  from_content: Text(),
  to_content: Text(),
})

export const Note = Fields({
  id: Id(),
  type: Nullable(Text({ description: '`DiscussionNote`, `DiffNote` or null for a single comment' })),
  body: Text(),
  attachment: Nullable(Text({ description: 'Always null' })),
  author: BasicUser,
  created_at: Timestamp(),
  updated_at: Timestamp(),
  system: Flag(),
  noteable_id: Nullable(Id()),
  noteable_type: Text(),
  project_id: Nullable(Id()),
  noteable_iid: Nullable(Int()),
  commit_id: Optional(Nullable(Text())),
  position: Optional(Position),
  resolvable: Flag(),
  resolved: Optional(Flag()),
  resolved_by: Optional(Nullable(BasicUser)),
  resolved_at: Optional(Nullable(Timestamp())),
  suggestions: Optional(ListOf(Suggestion)),
  confidential: Flag(),
  internal: Flag(),
  imported: Flag(),
  imported_from: Text(),
  commands_changes: Json({ description: 'What the quick actions of this request changed' }),
})

export const Discussion = Fields({
  id: Text({ description: '40 hex digits' }),
  individual_note: Flag(),
  notes: ListOf(Note),
})

export interface NoteRow {
  readonly id: number
  readonly body: string
  readonly author: BasicUserRow | null
  readonly system: boolean
  readonly action: string | null
  readonly resolvable: boolean
  readonly resolved_at: string | null
  readonly resolved_by: BasicUserRow | null
  readonly created_at: string
  readonly updated_at: string
  /** Null where the note stands at no line. */
  readonly suggestions: readonly SuggestionRow[] | null
}

interface DiscussionFields {
  readonly id: number
  readonly key: string
  readonly individual: boolean
  readonly internal: boolean
  readonly position: PositionEntity | null
  readonly commit_id: string | null
}

export interface DiscussionRow extends DiscussionFields {
  readonly notes: readonly NoteRow[]
}

/** A note with what it takes from its discussion. */
export interface FlatRow extends DiscussionFields {
  readonly note: NoteRow
}

/** Whose notes are shown, and to whom. */
export interface Shown {
  readonly noteable: Noteable
  readonly place: Place
  readonly found: Pick<Found, 'target_id' | 'iid'>
  readonly externalUrl: string
}

/** Stands for people who are gone. */
const ghost: BasicUserRow = {
  id: 0,
  username: 'ghost',
  public_email: null,
  avatar: null,
  name: 'Ghost User',
  state: 'active',
}

/** `position`: of the note, which says where its line is now. */
export function suggestionEntity(
  { above, below, ...row }: SuggestionRow,
  { new_line: line }: { readonly new_line?: number | null | undefined },
): Static<typeof Suggestion> {
  return {
    id: row.id,
    from_line: (line ?? 0) - above,
    to_line: (line ?? 0) + below,
    appliable: row.appliable,
    applied: row.applied,
    from_content: row.from_content,
    to_content: row.to_content,
  }
}

export function noteEntity(
  { note, individual, internal, position, commit_id }: FlatRow,
  { noteable, place, found, externalUrl }: Shown,
  changes: object = {},
): Static<typeof Note> {
  const inDiff = position !== null && noteable.diffs
  return {
    id: note.id,
    type: inDiff ? 'DiffNote' : individual ? null : 'DiscussionNote',
    body: note.body,
    attachment: null,
    author: basicUser(note.author ?? ghost, externalUrl),
    created_at: note.created_at,
    updated_at: note.updated_at,
    system: note.system,
    noteable_id: found.target_id,
    noteable_type: noteable.kind,
    project_id: place.kind === 'project' ? place.id : null,
    noteable_iid: found.iid,
    ...(inDiff && noteable.resolvable && { commit_id }),
    ...(inDiff && { position }),
    resolvable: note.resolvable,
    ...(note.resolvable && {
      resolved: note.resolved_at !== null,
      resolved_by: note.resolved_by && basicUser(note.resolved_by, externalUrl),
      resolved_at: note.resolved_at,
    }),
    ...(inDiff &&
      noteable.resolvable && {
        suggestions: (note.suggestions ?? []).map((row) => suggestionEntity(row, position)),
      }),
    confidential: internal,
    internal,
    imported: false,
    imported_from: 'none',
    commands_changes: changes,
  }
}

/** A note where it stands alone, away from its thread. */
export interface LoneNoteRow {
  readonly id: number
  readonly type: string | null
  readonly body: string
  readonly author: BasicUserRow
  readonly created_at: string
  readonly updated_at: string
  readonly noteable_id: number | null
  readonly noteable_type: string
  readonly project_id: number
  readonly noteable_iid: number | null
  readonly resolvable: boolean
  readonly internal: boolean
}

export function loneNote(row: LoneNoteRow, externalUrl: string): Static<typeof Note> {
  return {
    ...row,
    attachment: null,
    author: basicUser(row.author, externalUrl),
    system: false,
    confidential: row.internal,
    imported: false,
    imported_from: 'none',
    commands_changes: {},
  }
}

export function discussionEntity(
  { notes, ...fields }: DiscussionRow,
  shown: Shown,
  changes: object = {},
): Static<typeof Discussion> {
  return {
    id: fields.key,
    individual_note: fields.individual,
    notes: notes.map((note) => noteEntity({ ...fields, note }, shown, changes)),
  }
}
