import { sql } from '../../kernel/db/index.ts'
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
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { ApiError, badRequest } from '../../kernel/errors/index.ts'
import { searchBlobs, searchCommits, type CodeCall, type WantedCode } from './code.ts'
import { Found } from './entities.ts'
import type { SearchServices } from './index.ts'
import { mayLookFor, readBasic, searchIndexed, type Asked, type Call } from './indexed.ts'
import { scopes, type Where } from './scopes.ts'

const longest = 4096
const mostTerms = 64

const wanted = {
  search: Text({ blank: false, maxLength: longest, description: 'Words; in quotes they follow one another' }),
  search_type: Optional(
    OneOf(['basic', 'advanced', 'zoekt'], {
      description: 'By the database, or by the index where there is one; by default by the index',
    }),
  ),
  state: OneOf(['opened', 'closed', 'merged', 'all'], {
    default: 'all',
    description: 'Of issues and merge requests',
  }),
  confidential: Optional(Flag({ description: 'Of issues' })),
  order_by: Optional(OneOf(['created_at'], {})),
  sort: Optional(
    OneOf(['asc', 'desc'], {
      description: 'By default the newest comes first; of what the index finds, what fits best',
    }),
  ),
}
const about = { method: 'GET', paged: true, answers: ListOf(Found) } as const
const refuses = {
  400: 'There are too many words, or they are too long, or only the index finds such things',
  408: 'Only the index finds such things, and it does not answer',
}

/** What the database does not find in more than one project. */
const onlyIndexed = ['wiki_blobs', 'commits', 'blobs', 'notes'] as const
const inGroups = ['projects', 'issues', 'merge_requests', 'milestones', 'users', ...onlyIndexed] as const
const everywhere = [...inGroups, 'snippet_titles'] as const
const inProjects = ['issues', 'merge_requests', 'milestones', 'users', 'notes'] as const
const inRepositories = ['commits', 'blobs', 'wiki_blobs'] as const
type RepositoryScope = (typeof inRepositories)[number]
type ScopeName = (typeof everywhere)[number]

const isInRepository = (scope: string): scope is RepositoryScope =>
  (inRepositories as readonly string[]).includes(scope)
const isOnlyIndexed = (scope: string): boolean => (onlyIndexed as readonly string[]).includes(scope)

function checkText(text: string): void {
  if (text.length > longest) throw badRequest(`The search must have at most ${longest} characters`)
  if (text.trim().split(/\s+/).length > mostTerms)
    throw badRequest(`The search must have at most ${mostTerms} words`)
}

/** A list that is read elsewhere. */
const nothing = rows<unknown>(sql`select where false`)

interface Params extends Omit<Asked, 'search'> {
  readonly search: string
  readonly search_type?: 'basic' | 'advanced' | 'zoekt' | undefined
  readonly scope: ScopeName
  readonly ref?: string | undefined
}

export function searchEndpoints(services: SearchServices): Endpoint[] {
  const searchCode = (scope: RepositoryScope, call: CodeCall, code: WantedCode): Promise<Page<unknown>> => {
    if (scope === 'blobs') return searchBlobs(services, call, code)
    if (scope === 'commits') return searchCommits(services, call, code)
    const { actor, project: owner, page, signal } = call
    if (!may(actor, 'read_wiki', owner)) return Promise.resolve(new Page([], { total: 0 }))
    return services.wikiPages(owner, code.search, page, signal)
  }

  /** Whether the index may be asked, as far as that is known before the place is. */
  const mayAskIndex = ({ search_type: type, scope }: Pick<Params, 'search_type' | 'scope'>): boolean =>
    type !== 'basic' && scope !== 'snippet_titles' && services.index.isOn

  /** What is read with the caller's access: nothing where the handler finds out what to read. */
  const readAtOnce = (where: Where, params: Params, page: PageInput): Read<unknown> => {
    const { scope } = params
    if (mayAskIndex(params) || isInRepository(scope) || (where !== 'project' && isOnlyIndexed(scope)))
      return nothing
    return scopes[scope].read(where, { ...params, sort: params.sort ?? 'desc' }, page)
  }

  /** What the index finds; undefined: the database is to be asked. */
  const askIndex = async (call: Call, params: Params): Promise<Page<unknown> | undefined> => {
    const { scope, search_type: type, ref } = params
    const { where, place, actor } = call
    checkText(params.search)
    const covered =
      mayAskIndex(params) &&
      services.index.covers(
        place && { line: place.line, ...(place.kind === 'project' && { project: place.id }) },
      )
    if (type === 'zoekt' || (type === 'advanced' && !covered))
      throw badRequest(`Search type ${type} is not available for this request`)
    const needed = where !== 'project' && isOnlyIndexed(scope)
    if (!covered) {
      if (needed) throw badRequest('Scope supported only with advanced search or exact code search')
      return undefined
    }
    if (scope === 'snippet_titles') return undefined
    if (place?.kind === 'project') {
      // The index knows the main branch.
      if (isInRepository(scope) && ref !== undefined && ref !== place.defaultBranch) return undefined
      if (!mayLookFor(actor, scope, place)) return new Page([], { total: 0 })
    }
    const found = await searchIndexed(services, call, scope, params)
    if (found === undefined && needed) throw new ApiError(408, { message: { error: 'Request timed out' } })
    return found
  }

  /** As the gate has read it, or else as the database finds it now. */
  const askDatabase = async (
    call: Call,
    params: Params,
    atOnce: readonly unknown[],
  ): Promise<Page<unknown> | unknown[]> => {
    const scope = params.scope as Exclude<ScopeName, RepositoryScope>
    if (!mayAskIndex(params)) return scopes[scope].show(services, call.actor, atOnce, call.place?.fullPath)
    return readBasic(services, call, scope, { ...params, sort: params.sort ?? 'desc' })
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
      read: ({ params, page }) => readAtOnce('instance', params, page),
      async handle({ actor, params, rows: found, page }) {
        const call: Call = { actor, kind: instance, where: 'instance', place: undefined, page }
        return (await askIndex(call, params)) ?? askDatabase(call, params, found)
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
      read: ({ params, page }) => readAtOnce('group', params, page),
      async handle({ actor, params, rows: found, page, group: place }) {
        const call: Call = { actor, kind: group, where: 'group', place, page }
        return (await askIndex(call, params)) ?? askDatabase(call, params, found)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/search',
      dashed: true,
      summary: 'Search in a project',
      description: 'Code is looked for as it stands, whatever its case; the index finds words of it.',
      on: project,
      may: 'read_project',
      params: Fields({
        scope: OneOf(...inProjects, ...inRepositories),
        ...wanted,
        ref: Optional(Text({ description: 'Of code: a branch, tag or commit; by default the main branch' })),
      }),
      refuses: { ...refuses, 404: 'There is no such ref' },
      read: ({ params, page }) => readAtOnce('project', params, page),
      async handle({ actor, params, rows: found, project: place, page, request: { signal } }) {
        const call: Call = { actor, kind: project, where: 'project', place, page }
        const indexed = await askIndex(call, params)
        if (indexed !== undefined) return indexed
        const { scope, search, ref } = params
        if (!isInRepository(scope)) return askDatabase(call, params, found)
        return searchCode(scope, { actor, project: place, page, signal }, { search, ref })
      },
    }),
  ]
}
