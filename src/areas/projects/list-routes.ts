import { sql } from '../../kernel/db/index.ts'
import { endpoint, findUser, group, instance, userCalled, type Actor } from '../../access/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { contextOf } from './entities.ts'
import { AnyProject } from './shapes.ts'
import { filterParams, listParams } from './list-params.ts'
import { contributedTo, projectsWhere, visibleProjects, type ListedProject } from './listing.ts'
import type { ProjectServices } from './routes.ts'
import type { ProjectRow } from './rows.ts'
import { showProjects, type ShowServices } from './shown.ts'

/** Whose projects are listed. */
export const ofUser = { user_id: Either(Id(), Text({ description: 'Username' })) }

/** Visitors get the short form, and who asks for it. */
export function listed(
  services: ShowServices,
  rows: readonly ProjectRow[],
  { actor, params }: { actor: Actor; params: { simple?: boolean | undefined } },
): Promise<Record<string, unknown>[]> {
  const form = actor.user === null || params.simple === true ? 'basic' : 'with access'
  return showProjects(services, rows, form, contextOf(services, actor))
}

export function listEndpoints(services: ProjectServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/projects',
      summary: 'List the projects that the caller may see',
      description:
        'With `pagination=keyset`, which needs `order_by=id`, lists of any length can be read to their end.',
      on: instance,
      may: 'use_instance',
      anonymous: true,
      paged: true,
      params: Fields({
        ...listParams,
        ...filterParams,
        pagination: OneOf(['legacy', 'keyset'], { default: 'legacy' }),
      }),
      answers: ListOf(AnyProject),
      refuses: { 405: 'An offset too deep, or keyset pagination in an order that has none' },
      read: ({ params, page }) => visibleProjects(params, page),
      async handle(call) {
        const answer = await listed(services, call.rows, call)
        return call.params.pagination === 'keyset' ? keysetPage(answer, call.rows, call.params) : answer
      },
    }),

    endpoint({
      method: 'GET',
      path: '/users/:user_id/projects',
      summary: 'List the personal projects of a user',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params: Fields({ ...ofUser, ...listParams, ...filterParams }),
      answers: ListOf(AnyProject),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => projectsWhere(inNamespaceOf(String(params.user_id)), params, page),
      async handle(call) {
        const { rows, params } = call
        if (rows.length === 0 && (await findUser(services.db.reader, String(params.user_id))) === undefined) {
          throw notFound('User')
        }
        return listed(services, rows, call)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/users/:user_id/contributed_projects',
      summary: 'List the projects that a user has contributed to in the last year',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params: Fields({ ...ofUser, ...listParams, ...filterParams }),
      answers: ListOf(AnyProject),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => projectsWhere(contributedTo(String(params.user_id)), params, page),
      async handle(call) {
        const { rows, params } = call
        if (rows.length === 0 && (await findUser(services.db.reader, String(params.user_id))) === undefined) {
          throw notFound('User')
        }
        return listed(services, rows, call)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/projects',
      summary: 'List the projects of a group',
      on: group,
      may: 'read_group',
      anonymous: true,
      paged: true,
      params: Fields({
        ...listParams,
        include_subgroups: Optional(Flag({ description: 'Those of groups below it too' })),
        include_ancestor_groups: Optional(Flag({ description: 'Those of groups above it too' })),
        with_shared: Flag({ default: true, description: 'Those that the group was let into too' }),
      }),
      answers: ListOf(AnyProject),
      read: ({ params, page }) => projectsWhere(inGroup(params), params, page),
      handle: async (call) => listed(services, call.rows, call),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/projects/shared',
      summary: 'List the projects that a group was let into',
      on: group,
      may: 'read_group',
      anonymous: true,
      paged: true,
      params: Fields(listParams),
      answers: ListOf(AnyProject),
      read: ({ params, page }) => projectsWhere(sharedWithGroup, params, page),
      handle: async (call) => listed(services, call.rows, call),
    }),
  ]
}

/** Ids or usernames. */
function inNamespaceOf(user: string) {
  return sql`p.namespace_id = (
    select home.id from users u join namespaces home on home.owner_id = u.id and home.kind = 'user'
    where ${userCalled(user)})`
}

const sharedWithGroup = sql`p.id = any (array(
  select s.project_id from project_shares s
  where s.group_id = subject.id and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date)))`

function inGroup(params: {
  with_shared?: boolean | undefined
  include_subgroups?: boolean | undefined
  include_ancestor_groups?: boolean | undefined
}) {
  const below = params.include_subgroups === true ? sql`or n.traversal_ids @> array[subject.id]` : sql``
  const above = params.include_ancestor_groups === true ? sql`or p.namespace_id = any (subject.line)` : sql``
  const shared = params.with_shared === true ? sql`or ${sharedWithGroup}` : sql``
  return sql`(p.namespace_id = subject.id ${below} ${above} ${shared})`
}

/** The link to the next page repeats the filter that it does not replace. */
function keysetPage(
  answer: readonly unknown[],
  rows: readonly ListedProject[],
  { sort, id_after }: { sort: string; id_after?: number | undefined },
): Page<unknown> {
  const last = rows.at(-1)
  if (last?.more !== true) return new Page(answer, { keyset: true })
  const kept = id_after === undefined ? {} : { id_after }
  return new Page(answer, {
    keyset: true,
    next: sort === 'asc' ? { id_after: last.id } : { ...kept, id_before: last.id },
  })
}
