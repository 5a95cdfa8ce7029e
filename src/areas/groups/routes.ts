import { endpoint, group, instance, visibilityNames, type Actor } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Fields, Flag, Id, Nullable, OneOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import { createGroup } from './create.ts'
import * as entities from './entities.ts'
import { GroupDetail, type EntityContext } from './entities.ts'
import { settingParams } from './settings.ts'
import * as store from './store.ts'

export interface GroupServices {
  readonly db: Database
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly plan: Plan
}

export function contextOf({ settings, externalUrl, plan }: GroupServices, actor: Actor): EntityContext {
  return {
    actor,
    externalUrl: externalUrl(),
    paid: plan !== 'free',
    protection: settings.values.default_branch_protection_defaults,
  }
}

const common = {
  description: Optional(Nullable(Text({ description: 'At most 500 characters' }))),
  visibility: Optional(OneOf(visibilityNames, {})),
}

export function groupEndpoints(services: GroupServices): Endpoint[] {
  const { db, settings } = services
  const detail = async (actor: Actor, id: number) =>
    entities.groupDetail(await store.read(db.reader, actor, id), contextOf(services, actor))

  return [
    endpoint({
      method: 'GET',
      path: '/groups/:id',
      summary: 'Get a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      params: Fields({
        with_projects: Flag({ default: true, description: 'With at most 100 of its projects' }),
      }),
      answers: GroupDetail,
      read: ({ params }) => store.ofSubject(params.with_projects),
      handle: async ({ actor, rows }) => entities.groupDetail(rows[0]!, contextOf(services, actor)),
    }),

    endpoint({
      method: 'POST',
      path: '/groups',
      summary: 'Create a group or subgroup',
      on: instance,
      may: 'read_instance',
      params: Fields({
        name: Text({ maxLength: 255 }),
        path: Text({ maxLength: 255 }),
        parent_id: Optional(Id({ description: 'The group to put it into' })),
        ...common,
        ...settingParams('create'),
      }),
      answers: GroupDetail,
      refuses: { 400: 'A rule is broken', 403: 'The caller may not create groups there', 404: 'No such parent' },
      async handle({ actor, params }) {
        return detail(actor, await createGroup({ db, settings: settings.values }, actor, params))
      },
    }),
  ]
}
