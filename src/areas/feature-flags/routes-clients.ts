import { endpoint, instance, project } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Hash,
  Id,
  Int,
  Json,
  ListOf,
  Optional,
  Text,
  type Check,
  type Endpoint,
  type RequestFacts,
} from '../../kernel/endpoint/index.ts'
import { unauthorized } from '../../kernel/errors/index.ts'
import { digestToken, isSameSecret, newToken } from '../../kernel/lib/secrets.ts'
import * as store from './clients-store.ts'
import type { FlagServices } from './index.ts'
import { clientFeatures } from './unleash.ts'

const prefix = 'glffct-'
const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

const Client = Fields({
  api_url: Text({ description: 'What programs are given as the address of Unleash' }),
  instance_id: Text({ description: 'Their token' }),
})

const Features = Fields({
  version: Int(),
  features: ListOf(
    Fields({
      name: Text(),
      description: Text(),
      enabled: Flag(),
      strategies: ListOf(Fields({ name: Text(), parameters: Hash(Json()) })),
    }),
  ),
})

/** Programs ask by the protocol of Unleash, with a token of the project. */
export function clientEndpoints({ db, cipher, externalUrl }: FlagServices): Endpoint[] {
  const client = (id: number, token: string) => ({
    api_url: `${externalUrl()}/api/v4/feature_flags/unleash/${id}`,
    instance_id: token,
  })
  const token = { on: project, may: 'admin_feature_flags_client', checks, answers: Client } as const

  const requireToken = (
    [found]: readonly store.AskedRow[],
    shown: string | undefined,
    { headers }: RequestFacts,
  ): store.AskedRow => {
    const given = shown ?? headers['unleash-instanceid']
    if (found === undefined || typeof given !== 'string') throw unauthorized()
    if (!isSameSecret(digestToken(given), found.token_digest)) throw unauthorized()
    return found
  }
  /** The token says everything; no other credentials are asked for, nor looked at. */
  const open = {
    on: instance,
    may: 'use_instance',
    anonymous: true,
    checks: ['params'],
    status: 200,
    refuses: { 401: 'The token is not that of the project' },
  } as const
  const params = {
    project_id: Id(),
    instance_id: Optional(Text({ description: 'The token, unless it comes as `UNLEASH-INSTANCEID`' })),
    app_name: Optional(Text({ description: 'The environment, unless it comes as `UNLEASH-APPNAME`' })),
  }
  const asking = <const Path extends string>(path: Path): Endpoint =>
    endpoint({
      ...open,
      method: 'GET',
      path,
      summary: 'Get the feature flags that are switched on in an environment',
      params: Fields(params),
      answers: Features,
      read: ({ params: { project_id: id } }) => store.asked(id, { withFlags: true }),
      async handle({ params: { instance_id: shown, app_name: named }, rows, request }) {
        const environment = named ?? request.headers['unleash-appname']
        const { flags } = requireToken(rows, shown, request)
        return {
          version: 1,
          features: clientFeatures(flags, typeof environment === 'string' ? environment : ''),
        }
      },
    })
  const telling = <const Path extends string>(path: Path, summary: string): Endpoint =>
    endpoint({
      ...open,
      method: 'POST',
      path,
      summary,
      description: 'Taken, since programs send it; nothing is kept of it.',
      params: Fields(params),
      answers: Fields({}),
      read: ({ params: { project_id: id } }) => store.asked(id, { withFlags: false }),
      async handle({ params: { instance_id: shown }, rows, request }) {
        requireToken(rows, shown, request)
        return {}
      },
    })

  return [
    endpoint({
      ...token,
      method: 'GET',
      path: '/projects/:id/feature_flags_client',
      summary: 'Get what programs need to ask for feature flags',
      record: 'Feature Flags Client',
      read: () => store.secret(),
      handle: async ({ project, rows }) =>
        client(project.id, cipher.open(rows[0]!.secret, store.secretContext)),
    }),

    endpoint({
      ...token,
      method: 'POST',
      path: '/projects/:id/feature_flags_client',
      summary: 'Make the token with which programs ask for feature flags',
      description: 'In place of the one there was, if any, which opens nothing from then on.',
      async handle({ project }) {
        const made = newToken(prefix)
        await store.replace(db.writer, project.id, {
          secret: cipher.seal(made, store.secretContext),
          digest: digestToken(made),
        })
        return client(project.id, made)
      },
    }),

    asking('/feature_flags/unleash/:project_id/features'),
    asking('/feature_flags/unleash/:project_id/client/features'),
    telling(
      '/feature_flags/unleash/:project_id/client/register',
      'Hear of a program that asks for feature flags',
    ),
    telling(
      '/feature_flags/unleash/:project_id/client/metrics',
      'Hear how often feature flags were asked for',
    ),
  ]
}
