import { endpoint, instance, userOf } from '../../../access/index.ts'
import { Fields, OneOf, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { ApiError, failed, invalidParameters } from '../../../kernel/errors/index.ts'
import { begin, checkAddress, checkSource, findHome, type Refuse } from '../begin.ts'
import { BegunImport, begunImport } from '../entities.ts'
import { HostFault } from '../faults.ts'
import type { HostImportRoom } from '../services.ts'
import { clientOf, projectForm, repositoryForm, repositoryOf } from './host.ts'
import { firstSteps } from './relations.ts'

const kind = 'bitbucket_server'
/** Milliseconds that the host has to tell of a repository while somebody waits for it. */
const patience = 20_000

const refuse: Refuse = (status, text) => failed(status, text)

function refusalOf(error: unknown, fullName: string): ApiError | undefined {
  if (!(error instanceof HostFault)) return undefined
  if (error.status === 404) return refuse(422, `Project ${fullName} could not be found`)
  return refuse(400, `Import failed due to a BitBucket Server error: ${error.message}`)
}

export function bitbucketServerEndpoints(room: HostImportRoom): Endpoint[] {
  return [
    endpoint({
      on: instance,
      may: 'create_project',
      method: 'POST',
      path: '/import/bitbucket_server',
      summary: 'Make a project of a repository on a Bitbucket Server',
      description:
        'In the background: code, and pull requests with comments, come piece by piece; `GET /projects/:id/import` tells how far it is.',
      params: Fields({
        bitbucket_server_project: Text({ blank: false, description: 'Key of the project there' }),
        bitbucket_server_repo: Text({ blank: false, description: 'Name of the repository there' }),
        bitbucket_server_url: Text({ blank: false, description: 'Address of the server' }),
        bitbucket_server_username: Text({ blank: false, maxLength: 255 }),
        personal_access_token: Text({
          blank: false,
          maxLength: 1000,
          description: 'Or password, for the server; kept encrypted until the end',
        }),
        new_name: Optional(Text({ description: 'Name and path here; left out: as there' })),
        target_namespace: Optional(
          Text({ description: 'Full path of a group; left out: the caller’s own namespace' }),
        ),
        timeout_strategy: OneOf(['optimistic', 'pessimistic'], {
          default: 'pessimistic',
          description:
            'What becomes of the rest when something cannot be fetched: it is brought, or nothing more is',
        }),
      }),
      status: 201,
      answers: BegunImport,
      refuses: {
        400: 'The address of the server is no good, or it does not answer',
        401: 'The caller may bring nothing there',
        403: 'Such servers are no import source of the instance',
        422: 'The server has no such repository, or it may not come there',
      },
      async handle({ actor, params }) {
        checkSource(room, kind)
        const { bitbucket_server_project: key, bitbucket_server_repo: name } = params
        if (!projectForm.test(key)) throw invalidParameters(['bitbucket_server_project is invalid'])
        if (!repositoryForm.test(name)) throw invalidParameters(['bitbucket_server_repo is invalid'])
        const address = await checkAddress(room, params.bitbucket_server_url, refuse)
        const wanted = params.target_namespace ?? ''
        const home = await findHome(room, actor, wanted === '' ? userOf(actor).username : wanted)
        if (home === undefined) throw refuse(401, "You don't have permissions to import this project")
        const credentials = { user: params.bitbucket_server_username, secret: params.personal_access_token }
        const client = clientOf(room, address, credentials, AbortSignal.timeout(patience))
        const fullName = `${key}/${name}`
        const source = await repositoryOf(client, fullName).catch((error: unknown) => {
          throw refusalOf(error, fullName) ?? error
        })
        const row = await begin(
          room,
          actor,
          {
            ...{ kind, address, credentials, home, source, steps: firstSteps },
            options: { optimistic: params.timeout_strategy === 'optimistic' },
            newName: params.new_name === '' ? undefined : params.new_name,
          },
          refuse,
        )
        return begunImport(row)
      },
    }),
  ]
}
