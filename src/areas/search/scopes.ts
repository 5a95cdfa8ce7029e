import type { Actor } from '../../access/index.ts'
import type { PageInput, Read } from '../../kernel/endpoint/index.ts'
import { issue, issueView, listIssues, type IssueRow } from '../issues/index.ts'
import {
  listedMergeRequest,
  mergeRequestView,
  searchMergeRequests,
  type MergeRequestRow,
} from '../merge-requests/index.ts'
import type { Found } from '../noteables/index.ts'
import { milestone, searchMilestones, type MilestoneRow } from '../milestones/index.ts'
import { contextOf, projectEntity, searchProjects, type ProjectRow } from '../projects/index.ts'
import { searchSnippets, snippet, snippetView, type SnippetRow } from '../snippets/index.ts'
import { basicUser, type BasicUserRow } from '../users/index.ts'
import { loneNote, type LoneNoteRow } from '../notes/index.ts'
import type { SearchServices } from './index.ts'
import * as store from './store.ts'

export type Where = 'instance' | 'group' | 'project'

/** What is looked for. */
export interface Wanted {
  readonly search: string
  /** Ids of what the index has found for it, the best first; then the words do not count. */
  readonly found?: Found
  readonly state: 'opened' | 'closed' | 'merged' | 'all'
  readonly confidential?: boolean | undefined
  readonly sort: 'asc' | 'desc'
}

/** How things of one kind are found and shown. */
export interface Scope {
  readonly read: (where: Where, wanted: Wanted, page: PageInput) => Read<unknown>
  /** `from`: full path of the group or project that was searched. */
  readonly show: (
    services: SearchServices,
    actor: Actor,
    rows: readonly unknown[],
    from: string | undefined,
  ) => unknown[]
}

function scope<Row>(
  read: (where: Where, wanted: Wanted, page: PageInput) => Read<Row>,
  show: (services: SearchServices, actor: Actor, from: string | undefined) => (row: Row) => unknown,
): Scope {
  return {
    read,
    show: (services, actor, rows, from) => (rows as readonly Row[]).map(show(services, actor, from)),
  }
}

/** What the database is asked for. */
export const scopes = {
  projects: scope<ProjectRow>(
    (where, { search, found }, page) =>
      searchProjects(where === 'group' ? where : 'instance', found ?? search, page),
    (services, actor) => {
      const context = contextOf(services, actor)
      return (row) => projectEntity(row, 'basic', context)
    },
  ),
  issues: scope<IssueRow>(
    (where, { search, found, state, confidential, sort }, page) =>
      listIssues(
        where,
        {
          ...(found === undefined ? { search } : { found }),
          state: state === 'merged' ? 'closed' : state,
          confidential,
          sort: found === undefined ? sort : 'asc',
          order_by: 'created_at',
          with_labels_details: false,
          pagination: 'legacy',
        },
        page,
      ),
    (services, _, from) => {
      const view = issueView(services, from)
      return (row) => issue(row, view)
    },
  ),
  merge_requests: scope<MergeRequestRow>(
    (where, { search, found, state, sort }, page) =>
      searchMergeRequests(
        where,
        found === undefined ? { search, state, sort } : { found, state, sort: 'asc' },
        page,
      ),
    (services) => {
      const view = mergeRequestView(services)
      return (row) => listedMergeRequest(row, view)
    },
  ),
  milestones: scope<MilestoneRow>(
    (where, { search, found, sort }, page) => searchMilestones(where, found ?? search, sort, page),
    (services) => {
      const externalUrl = services.externalUrl()
      return (row) => milestone(row, externalUrl)
    },
  ),
  snippet_titles: scope<SnippetRow>(
    (_, { search }, page) => searchSnippets(search, page),
    (services, actor) => {
      const view = snippetView(services, actor)
      return (row) => snippet(row, view)
    },
  ),
  users: scope<{ readonly user: BasicUserRow }>(
    (where, { search, found }, page) => store.people(where, found ?? search, page),
    (services) => {
      const externalUrl = services.externalUrl()
      return ({ user }) => basicUser(user, externalUrl)
    },
  ),
  notes: scope<LoneNoteRow>(
    (where, { search, found, sort }, page) => store.notes(where, found ?? search, sort, page),
    (services) => {
      const externalUrl = services.externalUrl()
      return (row) => loneNote(row, externalUrl)
    },
  ),
} as const satisfies Record<string, Scope>
