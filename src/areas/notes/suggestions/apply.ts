import {
  commitAddress,
  find,
  may,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { commitFiles, isAncestor, type PreparedChange } from '../../../git/index.ts'
import { ApiError, badRequest, forbidden, notFound } from '../../../kernel/errors/index.ts'
import { rulesOf } from '../../protected-branches/index.ts'
import {
  commitChange,
  committerOf,
  openTarget,
  requirePush,
  signatures,
  type WritePlace,
  type Writer,
} from '../../repository/index.ts'
import type { NotesRoom } from '../index.ts'
import { mayIn } from '../rules.ts'
import { beginAttempt, dropAttempt, finishAttempts, settle, type Attempt } from './attempts.ts'
import { defaultTemplate, suggestionMessage } from './message.ts'
import { rewrite } from './rewrite.ts'
import { findSuggestions, type AppliedRow } from './store.ts'

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
  // Somebody applied them, and the service went down before it was on record.
  const done = await finishAttempts(room, { suggestionIds: ids }, (commit) =>
    isAncestor(repository, commit, start),
  )
  if (done) throw appliedBefore()
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
  const attempt = attemptOf(actor, target, rows)
  await settle(room, await committed(room, writer, place, () => commitFiles(repository, change), attempt))
  return rows.map((row) => ({ ...row, applied: true }))
}

function attemptOf(
  actor: Actor,
  target: ProjectSubject,
  rows: readonly AppliedRow[],
): Omit<Attempt, 'commit'> {
  const [{ request_id: requestId, noteable_id: noteableId, request_author_id: authorId }] = rows as [
    AppliedRow,
  ]
  const { id: userId } = userOf(actor)
  return {
    requestId,
    projectId: target.id,
    noteableId,
    userId,
    resolves: authorId === userId || mayIn(actor, 'resolve_note', target),
    suggestions: rows,
  }
}

/** The attempt is written down when its commit has a name, and before it has a place in the branch. */
async function committed(
  room: NotesRoom,
  writer: Writer,
  place: WritePlace,
  build: () => Promise<PreparedChange>,
  begun: Omit<Attempt, 'commit'>,
): Promise<Attempt> {
  let attempt: Attempt | undefined
  try {
    await commitChange(room, writer, place, async () => {
      const change = await build()
      attempt = { ...begun, commit: change.oid }
      await beginAttempt(room.db.writer, attempt).catch(async (error: unknown) => {
        await change[Symbol.asyncDispose]()
        throw error
      })
      return change
    })
  } catch (error) {
    // After any other failure the commit may be in the branch.
    if (attempt !== undefined && error instanceof ApiError) await dropAttempt(room.db.writer, attempt)
    throw error
  }
  return attempt!
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

const appliedBefore = (): ApiError => badRequest('A suggestion was applied before')
const branchGone = (): ApiError => badRequest('The source branch of the merge request is gone')

function checkAppliable(row: AppliedRow, first: AppliedRow): void {
  if (row.request_id !== first.request_id)
    throw badRequest('Suggestions of several merge requests cannot be applied together')
  if (row.applied) throw appliedBefore()
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
