import {
  Fields,
  Flag,
  Id,
  Int,
  Nullable,
  Optional,
  Text,
  Timestamp,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { loneNote, Note, type LoneNoteRow } from '../notes/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'

const PushData = Fields({
  commit_count: Int(),
  action: Text({ description: 'created, removed or pushed' }),
  ref_type: Text({ description: 'branch or tag' }),
  commit_from: Nullable(Text()),
  commit_to: Nullable(Text()),
  ref: Nullable(Text()),
  commit_title: Nullable(Text()),
  ref_count: Nullable(Int({ description: 'Of a push of many refs: how many of this kind' })),
})
export type PushData = Static<typeof PushData>

const WikiPage = Fields({ format: Text(), slug: Text(), title: Text() })

export const Event = Fields({
  id: Id(),
  project_id: Id(),
  action_name: Text(),
  target_id: Nullable(Id()),
  target_iid: Nullable(Int()),
  target_type: Nullable(Text()),
  author_id: Id(),
  target_title: Nullable(Text()),
  created_at: Timestamp(),
  author: BasicUser,
  author_username: Text(),
  imported: Flag(),
  imported_from: Text(),
  push_data: Optional(PushData),
  note: Optional(Note),
  wiki_page: Optional(WikiPage),
})

export interface WikiPageData extends Static<typeof WikiPage> {
  readonly pageId: number
}

type NoteRow = Omit<LoneNoteRow, 'author' | `noteable_${'id' | 'type' | 'iid'}` | 'project_id'>

export interface ActivityRow {
  readonly id: number
  readonly project_id: number
  readonly action: Action
  readonly kind: string
  readonly target_id: number | null
  readonly target_iid: number | null
  readonly title: string | null
  readonly details: unknown
  readonly note: NoteRow | null
  readonly author: BasicUserRow
  readonly created_at: string
}

export const actions = [
  'created',
  'updated',
  'closed',
  'reopened',
  'pushed',
  'commented',
  'merged',
  'joined',
  'left',
  'destroyed',
  'expired',
  'approved',
] as const
export type Action = (typeof actions)[number]

/** As answers call them, where that is another word than filters have for it. */
const names: Readonly<Partial<Record<Action, string>>> = {
  commented: 'commented on',
  merged: 'accepted',
  expired: 'removed due to membership expiration from',
}
const pushes: Readonly<Record<string, string>> = {
  created: 'pushed new',
  removed: 'deleted',
  pushed: 'pushed to',
}

/** What is opened where other things are created. */
const opened: ReadonlySet<string> = new Set(['Issue', 'MergeRequest', 'Milestone'])

function nameOf({ action, kind, details }: ActivityRow): string {
  if (kind === 'Push') return pushes[(details as PushData).action] ?? 'pushed to'
  if (action === 'created' && opened.has(kind)) return 'opened'
  return names[action] ?? action
}

function targetOf(row: ActivityRow): { id: number | null; iid: number | null; type: string | null } {
  const { kind, note } = row
  if (note !== null) return { id: note.id, iid: note.id, type: note.type ?? 'Note' }
  switch (kind) {
    case 'Push':
      return { id: null, iid: null, type: null }
    case 'Project':
      return { id: row.project_id, iid: row.project_id, type: kind }
    case 'WikiPage':
      return { id: row.target_id, iid: row.target_id, type: 'WikiPage::Meta' }
    default:
      return { id: row.target_id, iid: row.target_iid, type: kind }
  }
}

export function event(row: ActivityRow, externalUrl: string): Static<typeof Event> {
  const author = basicUser(row.author, externalUrl)
  const { id, iid, type } = targetOf(row)
  const { note, kind } = row
  return {
    id: row.id,
    project_id: row.project_id,
    action_name: nameOf(row),
    target_id: id,
    target_iid: iid,
    target_type: type,
    author_id: author.id,
    target_title: row.title,
    created_at: row.created_at,
    author,
    author_username: author.username,
    imported: false,
    imported_from: 'none',
    ...(kind === 'Push' && { push_data: row.details as PushData }),
    ...(kind === 'WikiPage' && { wiki_page: row.details as WikiPageData }),
    ...(note !== null && {
      note: loneNote(
        {
          ...note,
          author: row.author,
          noteable_id: row.target_id,
          noteable_type: kind,
          project_id: row.project_id,
          noteable_iid: row.target_iid,
        },
        externalUrl,
      ),
    }),
  }
}
