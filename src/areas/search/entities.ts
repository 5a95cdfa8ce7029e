import {
  Either,
  Fields,
  Flag,
  Id,
  Int,
  Nullable,
  Text,
  Timestamp,
  type Static,
} from '../../kernel/endpoint/index.ts'
import { Issue } from '../issues/index.ts'
import { ListedMergeRequest } from '../merge-requests/index.ts'
import { Milestone } from '../milestones/index.ts'
import { BasicProject } from '../projects/index.ts'
import { Commit } from '../repository/index.ts'
import { Snippet } from '../snippets/index.ts'
import { basicUser, BasicUser, type BasicUserRow } from '../users/index.ts'
import { FoundBlob } from '../wikis/index.ts'

const FoundNote = Fields({
  id: Id(),
  type: Nullable(Text()),
  body: Text(),
  attachment: Nullable(Text()),
  author: BasicUser,
  created_at: Timestamp(),
  updated_at: Timestamp(),
  system: Flag(),
  noteable_id: Nullable(Id()),
  noteable_type: Text(),
  project_id: Id(),
  noteable_iid: Nullable(Int()),
  resolvable: Flag(),
  confidential: Flag(),
  internal: Flag(),
})

export interface NoteRow {
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

export function foundNote(row: NoteRow, externalUrl: string): Static<typeof FoundNote> {
  return {
    ...row,
    attachment: null,
    author: basicUser(row.author, externalUrl),
    system: false,
    confidential: row.internal,
  }
}

/** What scopes answer with; the most telling first, as the first one that fits is taken. */
export const Found = Either(
  ListedMergeRequest,
  Issue,
  BasicProject,
  Snippet,
  Milestone,
  Commit,
  FoundBlob,
  FoundNote,
  BasicUser,
)
