import { endpoint, project as projectKind } from '../../../access/index.ts'
import { commitFiles, lastCommitFor, type FileAction, type FilePath } from '../../../git/index.ts'
import { Fields, Flag, OneOf, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { refused } from '../../../kernel/errors/index.ts'
import { allRules, rulesIn } from '../../protected-branches/index.ts'
import { commitChange, openTarget, signatures, type Writer, type WritePlace } from '../committing.ts'
import { contentOf, filePathOf } from '../file-content.ts'
import type { RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository/files/:file_path'

const about = {
  branch: Text({ blank: false, description: 'The branch to commit to' }),
  commit_message: Text({ blank: false }),
  start_branch: Optional(Text({ description: 'The branch to start a new one from' })),
  author_email: Optional(Text()),
  author_name: Optional(Text()),
}
const content = {
  content: Text(),
  encoding: OneOf(['text', 'base64'], { default: 'text' }),
  execute_filemode: Optional(Flag({ description: 'Whether the file can be run' })),
}
const guard = {
  last_commit_id: Optional(
    Text({ description: 'Refuse when another commit was the last to change the file' }),
  ),
}
const Written = Fields({ file_path: Text(), branch: Text() })
const refuses = { 400: 'The file or the branch does not fit, or a rule forbids it' }

interface About {
  readonly file_path: string
  readonly branch: string
  readonly commit_message: string
  readonly start_branch?: string | undefined
  readonly author_email?: string | undefined
  readonly author_name?: string | undefined
  readonly last_commit_id?: string | undefined
}

export function fileWritingEndpoints(services: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path,
      summary: 'Create a file',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields({ ...about, ...content }),
      answers: Written,
      refuses,
      read: () => allRules(),
      async handle({ actor, project, params, rows }) {
        await write(services, { actor, project, rules: rulesIn(rows) }, params, (file) => ({
          action: 'create',
          path: file,
          content: contentOf(params.content, params.encoding, 'content'),
          executable: params.execute_filemode ?? false,
        }))
        return { file_path: params.file_path, branch: params.branch }
      },
    }),

    endpoint({
      method: 'PUT',
      path,
      summary: 'Change the content of a file',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields({ ...about, ...content, ...guard }),
      answers: Written,
      refuses,
      read: () => allRules(),
      async handle({ actor, project, params, rows }) {
        const action = (file: FilePath): FileAction => ({
          action: 'update',
          path: file,
          content: contentOf(params.content, params.encoding, 'content'),
          ...(params.execute_filemode !== undefined && { executable: params.execute_filemode }),
        })
        const stale = 'You are attempting to update a file that has changed since you started editing it.'
        await write(services, { actor, project, rules: rulesIn(rows) }, params, action, stale)
        return { file_path: params.file_path, branch: params.branch }
      },
    }),

    endpoint({
      method: 'DELETE',
      path,
      summary: 'Delete a file',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields({ ...about, ...guard }),
      answers: null,
      refuses,
      read: () => allRules(),
      async handle({ actor, project, params, rows }) {
        const stale = 'You are attempting to delete a file that has been previously updated.'
        const action = (file: FilePath): FileAction => ({ action: 'delete', path: file })
        await write(services, { actor, project, rules: rulesIn(rows) }, params, action, stale)
      },
    }),
  ]
}

/** One commit that does one thing to one file. `stale`: what is said when somebody else was faster. */
async function write(
  services: RepositoryServices,
  writer: Writer,
  params: About,
  actionOn: (file: FilePath) => FileAction,
  stale?: string,
): Promise<void> {
  const file = filePathOf(params.file_path, 'file_path')
  const action = actionOn(file)
  const { branch, start_branch: startBranch } = params
  const place = await openTarget(services, writer, { branch, startBranch })
  if (stale !== undefined && (await hasChanged(place, file, params.last_commit_id))) throw refused(400, stale)
  const author = { name: params.author_name, email: params.author_email }
  await commitChange(services, writer, place, () =>
    commitFiles(place.repository, {
      branch: place.ref,
      start: place.start,
      actions: [action],
      message: params.commit_message,
      ...signatures(services, writer.actor, author),
    }),
  )
}

/** Whether another commit than the one the caller knows was the last to change a file. */
export async function hasChanged(
  { repository, start }: WritePlace,
  file: FilePath,
  known: string | undefined,
): Promise<boolean> {
  if (known === undefined || start === undefined) return false
  const last = await lastCommitFor(repository, start, file)
  return last !== undefined && last.oid !== known
}
