import { endpoint, instance } from '../../../access/index.ts'
import { Fields, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { ApiError, failed, invalidParameters } from '../../../kernel/errors/index.ts'
import { begin, checkSource, findHome, type Refuse } from '../begin.ts'
import { BegunImport, begunImport } from '../entities.ts'
import { HostFault } from '../faults.ts'
import type { HostImportRoom } from '../services.ts'
import { clientOf, pathForm, repositoryOf } from './host.ts'
import { firstSteps } from './relations.ts'

const kind = 'bitbucket'
/** Milliseconds that the host has to tell of a repository while somebody waits for it. */
const patience = 20_000

const refuse: Refuse = (status, text) => failed(status, text)

function refusalOf(error: unknown, path: string): ApiError | undefined {
  if (!(error instanceof HostFault)) return undefined
  if (error.status === 401) return refuse(401, 'Unable to authorize with Bitbucket. Check your credentials')
  if (error.status === 404) return refuse(422, `Project ${path} could not be found`)
  return refuse(400, `Import failed due to an error: ${error.message}`)
}

export function bitbucketEndpoints(room: HostImportRoom): Endpoint[] {
  return [
    endpoint({
      on: instance,
      may: 'create_project',
      method: 'POST',
      path: '/import/bitbucket',
      summary: 'Make a project of a repository on Bitbucket Cloud',
      description:
        'In the background: code, wiki, milestones, issues, and pull requests with comments come piece by piece; `GET /projects/:id/import` tells how far it is.',
      params: Fields({
        bitbucket_username: Text({ blank: false, maxLength: 255 }),
        bitbucket_app_password: Text({
          blank: false,
          maxLength: 1000,
          description: 'For the host; kept encrypted until the end',
        }),
        repo_path: Text({ blank: false, description: 'Of the repository there; `___` stands for a slash' }),
        target_namespace: Text({
          blank: false,
          description: 'Full path of a group or of the caller’s own namespace',
        }),
        new_name: Optional(Text({ description: 'Name and path here; left out: as there' })),
      }),
      status: 201,
      answers: BegunImport,
      refuses: {
        400: 'The host does not answer',
        401: 'The host does not take the password, or the caller may bring nothing there',
        403: 'The host is no import source of the instance',
        422: 'The host has no such repository, or it may not come there',
      },
      async handle({ actor, params }) {
        checkSource(room, kind)
        const path = params.repo_path.replaceAll('___', '/')
        if (!pathForm.test(path)) throw invalidParameters(['repo_path is invalid'])
        const home = await findHome(room, actor, params.target_namespace)
        if (home === undefined) throw refuse(401, "You don't have permissions to import this project")
        const credentials = { user: params.bitbucket_username, secret: params.bitbucket_app_password }
        const client = clientOf(room, credentials, AbortSignal.timeout(patience))
        const source = await client
          .get('/user')
          .then(() => repositoryOf(client, path))
          .catch((error: unknown) => {
            throw refusalOf(error, path) ?? error
          })
        const row = await begin(
          room,
          actor,
          {
            ...{ kind, address: null, credentials, home, source, steps: firstSteps(source), options: {} },
            newName: params.new_name === '' ? undefined : params.new_name,
          },
          refuse,
        )
        return begunImport(row)
      },
    }),
  ]
}
