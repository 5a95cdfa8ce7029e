import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { endpoint, group, may, mayGrant, project, type Actor } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  whenChanged,
  type Endpoint,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import { refuseLocked } from '../members/index.ts'
import { noSuchGroup, share, shareParams, unshare } from '../shares/index.ts'
import { Group, GroupDetail, ProjectGroup, projectGroup, type GroupRow } from './entities.ts'
import { groupsWhere, listParams, type GroupFilter } from './listing.ts'
import type { GroupServices } from './routes.ts'

/** What the endpoints of a group answer with, as the caller finds it. */
interface Answers {
  readonly detail: (actor: Actor, id: number) => Promise<Record<string, unknown>>
  readonly listed: (actor: Actor, rows: readonly GroupRow[]) => Record<string, unknown>[]
}

const lasting = sql`(s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date)`

const fewParams = {
  search: listParams.search,
  min_access_level: listParams.min_access_level,
}
const usual = { all_available: true, order_by: 'name', sort: 'asc' } as const

/** The groups that a selection from shares `s` names, as long as these last. */
function those(
  selection: RawBuilder<unknown>,
  params: Partial<GroupFilter>,
  page: PageInput,
): Read<GroupRow> {
  return groupsWhere(sql`n.id in (${selection} and ${lasting})`, { ...usual, ...params }, page)
}

/** Groups let into groups and projects: as endpoints of what is shared. */
export function sharingEndpoints(services: GroupServices, { detail, listed }: Answers): Endpoint[] {
  const { db, settings } = services
  const listing = {
    anonymous: true,
    paged: true,
    answers: ListOf(Group),
    handle: async ({ actor, rows }: { actor: Actor; rows: readonly GroupRow[] }) => listed(actor, rows),
  } as const
  return [
    endpoint({
      method: 'POST',
      path: '/groups/:id/share',
      summary: 'Let the direct members of another group into a group',
      on: group,
      may: 'read_group',
      params: Fields(shareParams),
      answers: GroupDetail,
      refuses: { 404: 'No right to share, or no such group', 409: 'It is shared with that group' },
      async handle({ actor, group, params }) {
        if (!may(actor, 'admin_group_member', group)) throw noSuchGroup()
        refuseLocked(settings, actor)
        if (!mayGrant(actor, group, params.group_access)) throw forbidden()
        await share(services, actor, group, params)
        return detail(actor, group.id)
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/groups/:id/share/:group_id',
      summary: 'Let the members of another group in no longer',
      on: group,
      may: 'admin_group_member',
      params: Fields({ group_id: Id() }),
      answers: null,
      refuses: { ...whenChanged, 404: 'No such share' },
      async handle({ actor, group, params, request }) {
        refuseLocked(settings, actor)
        await unshare(db, group, params.group_id, request)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/invited_groups',
      summary: 'List the groups whose members are let into a group',
      on: group,
      may: 'read_group',
      ...listing,
      params: Fields({
        ...fewParams,
        relation: Optional(
          ListOf(OneOf(['direct', 'inherited'], {}), {
            commaSeparated: true,
            description: 'Shared themselves, or through a group above; by default both',
          }),
        ),
      }),
      read: ({ params, page }) => {
        const { relation = ['direct', 'inherited'] } = params
        const own = relation.includes('direct') ? sql`s.shared_id = subject.id` : sql`false`
        const above = relation.includes('inherited')
          ? sql`s.shared_id = any (subject.line) and s.shared_id <> subject.id`
          : sql`false`
        return those(sql`select s.group_id from group_shares s where (${own} or ${above})`, params, page)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/groups/shared',
      summary: 'List the groups that a group was let into',
      on: group,
      may: 'read_group',
      ...listing,
      params: Fields({
        ...fewParams,
        visibility: listParams.visibility,
        skip_groups: listParams.skip_groups,
        order_by: listParams.order_by,
        sort: listParams.sort,
      }),
      read: ({ params, page }) =>
        those(sql`select s.shared_id from group_shares s where s.group_id = subject.id`, params, page),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/invited_groups',
      summary: 'List the groups whose members are let into a project',
      on: project,
      may: 'read_project',
      ...listing,
      params: Fields(fewParams),
      read: ({ params, page }) =>
        those(sql`select s.group_id from project_shares s where s.project_id = subject.id`, params, page),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/groups',
      summary: 'List the groups above a project, and those whose members are let in',
      on: project,
      may: 'read_project',
      anonymous: true,
      paged: true,
      params: Fields({
        search: listParams.search,
        skip_groups: listParams.skip_groups,
        with_shared: Flag({ default: false, description: 'Those whose members are let in too' }),
        shared_min_access_level: Optional(OneOf([10, 15, 20, 30, 40, 50], {})),
        shared_visible_only: Flag({
          default: false,
          description: 'Of the shared ones those that the caller may see',
        }),
      }),
      answers: ListOf(ProjectGroup),
      read: ({ params, page }) => {
        const least = params.shared_min_access_level ?? 0
        const shared = params.with_shared
          ? sql`or n.id in (
              select s.group_id from project_shares s
              where s.project_id = subject.id and s.access_level >= ${least} and ${lasting})`
          : sql``
        const condition = sql`n.kind = 'group' and (n.id = any (subject.line) ${shared})`
        return groupsWhere(condition, { ...usual, ...params }, page)
      },
      handle: async ({ rows }) => rows.map((row) => projectGroup(row, services.externalUrl())),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/share_locations',
      summary: 'List the groups that a project may be shared with',
      on: project,
      may: 'admin_project',
      paged: true,
      params: Fields({ search: Optional(Text({ description: 'Part of the name or full path' })) }),
      answers: ListOf(ProjectGroup),
      read: ({ params, page }) =>
        groupsWhere(
          sql`not (n.id = any (subject.line)) and access.role >= 10 and n.id not in (
            select s.group_id from project_shares s where s.project_id = subject.id and ${lasting})`,
          { ...usual, ...params },
          page,
        ),
      handle: async ({ rows }) => rows.map((row) => projectGroup(row, services.externalUrl())),
    }),
  ]
}
