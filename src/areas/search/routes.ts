import { sql } from 'kysely'
import { endpoint, group, instance, may, project } from '../../access/index.ts'
import {
  Fields,
  Flag,
  ListOf,
  OneOf,
  Optional,
  Page,
  rows,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { searchBlobs, searchCommits, type CodeCall, type WantedCode } from './code.ts'
import { Found } from './entities.ts'
import type { SearchServices } from './index.ts'
import { scopes } from './scopes.ts'

const longest = 4096
const mostTerms = 64

const wanted = {
  search: Text({ blank: false, maxLength: longest, description: 'Words; in quotes they follow one another' }),
  state: OneOf(['opened', 'closed', 'merged', 'all'], {
    default: 'all',
    description: 'Of issues and merge requests',
  }),
  confidential: Optional(Flag({ description: 'Of issues' })),
  order_by: OneOf(['created_at'], { default: 'created_at' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
}
const about = { method: 'GET', paged: true, answers: ListOf(Found) } as const
const refuses = { 400: 'There are too many words, or they are too long' }

const inGroups = ['projects', 'issues', 'merge_requests', 'milestones', 'users'] as const
const everywhere = [...inGroups, 'snippet_titles'] as const
const inProjects = ['issues', 'merge_requests', 'milestones', 'users', 'notes'] as const
const inRepositories = ['commits', 'blobs', 'wiki_blobs'] as const
type RepositoryScope = (typeof inRepositories)[number]

const isInRepository = (scope: string): scope is RepositoryScope =>
  (inRepositories as readonly string[]).includes(scope)

function checkText(text: string): void {
  if (text.length > longest) throw badRequest(`The search must have at most ${longest} characters`)
  if (text.trim().split(/\s+/).length > mostTerms)
    throw badRequest(`The search must have at most ${mostTerms} words`)
}

/** A list that is read elsewhere. */
const nothing = rows<unknown>(sql`select where false`)

export function searchEndpoints(services: SearchServices): Endpoint[] {
  const searchCode = (scope: RepositoryScope, call: CodeCall, code: WantedCode): Promise<Page<unknown>> => {
    if (scope === 'blobs') return searchBlobs(services, call, code)
    if (scope === 'commits') return searchCommits(services, call, code)
    const { actor, project: owner, page, signal } = call
    if (!may(actor, 'read_wiki', owner)) return Promise.resolve(new Page([], { total: 0 }))
    return services.wikiPages(owner, code.search, page, signal)
  }

  return [
    endpoint({
      ...about,
      path: '/search',
      summary: 'Search everywhere, as far as the caller sees',
      on: instance,
      may: 'read_instance',
      params: Fields({ scope: OneOf(...everywhere), ...wanted }),
      refuses,
      read: ({ params, page }) => scopes[params.scope].read('instance', params, page),
      async handle({ actor, params, rows: found }) {
        checkText(params.search)
        return scopes[params.scope].show(services, actor, found, undefined)
      },
    }),

    endpoint({
      ...about,
      path: '/groups/:id/search',
      dashed: true,
      summary: 'Search in a group and the groups below it',
      on: group,
      may: 'read_group',
      params: Fields({ scope: OneOf(...inGroups), ...wanted }),
      refuses,
      read: ({ params, page }) => scopes[params.scope].read('group', params, page),
      async handle({ actor, params, rows: found, group: { fullPath } }) {
        checkText(params.search)
        return scopes[params.scope].show(services, actor, found, fullPath)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/search',
      dashed: true,
      summary: 'Search in a project',
      description: 'Code is looked for as it stands, whatever its case.',
      on: project,
      may: 'read_project',
      params: Fields({
        scope: OneOf(...inProjects, ...inRepositories),
        ...wanted,
        ref: Optional(Text({ description: 'Of code: a branch, tag or commit; by default the main branch' })),
      }),
      refuses: { ...refuses, 404: 'There is no such ref' },
      read: ({ params: { scope, ...params }, page }) =>
        isInRepository(scope) ? nothing : scopes[scope].read('project', params, page),
      async handle({ actor, params, rows: found, project: place, page, request: { signal } }) {
        const { scope, search, ref } = params
        checkText(search)
        if (!isInRepository(scope)) return scopes[scope].show(services, actor, found, place.fullPath)
        return searchCode(scope, { actor, project: place, page, signal }, { search, ref })
      },
    }),
  ]
}
