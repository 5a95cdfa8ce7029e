import { Fields, Flag, Id, Nullable, Text, type Static } from '../../../kernel/endpoint/index.ts'
import { Position } from '../entities.ts'
import type { Position as StoredPosition } from '../positions/position.ts'

export const Draft = Fields({
  id: Id(),
  author_id: Id(),
  merge_request_id: Id(),
  resolve_discussion: Flag(),
  discussion_id: Nullable(Text({ description: 'Of the thread that it answers' })),
  note: Text(),
  commit_id: Nullable(Text()),
  line_code: Nullable(Text()),
  position: Position,
})

export interface DraftRow {
  readonly id: number
  readonly author_id: number
  readonly merge_request_id: number
  readonly resolve_discussion: boolean
  /** The thread that it answers: its id in the database and the one that clients know. */
  readonly thread_id: number | null
  readonly discussion_id: string | null
  readonly note: string
  readonly commit_id: string | null
  readonly line_code: string | null
  readonly position: StoredPosition | null
}

/** As clients get it of a draft that stands at no line. */
const nowhere = {
  base_sha: null,
  start_sha: null,
  head_sha: null,
  old_path: null,
  new_path: null,
  position_type: 'text',
  old_line: null,
  new_line: null,
  line_range: null,
}

export function draftEntity(row: DraftRow): Static<typeof Draft> {
  return { ...row, position: row.position ?? nowhere }
}
