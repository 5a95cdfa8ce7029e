import { endpoint, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import { commitFiles, commitStats, type FileAction } from '../../../git/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
  type Static,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, invalidParameters, refused, type ApiError } from '../../../kernel/errors/index.ts'
import { allRules, rulesIn } from '../../protected-branches/index.ts'
import { CommitDetail, commitDetail } from '../commit-entity.ts'
import { commitChange, openTarget, signatures, type WritePlace } from '../committing.ts'
import { contentOf, filePathOf } from '../file-content.ts'
import { relativeNamed } from '../networks.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'
import { hasChanged } from './files-writing.ts'

const Action = Fields({
  action: OneOf('create', 'update', 'move', 'delete', 'chmod'),
  file_path: Text({ blank: false }),
  previous_path: Optional(Text({ description: 'Of a move: where the file is' })),
  content: Optional(Text({ description: 'A move without content keeps the content' })),
  encoding: OneOf(['text', 'base64'], { default: 'text' }),
  last_commit_id: Optional(
    Text({ description: 'Refuse when another commit was the last to change the file' }),
  ),
  execute_filemode: Optional(Flag({ description: 'Whether the file can be run' })),
})
type WantedAction = Static<typeof Action>

/** Of one commit: building it holds every changed folder in memory. */
const mostActions = 20_000

export function commitWritingEndpoints(services: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/repository/commits',
      summary: 'Commit changes of many files at once',
      description: 'All actions take place or none does. They are done in their order.',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields({
        branch: Text({ blank: false, description: 'The branch to commit to' }),
        commit_message: Text({ blank: false }),
        actions: ListOf(Action),
        start_branch: Optional(Text({ description: 'The branch to start a new one from' })),
        start_sha: Optional(Text({ description: 'The commit to start a new branch from' })),
        start_project: Optional(Either(Id(), Text())),
        author_email: Optional(Text()),
        author_name: Optional(Text()),
        stats: Flag({ default: true }),
        force: Flag({ default: false, description: 'Let an existing branch begin anew at the start' }),
        allow_empty: Flag({ default: false, description: 'Also commit when there is nothing to do' }),
      }),
      rules: { mutuallyExclusive: [['start_branch', 'start_sha']] },
      answers: CommitDetail,
      refuses: { 400: 'An action or the branch does not fit, or a rule forbids it' },
      read: () => allRules(),
      async handle({ actor, project, params, rows }) {
        const actions = actionsOf(params.actions, params.allow_empty)
        const writer = { actor, project, rules: rulesIn(rows) }
        const from = await relativeNamed(services, actor, project, params.start_project, noRelative(project))
        const place = await openTarget(services, writer, {
          branch: params.branch,
          startBranch: params.start_branch,
          startSha: params.start_sha,
          from,
          force: params.force,
        })
        await requireUnchanged(place, params.actions)
        const author = { name: params.author_name, email: params.author_email }
        const commit = await commitChange(services, writer, place, () =>
          commitFiles(place.repository, {
            branch: place.ref,
            start: place.start,
            actions,
            message: params.commit_message,
            ...signatures(services, actor, author),
          }),
        )
        const stats = params.stats
          ? (await commitStats(place.repository, [commit.oid])).get(commit.oid)
          : undefined
        const url = projectUrl(services, project)
        // Its pipeline is made soon after.
        return commitDetail(commit, { id: project.id, url }, stats, undefined)
      },
    }),
  ]
}

/** Another project to start from must be of one network of forks, and its code open to the caller. */
function noRelative({ name }: ProjectSubject): () => ApiError {
  return () => forbidden(`Project is not included in the fork network for ${name}`)
}

function actionsOf(wanted: readonly WantedAction[], allowEmpty: boolean): FileAction[] {
  if (wanted.length === 0 && !allowEmpty) throw invalidParameters(['actions is empty'])
  if (wanted.length > mostActions) throw invalidParameters(['actions is too long'])
  return wanted.map((action, index) => actionOf(action, `actions[${index}]`))
}

function actionOf(wanted: WantedAction, at: string): FileAction {
  const path = filePathOf(wanted.file_path, `${at}[file_path]`)
  const missing = (name: string) => invalidParameters([`${at}[${name}] is missing`])
  const content =
    wanted.content === undefined ? undefined : contentOf(wanted.content, wanted.encoding, `${at}[content]`)
  const executable = wanted.execute_filemode
  switch (wanted.action) {
    case 'create':
      return { action: 'create', path, content: content ?? Buffer.alloc(0), executable: executable ?? false }
    case 'update':
      if (content === undefined) throw missing('content')
      return { action: 'update', path, content, ...(executable !== undefined && { executable }) }
    case 'move':
      if (wanted.previous_path === undefined) throw missing('previous_path')
      return {
        action: 'move',
        path,
        previousPath: filePathOf(wanted.previous_path, `${at}[previous_path]`),
        content,
      }
    case 'delete':
      return { action: 'delete', path }
    case 'chmod':
      if (executable === undefined) throw missing('execute_filemode')
      return { action: 'chmod', path, executable }
  }
}

async function requireUnchanged(place: WritePlace, actions: readonly WantedAction[]): Promise<void> {
  for (const [index, { action, file_path, previous_path, last_commit_id }] of actions.entries()) {
    if (last_commit_id === undefined || action === 'create' || action === 'chmod') continue
    const name = action === 'move' ? (previous_path ?? file_path) : file_path
    const file = filePathOf(name, `actions[${index}][file_path]`)
    if (await hasChanged(place, file, last_commit_id)) {
      throw refused(400, `The file has changed since you started editing it: ${name}`)
    }
  }
}
