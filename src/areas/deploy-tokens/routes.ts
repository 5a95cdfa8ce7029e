import { deployTokenPrefix, endpoint, group, instance, project, userOf } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound, refused } from '../../kernel/errors/index.ts'
import { digestToken, newToken, type Cipher } from '../../kernel/lib/secrets.ts'
import { DeployToken, NewDeployToken } from './entities.ts'
import { secretContext } from './for-jobs.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

interface Services {
  readonly db: Database
  readonly cipher: Cipher
}

const active = Optional(Flag({ description: 'Only those that work, or only those that do not' }))

export function instanceEndpoint(): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/deploy_tokens',
    summary: 'List the deploy tokens of all projects and groups',
    on: instance,
    may: 'admin_instance',
    paged: true,
    params: Fields({ active }),
    answers: ListOf(DeployToken),
    read: ({ params, page }) => store.list('instance', params.active, page),
    handle: async ({ rows }) => rows,
  })
}

export function deployTokenEndpoints(kind: store.Owner['kind'], { db, cipher }: Services): Endpoint[] {
  const on = kind === 'group' ? group : project
  const reading = kind === 'group' ? 'read_deploy_token' : 'admin_deploy_token'
  const may = 'admin_deploy_token'
  const path = `/${kind}s/:id/deploy_tokens`
  const token_id = Id({ description: 'The deploy token' })
  const record = 'Deploy Token'

  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the deploy tokens of a ${kind}`,
      on,
      may: reading,
      paged: true,
      params: Fields({ active }),
      answers: ListOf(DeployToken),
      read: ({ params, page }) => store.list(kind, params.active, page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:token_id`,
      summary: `Get a deploy token of a ${kind}`,
      on,
      may: reading,
      params: Fields({ token_id }),
      record,
      answers: DeployToken,
      refuses: { 404: 'No such deploy token' },
      read: ({ params }) => store.one(kind, params.token_id),
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a deploy token of a ${kind}`,
      description:
        'It reads code and images, and writes images, of the project or of all projects in the group.',
      on,
      may,
      params: Fields({
        name: Text({
          description: '`gitlab-deploy-token`: jobs get it as CI_DEPLOY_USER and CI_DEPLOY_PASSWORD',
        }),
        username: Optional(Nullable(Text())),
        scopes: ListOf(OneOf(rules.deployScopes, {}), { commaSeparated: true }),
        expires_at: Optional(Nullable(DateTime())),
      }),
      answers: NewDeployToken,
      async handle(call) {
        const { actor, params } = call
        const { id } = kind === 'group' ? call.group : call.project
        const wanted = {
          name: params.name.trim(),
          username: params.username?.trim() === '' ? null : (params.username?.trim() ?? null),
          scopes: [...new Set<string>(params.scopes)],
        }
        if (wanted.scopes.length === 0) throw refused(400, ["Scopes can't be blank"])
        rules.check(wanted)
        const token = newToken(deployTokenPrefix)
        const row = await db.transaction((tx) =>
          store.insert(
            tx,
            { kind, id },
            {
              ...wanted,
              expiresAt: params.expires_at ?? null,
              digest: digestToken(token),
              secret: wanted.name === rules.jobTokenName ? cipher.seal(token, secretContext) : null,
              creatorId: userOf(actor).id,
            },
          ),
        )
        return { ...row, token }
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:token_id`,
      whileArchived: true,
      summary: `Delete a deploy token of a ${kind}`,
      on,
      may,
      params: Fields({ token_id }),
      answers: null,
      refuses: { ...whenChanged, 404: 'No such deploy token' },
      async handle(call) {
        const { id } = kind === 'group' ? call.group : call.project
        await db.transaction(async (tx) => {
          const madeAt = await store.remove(tx, { kind, id }, call.params.token_id)
          if (madeAt === undefined) throw notFound(record)
          requireUnmodified(call.request, madeAt)
        })
      },
    }),
  ]
}
