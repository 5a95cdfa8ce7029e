import { endpoint, group, instance, visibilityNames, type Actor } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import { createGroup } from './create.ts'
import * as entities from './entities.ts'
import { avatarParam, setAvatar, takeAvatar } from '../avatars/index.ts'
import { withAttributesParam } from '../custom-attributes/index.ts'
import { cloneRoot, showProjects, type ProjectRow, type ShowServices } from '../projects/index.ts'
import { shownToken } from '../registration-tokens/index.ts'
import { Group, GroupDetail, type EntityContext, type GroupRow } from './entities.ts'
import { cursorBehind, groupsWhere, listParams, visibleGroups } from './listing.ts'
import { movingEndpoints } from './moving-routes.ts'
import { settingParams } from './settings.ts'
import { sharingEndpoints } from './sharing.ts'
import * as store from './store.ts'
import { updateGroup } from './update.ts'

export interface GroupServices {
  readonly db: Database
  readonly events: Events
  readonly settings: Settings
  readonly cipher: Cipher
  readonly externalUrl: () => string
  readonly sshAddress: (fullPath: string) => string
  readonly plan: Plan
  readonly texts: ShowServices['texts']
}

export function contextOf(
  { settings, externalUrl, sshAddress, plan }: GroupServices,
  actor: Actor,
): EntityContext {
  return {
    actor,
    externalUrl: externalUrl(),
    sshAddress,
    cloneRoot: cloneRoot(settings.values, externalUrl()),
    paid: offers(plan, 'group_settings'),
    protection: settings.values.default_branch_protection_defaults,
  }
}

const common = {
  ...avatarParam,
  description: Optional(Nullable(Text({ description: 'At most 500 characters' }))),
  visibility: Optional(OneOf(visibilityNames, {})),
}

export function groupEndpoints(services: GroupServices): Endpoint[] {
  const { db, settings } = services
  const shown = async (actor: Actor, row: GroupRow) => {
    const context = contextOf(services, actor)
    const embedded = async (rows: readonly ProjectRow[] | null | undefined) =>
      rows == null ? undefined : showProjects(services, rows, 'full', context)
    return entities.groupDetail(row, {
      ...context,
      projects: await embedded(row.projects),
      sharedProjects: await embedded(row.shared_projects),
      ...(entities.looksAfter(actor, row) && {
        runnersToken: await shownToken(
          services,
          { namespaceId: row.id, projectId: null },
          row.sealed_runners_token ?? null,
        ),
      }),
    })
  }
  const detail = async (actor: Actor, id: number) => shown(actor, await store.read(db.reader, actor, id))
  const listed = (actor: Actor, rows: readonly GroupRow[]) => {
    const context = contextOf(services, actor)
    return rows.map((row) => entities.group(row, context))
  }

  return [
    ...sharingEndpoints(services, { detail, listed }),
    ...movingEndpoints(services, detail),

    endpoint({
      method: 'GET',
      path: '/groups/:id',
      summary: 'Get a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      params: Fields({
        with_projects: Flag({ default: true, description: 'With at most 100 of its projects' }),
        ...withAttributesParam,
      }),
      answers: GroupDetail,
      read: ({ params }) => store.ofSubject(params.with_projects, params.with_custom_attributes),
      handle: ({ actor, rows }) => shown(actor, rows[0]!),
    }),

    endpoint({
      method: 'POST',
      path: '/groups',
      summary: 'Create a group or subgroup',
      on: instance,
      may: 'read_instance',
      takeFile: takeAvatar,
      params: Fields({
        name: Text({ maxLength: 255 }),
        path: Text({ maxLength: 255 }),
        parent_id: Optional(Id({ description: 'The group to put it into' })),
        ...common,
        ...settingParams('create'),
      }),
      answers: GroupDetail,
      refuses: {
        400: 'A rule is broken',
        403: 'The caller may not create groups there',
        404: 'No such parent',
      },
      async handle({ actor, params }) {
        const id = await createGroup({ db, settings: settings.values }, actor, params)
        await db.transaction((tx) => setAvatar(tx, 'group', id, params.avatar))
        return detail(actor, id)
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/groups/:id',
      summary: 'Change a group',
      description:
        'With its path those of all that lies below change; the old ones of projects lead to the new ones.',
      on: group,
      may: 'admin_group',
      takeFile: takeAvatar,
      params: Fields({
        name: Optional(Text({ maxLength: 255 })),
        path: Optional(Text({ maxLength: 255 })),
        ...common,
        ...settingParams('update'),
      }),
      answers: GroupDetail,
      refuses: { 400: 'A rule is broken' },
      async handle({ actor, group, params }) {
        await updateGroup({ db, settings: settings.values }, actor, group, params)
        await db.transaction((tx) => setAvatar(tx, 'group', group.id, params.avatar))
        return detail(actor, group.id)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups',
      summary: 'List the groups that the caller may see',
      on: instance,
      may: 'use_instance',
      anonymous: true,
      paged: true,
      params: Fields({
        ...listParams,
        top_level_only: Optional(Flag()),
        marked_for_deletion_on: Optional(DateTime({ description: 'Those that were marked on this day' })),
        pagination: OneOf(['legacy', 'keyset'], {
          default: 'legacy',
          description: 'keyset: by name from A on only',
        }),
        cursor: Optional(Text({ description: 'Where the next page begins, from the link' })),
      }),
      answers: ListOf(Group),
      refuses: { 405: 'An offset too deep, or keyset pagination in an order that has none' },
      read: ({ params, page }) => visibleGroups(params, page),
      async handle({ actor, rows, params }) {
        const answer = listed(actor, rows)
        if (params.pagination !== 'keyset') return answer
        const last = rows.at(-1)
        return new Page(answer, {
          keyset: true,
          next: last?.more === true ? { cursor: cursorBehind(last) } : undefined,
        })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/subgroups',
      summary: 'List the groups right below a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      paged: true,
      params: Fields(listParams),
      answers: ListOf(Group),
      read: ({ params, page }) => groupsWhere(sql`n.parent_id = subject.id`, params, page),
      handle: async ({ actor, rows }) => listed(actor, rows),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/descendant_groups',
      summary: 'List all groups below a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      paged: true,
      params: Fields(listParams),
      answers: ListOf(Group),
      read: ({ params, page }) =>
        groupsWhere(sql`n.traversal_ids @> array[subject.id] and n.id <> subject.id`, params, page),
      handle: async ({ actor, rows }) => listed(actor, rows),
    }),
  ]
}
