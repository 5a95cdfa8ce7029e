import { endpoint, instance } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Either,
  Fields,
  Flag,
  Int,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { flags, stateOf, type Settings, type StoredGates } from '../../settings/index.ts'
import { changedGates } from './gates.ts'
import { findActors } from './store.ts'

const Definition = Fields({
  name: Text(),
  introduced_by_url: Nullable(Text()),
  rollout_issue_url: Nullable(Text()),
  milestone: Nullable(Text()),
  type: Text(),
  group: Nullable(Text()),
  default_enabled: Flag(),
})

const Feature = Fields({
  name: Text(),
  state: OneOf('on', 'off', 'conditional'),
  gates: ListOf(Fields({ key: Text(), value: Json() })),
  definition: Nullable(Definition),
})

/** Names of people and places, separated by commas. */
const names = (description: string) => Optional(Text({ description }))

/** Features that are switched on for everybody, for some, or for a share. */
export function features({ db, settings }: { db: Database; settings: Settings }): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      endpoint({
        method: 'GET',
        path: '/features',
        summary: 'List the features about which something was said',
        on: instance,
        may: 'admin_instance',
        answers: ListOf(Feature),
        handle: async () => settings.gates.map(feature),
      }),

      endpoint({
        method: 'GET',
        path: '/features/definitions',
        summary: 'List the features that there are to switch',
        on: instance,
        may: 'admin_instance',
        answers: ListOf(Definition),
        handle: async () => Object.keys(flags).map(definition),
      }),

      endpoint({
        method: 'POST',
        path: '/features/:name',
        summary: 'Switch a feature on or off',
        description: 'For everybody, for a share of the calls or of the actors, or for those who are named.',
        on: instance,
        may: 'admin_instance',
        params: Fields({
          value: Either(Int({ minimum: 0, maximum: 100 }), Flag({ description: 'Or a share in percent' })),
          key: Optional(OneOf('percentage_of_time', 'percentage_of_actors')),
          feature_group: Optional(Text()),
          user: names('Usernames'),
          group: names('Full paths of groups'),
          namespace: names('Full paths of groups or of users'),
          project: names('Full paths of projects'),
          repository: names('Full paths of projects whose repositories are meant'),
          runner: names('Ids of runners'),
          force: Optional(Flag({ description: 'Also when no such feature is known' })),
        }),
        rules: {
          mutuallyExclusive: [
            'feature_group',
            'user',
            'group',
            'namespace',
            'project',
            'repository',
            'runner',
          ].map((name) => ['key', name]),
        },
        answers: Feature,
        refuses: { 400: 'No such feature, or nobody of that name' },
        async handle({ params }) {
          if (!Object.hasOwn(flags, params.name) && params.force !== true) {
            throw badRequest(`Feature flag ${params.name} is not known. Use force to set it nevertheless.`)
          }
          if (params.name.length > 255 || !/^[a-z0-9_]+$/i.test(params.name))
            throw badRequest('name is invalid')
          const actors = await findActors(db.reader, params)
          const gates = await settings.changeGates(params.name, (before) =>
            changedGates(before, { ...params, actors }),
          )
          return feature({ name: params.name, gates })
        },
      }),

      endpoint({
        method: 'DELETE',
        path: '/features/:name',
        summary: 'Forget what was said of a feature',
        on: instance,
        may: 'admin_instance',
        answers: null,
        handle: ({ params }) => settings.changeGates(params.name, () => ({})),
      }),
    ],
  }
}

function feature({ name, gates }: StoredGates): Record<string, unknown> {
  const { boolean = false, ...others } = gates
  return {
    name,
    state: stateOf(gates),
    gates: [
      { key: 'boolean', value: boolean },
      ...Object.entries(others).map(([key, value]) => ({ key, value })),
    ],
    definition: Object.hasOwn(flags, name) ? definition(name) : null,
  }
}

function definition(name: string): Record<string, unknown> {
  return {
    name,
    introduced_by_url: null,
    rollout_issue_url: null,
    milestone: null,
    type: 'development',
    group: null,
    default_enabled: (flags as Readonly<Record<string, { usual: boolean }>>)[name]?.usual ?? false,
  }
}
