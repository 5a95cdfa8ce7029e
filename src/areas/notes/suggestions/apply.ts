import {
  commitAddress,
  find,
  may,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { commitFiles, type Oid } from '../../../git/index.ts'
import { badRequest, forbidden, notFound, type ApiError } from '../../../kernel/errors/index.ts'
import { rulesOf } from '../../protected-branches/index.ts'
import {
  commitChange,
  committerOf,
  openTarget,
  requirePush,
  signatures,
  type Writer,
} from '../../repository/index.ts'
import type { NotesRoom } from '../index.ts'
import { mayIn } from '../rules.ts'
import { touchNotes } from '../write.ts'
import { defaultTemplate, suggestionMessage } from './message.ts'
import { rewrite } from './rewrite.ts'
import { findSuggestions, markApplied, type AppliedRow } from './store.ts'

const missing = (): ApiError => notFound('Suggestion')

/** Commits what suggestions propose to the branch of their merge request: all of them in one commit, or none. */
export async function applySuggestions(
  room: NotesRoom,
  actor: Actor,
  ids: readonly number[],
  message: string | undefined,
): Promise<AppliedRow[]> {
  const rows = await findSuggestions(room.db.reader, ids)
  const [first] = rows
  if (first === undefined || rows.length !== new Set(ids).size) throw missing()
  const projects = await projectsOf(room, actor, rows)
  const target = projects.get(first.project_id)!
  const writer = await writerTo(room, actor, target, first)
  for (const row of rows) checkAppliable(row, first)

  const place = await openTarget(room, writer, { branch: first.source_branch })
  const { repository, ref, start } = place
  if (start === undefined) throw branchGone()
  const actions = await rewrite(repository, start, rows)
  const authors = authorsOf(room, rows)
  const author = authors.length === 1 ? authors[0]! : committerOf(room, userOf(actor))
  const text = suggestionMessage(message ?? (first.message?.trim() ? first.message : defaultTemplate), {
    user: userOf(actor),
    project: target,
    branch: first.source_branch,
    files: actions.map(({ path }) => path),
    suggestions: rows.length,
    coAuthors: authors.filter(({ email }) => email !== author.email),
  })
  const change = { branch: ref, start, actions, message: text, ...signatures(room, actor, author) }
  const commit = await commitChange(room, writer, place, () => commitFiles(repository, change))
  await settle(room, actor, target, rows, commit.oid)
  return rows.map((row) => ({ ...row, applied: true }))
}

/** The projects of the requests, whose notes the caller reads; to others the suggestions are not there. */
async function projectsOf(
  { db }: NotesRoom,
  actor: Actor,
  rows: readonly AppliedRow[],
): Promise<Map<number, ProjectSubject>> {
  const found = new Map<number, ProjectSubject>()
  for (const { project_id: id, internal } of rows) {
    const project = found.get(id) ?? (await find<ProjectSubject>(db.reader, projectKind, actor, String(id)))
    if (project === undefined || !may(actor, 'read_merge_request', project)) throw missing()
    if (internal && !mayIn(actor, 'create_internal_note', project)) throw missing()
    found.set(id, project)
  }
  return found
}

/** Who may push to the source branch may apply what is suggested for it. */
async function writerTo(
  { db }: NotesRoom,
  actor: Actor,
  target: ProjectSubject,
  { source_project_id: id, source_branch: branch }: AppliedRow,
): Promise<Writer> {
  if (id === null) throw branchGone()
  const project =
    id === target.id ? target : await find<ProjectSubject>(db.reader, projectKind, actor, String(id))
  if (project === undefined) throw forbidden()
  const writer = { actor, project, rules: await rulesOf(db.reader, id, userOf(actor).id) }
  await requirePush({ db }, writer, branch)
  return writer
}

const branchGone = (): ApiError => badRequest('The source branch of the merge request is gone')

function checkAppliable(row: AppliedRow, first: AppliedRow): void {
  if (row.request_id !== first.request_id)
    throw badRequest('Suggestions of several merge requests cannot be applied together')
  if (row.applied) throw badRequest('A suggestion was applied before')
  if (row.state !== 'opened') throw badRequest(`The merge request is ${row.state}`)
  if (row.source_gone) throw branchGone()
  if (row.outdated) throw badRequest('The lines of a suggestion were changed since it was made')
  if (row.from_content === row.to_content) throw badRequest('A suggestion is what the file has there already')
}

interface Author {
  readonly name: string
  readonly email: string
}

/** Those who proposed it, in the order of their suggestions. */
function authorsOf(room: NotesRoom, rows: readonly AppliedRow[]): Author[] {
  const authors = new Map<number, Author>()
  for (const { author } of rows) {
    if (author !== null) authors.set(author.id, { name: author.name, email: commitAddress(room, author) })
  }
  return [...authors.values()]
}

/** The suggestions are on record as applied, and their threads resolved by who may do that. */
async function settle(
  { db, writer }: NotesRoom,
  actor: Actor,
  project: ProjectSubject,
  rows: readonly AppliedRow[],
  commit: Oid,
): Promise<void> {
  const [{ request_id: requestId, request_author_id: authorId, noteable_id: noteableId }] = rows as [
    AppliedRow,
  ]
  const target = { kind: 'MergeRequest', id: requestId, projectId: project.id, namespaceId: null } as const
  const resolves = authorId === userOf(actor).id || mayIn(actor, 'resolve_note', project)
  await db.transaction(async (tx) => {
    await markApplied(
      tx,
      rows.map(({ id }) => id),
      commit,
    )
    await touchNotes(
      tx,
      noteableId,
      rows.map(({ note_id: id }) => id),
    )
    if (!resolves) return
    for (const discussionId of new Set(rows.map((row) => row.discussion_id)))
      await writer.resolveIn(
        tx,
        actor,
        { target, found: { noteable_id: noteableId } },
        { discussionId },
        true,
      )
  })
}
