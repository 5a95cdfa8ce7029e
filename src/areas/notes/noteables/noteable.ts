import type { RawBuilder } from 'kysely'
import type { Actor, GroupSubject, ProjectSubject } from '../../../access/index.ts'
import type { Plan } from '../../../kernel/config/index.ts'
import type { SubjectKind, TSchema } from '../../../kernel/endpoint/index.ts'

/** What can be discussed, by its name on the wire. */
export type NoteableKind = 'Issue' | 'MergeRequest' | 'Epic' | 'Snippet' | 'Commit'

/** Where a noteable lies: a project, or a group. */
export type Place = ProjectSubject | GroupSubject

/** A noteable as a request finds it: null where it has no such thing. */
export interface Found {
  /** Null of a commit. */
  readonly target_id: number | null
  readonly iid: number | null
  readonly sha: string | null
  readonly author_id: number | null
  readonly locked: boolean
}

/** One row of the table of noteables: how a kind is found, who reads and writes, and what its notes can be. */
export interface Noteable {
  readonly kind: NoteableKind
  readonly on: SubjectKind
  /** Of the noteable: `/projects/:id/snippets/:snippet_id`. */
  readonly path: string
  /** The name in the path that tells which one. */
  readonly param: string
  readonly paramType: TSchema
  /** As in `List the discussions of a snippet`. */
  readonly called: string
  readonly plan?: Plan
  /**
   * A select of the columns of `Found`, for the caller's eyes only, beside `subject`, `actor` and `membership`; of a
   * commit by its full id.
   */
  readonly find: (named: string | number) => RawBuilder<unknown>
  /** Whether notes of this kind in the place may be read at all. */
  readonly mayRead: (actor: Actor, place: Place) => boolean
  /** Threads can be resolved. */
  readonly resolvable: boolean
  /** Notes can be internal. */
  readonly internal: boolean
  /** A single comment can be answered. */
  readonly answers: boolean
  /** Has the flat list of notes besides the discussions. */
  readonly flat: boolean
  /** Notes can stand at lines of a diff. */
  readonly diffs: boolean
}
