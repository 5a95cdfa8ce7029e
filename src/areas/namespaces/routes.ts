import { endpoint, groupVisible, instance, levelsWithoutSeat } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { Fields, Flag, Id, ListOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { namespace, Namespace } from './entities.ts'
import * as store from './store.ts'

export interface NamespaceServices {
  readonly externalUrl: () => string
  readonly plan: Plan
}

export function namespaceEndpoints({ externalUrl, plan }: NamespaceServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/namespaces',
      summary: "List the caller's namespaces: his own, and the groups he is a member of",
      description: 'Administrators get all.',
      on: instance,
      may: 'read_instance',
      paged: true,
      params: Fields({
        search: Optional(Text({ description: 'Part of the name or path' })),
        full_path_search: Optional(Flag({ description: 'Search in the full path' })),
        owned_only: Optional(Flag()),
        top_level_only: Optional(Flag()),
      }),
      answers: ListOf(Namespace),
      read: ({ params, page }) => store.list(params, page),
      handle: async ({ rows }) => rows.map((row) => namespace(row, externalUrl(), plan)),
    }),

    endpoint({
      method: 'GET',
      path: '/namespaces/:id',
      summary: 'Get a namespace by its id or full path',
      on: instance,
      may: 'read_instance',
      record: 'Namespace',
      answers: Namespace,
      read: ({ params }) => store.one(params.id, offers(plan, 'seats') ? levelsWithoutSeat(plan) : undefined),
      handle: async ({ rows }) => namespace(rows[0]!, externalUrl(), plan),
    }),

    endpoint({
      method: 'GET',
      path: '/namespaces/:namespace/exists',
      summary: 'Tell whether a path is in use, and name one that is free',
      on: instance,
      may: 'read_instance',
      params: Fields({
        parent_id: Optional(Id({ description: 'The group to look in; by default the top level' })),
      }),
      answers: Fields({ exists: Flag(), suggests: ListOf(Text()) }),
      read: ({ params }) => store.existence(params.namespace, params.parent_id, groupVisible),
      async handle({ rows }) {
        const { exists, suggestion } = rows[0] ?? { exists: false, suggestion: null }
        return { exists, suggests: suggestion === null ? [] : [suggestion] }
      },
    }),
  ]
}
