import { endpoint, type ProjectSubject } from '../../../access/index.ts'
import { findCommit, parseOid, zeroOid } from '../../../git/index.ts'
import {
  Fields,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
  type Endpoint,
  type PageInput,
} from '../../../kernel/endpoint/index.ts'
import { BasicUser } from '../../users/index.ts'
import { noteEntity, type FlatRow, type Shown } from '../entities.ts'
import type { NotesRoom } from '../index.ts'
import { commitNoteable } from '../noteables/kinds.ts'
import { namedBy, noteIn, open, type NoteCall } from '../opening.ts'
import { anchorOf } from '../positions/anchor.ts'
import { Diff } from '../positions/diff.ts'
import type { SentPosition } from '../positions/position.ts'
import * as read from '../read.ts'
import * as rules from '../rules.ts'
import { pageOf } from './discussions.ts'

const Comment = Fields({
  note: Text(),
  path: Nullable(Text()),
  line: Nullable(Int()),
  line_type: Nullable(OneOf('new', 'old')),
  author: BasicUser,
  created_at: Timestamp(),
})

const commit = { ...commitNoteable, path: '/projects/:id/repository/commits/:sha', param: 'sha' }
const base = `${commit.path}/comments`
const oldestFirst = { sort: 'asc', order_by: 'created_at', activity_filter: 'only_comments' } as const

/** Comments on commits as clients of old know them: the same notes, seen from the lines. */
export function commitCommentEndpoints(room: NotesRoom): Endpoint[] {
  const { db, writer, places } = room
  const about = { on: commit.on, may: 'read_code', refuses: { 404: 'There is no such commit' } } as const

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: base,
      summary: 'List the comments on a commit',
      anonymous: true,
      paged: true,
      params: Fields({ sha: Text() }),
      answers: ListOf(Comment),
      read: ({ params, page }) => read.notes(commit, namedBy(commit, params), oldestFirst, page),
      async handle(call) {
        const { page } = call as { page: PageInput }
        const opened = await open(room, commit, call as never, (named) =>
          read.notes(commit, named, oldestFirst, page),
        )
        return pageOf(opened, page, (row: FlatRow) => comment(row, opened.shown))
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: base,
      summary: 'Comment on a commit, or on a line of its diff',
      params: Fields({
        sha: Text(),
        note: Text(),
        path: Optional(Text({ description: 'A file that the commit changes' })),
        line: Optional(Int()),
        line_type: OneOf(['new', 'old'], { default: 'new' }),
      }),
      answers: Comment,
      read: ({ params }) => read.alone(commit, namedBy(commit, params)),
      async handle(call) {
        const { actor, params } = call as unknown as NoteCall<never> & {
          params: { note: string; path?: string; line?: number; line_type: 'new' | 'old' }
        }
        const opened = await open(room, commit, call as never, (named) => read.alone(commit, named))
        rules.checkWriter(actor, opened.place, opened.found)
        rules.checkBody(params.note)
        const { path, line, line_type: type } = params
        const anchor =
          path === undefined || line === undefined
            ? undefined
            : await anchorOf(
                room,
                opened,
                await positionAt(opened.place as ProjectSubject, opened.target.sha!, path, line, type),
              )
        writer.checkLimit(actor)
        const note = { body: params.note, individual: anchor === undefined, anchor }
        const { discussionId, noteId } = await writer.start(actor, opened, note)
        const made = await read.discussionById(db.reader, actor, discussionId)
        return comment(noteIn(made!, noteId), opened.shown)
      },
    }),
  ]

  /** Of an unchanged line both numbers are found out. */
  async function positionAt(
    place: ProjectSubject,
    sha: string,
    path: string,
    line: number,
    type: 'new' | 'old',
  ): Promise<SentPosition> {
    const repository = places.of(place)
    const oid = parseOid(sha)!
    const parent = (await findCommit(repository, oid))?.parents[0] ?? zeroOid
    const diff = new Diff(repository, parent, oid)
    const file =
      type === 'new'
        ? await diff.byNewPath(path)
        : ((await diff.byOldPath(path)) ?? (await diff.byNewPath(path)))
    const lines = file && (await diff.lines(file))
    const other = type === 'new' ? lines?.oldOf(line) : lines?.newOf(line)
    const [old, now] = type === 'new' ? [other ?? null, line] : [line, other ?? null]
    return {
      base_sha: parent,
      start_sha: parent,
      head_sha: sha,
      position_type: 'text',
      old_path: file?.oldPath ?? path,
      new_path: file?.path ?? path,
      old_line: old,
      new_line: now,
    }
  }
}

function comment(row: FlatRow, shown: Shown): Record<string, unknown> {
  const { author, created_at } = noteEntity(row, shown)
  const { position } = row
  const isNew = position?.new_line != null
  return {
    note: row.note.body,
    path: position === null ? null : isNew ? position.new_path : position.old_path,
    line: (isNew ? position.new_line : position?.old_line) ?? null,
    line_type: position === null ? null : isNew ? 'new' : 'old',
    author,
    created_at,
  }
}
