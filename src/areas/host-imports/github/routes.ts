import { endpoint, find, instance, may, project as projectKind } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import {
  forbidden,
  notBrought,
  notFound,
  refused,
  refusedElsewhere,
  type ApiError,
} from '../../../kernel/errors/index.ts'
import type { ProjectSubject } from '../../../access/index.ts'
import { begin, checkAddress, checkSource, findHome, type Refuse } from '../begin.ts'
import { BegunImport, begunImport, ImportState, importState } from '../entities.ts'
import { HostFault, HostLimit } from '../faults.ts'
import { findImport } from '../import-store.ts'
import type { HostImportRoom } from '../services.ts'
import { end } from '../step-store.ts'
import { clientOf, repositoryOf } from './host.ts'
import { firstSteps } from './relations.ts'

const kind = 'github'
/** Milliseconds that the host has to tell of a repository while somebody waits for it. */
const patience = 20_000

const refuse: Refuse = (status, text) => notBrought(status === 401 ? 422 : status, text)

const longestToken = 1000
const Token = () =>
  Text({ blank: false, maxLength: longestToken, description: 'For the host; kept encrypted until the end' })

/** What the host says where it is asked while the caller waits. */
function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof HostLimit) return refusedElsewhere(429, 'Too Many Requests')
  if (!(error instanceof HostFault)) return undefined
  if (error.status === 401) return refusedElsewhere(401, 'Access denied to your GitHub account.')
  const code = error.status === undefined ? '' : ` (HTTP ${error.status})`
  return notBrought(422, `Import failed due to a GitHub error: ${error.message}${code}`)
}

export function githubEndpoints(room: HostImportRoom): Endpoint[] {
  const { db } = room
  return [
    endpoint({
      on: instance,
      may: 'create_project',
      method: 'POST',
      path: '/import/github',
      summary: 'Make a project of a repository on GitHub',
      description:
        'In the background: code, wiki, labels, milestones, issues, pull requests with reviews and comments, releases and protected branches come piece by piece; `GET /projects/:id/import` tells how far it is.',
      params: Fields({
        personal_access_token: Token(),
        repo_id: Id({ description: 'Of the repository there' }),
        target_namespace: Text({
          blank: false,
          description: 'Full path of a group or of the caller’s own namespace',
        }),
        new_name: Optional(Text({ description: 'Name and path here; left out: as there' })),
        github_hostname: Optional(Text({ description: 'Address of an installation of somebody’s own' })),
        optional_stages: Optional(
          Fields({
            single_endpoint_notes_import: Optional(
              Flag({
                description: 'Ask for the comments of each issue by itself: slower, and there is no limit',
              }),
            ),
            single_endpoint_issue_events_import: Optional(Flag({ deprecated: true })),
            attachments_import: Optional(
              Flag({ description: 'Known, without effect: attachments stay there' }),
            ),
            collaborators_import: Optional(Flag({ description: 'Make members of those who are known here' })),
          }),
        ),
        timeout_strategy: OneOf(['optimistic', 'pessimistic'], {
          default: 'pessimistic',
          description:
            'What becomes of the rest when something cannot be fetched: it is brought, or nothing more is',
        }),
        pagination_limit: Optional(
          Int({ minimum: 1, maximum: 100, description: 'Things asked for at once' }),
        ),
      }),
      status: 201,
      answers: BegunImport,
      refuses: {
        400: 'The address of the host is no good',
        401: 'The host does not take the token',
        403: 'The host is no import source of the instance',
        422: 'The host has no such repository, or it may not come there',
        429: 'The host has been asked too often',
      },
      async handle({ actor, params }) {
        checkSource(room, kind)
        const { github_hostname: host, optional_stages: stages = {}, personal_access_token: secret } = params
        const address = host === undefined || host === '' ? null : await checkAddress(room, host, refuse)
        const home = await findHome(room, actor, params.target_namespace)
        if (home === undefined) throw refuse(422, 'You are not allowed to import projects in this namespace.')
        const client = clientOf(room, address, secret, AbortSignal.timeout(patience))
        const source = await repositoryOf(client, params.repo_id).catch((error: unknown) => {
          throw refusalOf(error) ?? error
        })
        const options = {
          optimistic: params.timeout_strategy === 'optimistic',
          stages: Object.entries(stages).flatMap(([name, wanted]) => (wanted ? [name] : [])),
          ...(params.pagination_limit !== undefined && { pageSize: params.pagination_limit }),
        }
        const steps = firstSteps(source.wiki, options)
        const newName = params.new_name === '' ? undefined : params.new_name
        const credentials = { secret }
        const row = await begin(
          room,
          actor,
          { kind, address, credentials, options, home, newName, source, steps },
          refuse,
        )
        return begunImport(row)
      },
    }),

    endpoint({
      on: instance,
      may: 'create_project',
      method: 'POST',
      path: '/import/github/cancel',
      summary: 'End the import of a project from GitHub before it is done',
      description: 'What has been brought stays.',
      params: Fields({ project_id: Id() }),
      status: 200,
      answers: ImportState,
      refuses: { 400: 'The import is over', 403: 'The caller is no owner', 404: 'There is no such import' },
      async handle({ actor, params: { project_id: id } }) {
        const project = await find<ProjectSubject>(db.reader, projectKind, actor, String(id))
        const row = project === undefined ? undefined : await findImport(db.writer, project.id, kind)
        if (project === undefined || row === undefined) throw notFound()
        if (!may(actor, 'remove_project', project)) throw forbidden()
        const importing = { importId: row.import_id, projectId: project.id }
        if (!(await db.transaction((tx) => end(tx, importing, 'canceled', null)))) {
          throw refused(400, `The import cannot be canceled because it is ${row.import_status}`)
        }
        return importState((await findImport(db.writer, project.id, kind))!)
      },
    }),
  ]
}
