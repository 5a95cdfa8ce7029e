import { endpoint, group, instance, project } from '../../access/index.ts'
import {
  Fields,
  Flag,
  keysetParams,
  ListOf,
  OneOf,
  Optional,
  Int,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { issue, issueView, Issue } from './entities.ts'
import type { IssueAreaServices } from './index.ts'
import * as listing from './listing.ts'
import { filterParams, filterRules, listParams, scopes } from './params.ts'

const { pagination, cursor } = keysetParams
const paging = { pagination, cursor }
const wide = { non_archived: Flag({ default: true, description: 'Without those of archived projects' }) }

const Statistics = Fields({
  statistics: Fields({ counts: Fields({ all: Int(), closed: Int(), opened: Int() }) }),
})

function counts({ opened, closed }: listing.StateCounts) {
  return { statistics: { counts: { all: opened + closed, closed, opened } } }
}

/** Lists and counts of issues: everywhere, in a group, in a project. */
export function listEndpoints(services: IssueAreaServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/issues',
      summary: 'List issues of all projects that the caller sees',
      description: 'By default those that the caller wrote.',
      on: instance,
      may: 'read_instance',
      paged: true,
      params: Fields({
        ...listParams,
        ...wide,
        ...paging,
        scope: OneOf(scopes, { default: 'created_by_me' }),
      }),
      rules: filterRules,
      answers: ListOf(Issue),
      read: ({ params, page }) => listing.list('instance', params, page),
      handle: async ({ rows, params }) =>
        listing.pageOf(rows, params, (row) => issue(row, issueView(services))),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/issues',
      summary: 'List the issues of the projects of a group and its subgroups',
      on: group,
      may: 'read_group',
      anonymous: true,
      paged: true,
      params: Fields({ ...listParams, ...wide, ...paging, scope: OneOf(scopes, { default: 'all' }) }),
      rules: filterRules,
      answers: ListOf(Issue),
      read: ({ params, page }) => listing.list('group', params, page),
      handle: async ({ rows, params, group: { fullPath } }) =>
        listing.pageOf(rows, params, (row) => issue(row, issueView(services, fullPath))),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/issues',
      summary: 'List the issues of a project',
      on: project,
      may: 'read_issue',
      anonymous: true,
      paged: true,
      params: Fields({ ...listParams, ...paging, scope: OneOf(scopes, { default: 'all' }) }),
      rules: filterRules,
      answers: ListOf(Issue),
      read: ({ params, page }) => listing.list('project', params, page),
      handle: async ({ rows, params, project: { fullPath } }) =>
        listing.pageOf(rows, params, (row) => issue(row, issueView(services, fullPath))),
    }),

    endpoint({
      method: 'GET',
      path: '/issues_statistics',
      summary: 'Count issues of all projects that the caller sees, by state',
      on: instance,
      may: 'read_instance',
      params: Fields({ ...filterParams, ...wide, scope: OneOf(scopes, { default: 'created_by_me' }) }),
      rules: filterRules,
      answers: Statistics,
      read: ({ params }) => listing.statistics('instance', params),
      handle: async ({ rows }) => counts(rows[0]!),
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/issues_statistics',
      summary: 'Count the issues of a group and its subgroups, by state',
      on: group,
      may: 'read_group',
      anonymous: true,
      params: Fields({ ...filterParams, ...wide, scope: Optional(OneOf(scopes, {})) }),
      rules: filterRules,
      answers: Statistics,
      read: ({ params }) => listing.statistics('group', params),
      handle: async ({ rows }) => counts(rows[0]!),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/issues_statistics',
      summary: 'Count the issues of a project, by state',
      on: project,
      may: 'read_issue',
      anonymous: true,
      params: Fields({ ...filterParams, scope: Optional(OneOf(scopes, {})) }),
      rules: filterRules,
      answers: Statistics,
      read: ({ params }) => listing.statistics('project', params),
      handle: async ({ rows }) => counts(rows[0]!),
    }),
  ]
}
