import { sql } from '../../kernel/db/index.ts'
import {
  isAdministrator,
  may,
  projectVisible,
  readOf,
  type Actor,
  type GroupSubject,
  type group,
  type instance,
  type project,
  type ProjectSubject,
} from '../../access/index.ts'
import { Page, rows, type PageInput } from '../../kernel/endpoint/index.ts'
import { mostHits, type Hit, type IndexedScope } from '../search-index/index.ts'
import { showBlobs, showCommits, showPages } from './indexed-code.ts'
import type { SearchServices } from './index.ts'
import { scopes, type Wanted, type Where } from './scopes.ts'

/** A search that somebody makes who has passed the gate for where he makes it. */
export interface Call {
  readonly actor: Actor
  readonly kind: typeof instance | typeof group | typeof project
  readonly where: Where
  /** Undefined: everywhere. */
  readonly place: ProjectSubject | GroupSubject | undefined
  readonly page: PageInput
}

export interface Asked extends Omit<Wanted, 'sort' | 'found'> {
  readonly sort?: 'asc' | 'desc' | undefined
}

/** More projects are not named in a search: who sees as many sees most of what it finds. */
const mostProjects = 10_000

const inCode = { blobs: showBlobs, commits: showCommits, wiki_blobs: showPages } as const

/**
 * What the index finds, read where it is: all access is decided there, by the statements that decide it without an
 * index. Undefined: the index cannot be asked.
 */
export async function searchIndexed(
  services: SearchServices,
  call: Call,
  scope: IndexedScope,
  asked: Asked,
): Promise<Page<unknown> | undefined> {
  const { state, confidential, search: text, sort } = asked
  const hits = await services.index.find({
    scope,
    text,
    within: await withinOf(services, call, scope),
    sort,
    ...(scope === 'issues' && { confidential }),
    ...(scope === 'issues' && state !== 'all' && { state: state === 'merged' ? 'closed' : state }),
    ...(scope === 'merge_requests' && state !== 'all' && { state }),
  })
  if (hits === undefined) return undefined
  if (scope === 'blobs' || scope === 'commits' || scope === 'wiki_blobs')
    return inCode[scope](services, call, hits, text)
  const found = [...new Set(hits.map(({ recordId }) => recordId))]
  return readBasic(services, call, scope, { ...asked, found, sort: sort ?? 'desc' }, hits)
}

/** What the database finds, or reads of what the index has found. */
export async function readBasic(
  services: SearchServices,
  { actor, kind, where, place, page }: Call,
  scope: keyof typeof scopes,
  wanted: Wanted,
  hits?: readonly Hit[],
): Promise<Page<unknown>> {
  const read = scopes[scope].read(where, wanted, page)
  const { rows: found, total } = await readOf(services.db, kind, { actor, subjectId: place?.id }, read)
  const shown = scopes[scope].show(services, actor, found.slice(0, page.perPage), place?.fullPath)
  const isMore = hits?.length === mostHits
  return new Page(shown, { total: isMore ? undefined : total, hasMore: found.length > page.perPage })
}

/** The projects in which something can be that the caller sees, so that others do not crowd it out. */
async function withinOf(
  { db }: SearchServices,
  { actor, kind, where, place }: Call,
  scope: IndexedScope,
): Promise<{ project: number } | { projects: readonly number[] } | undefined> {
  if (scope === 'users') return undefined
  if (where === 'project') return { project: place!.id }
  if (where === 'instance' && isAdministrator(actor)) return undefined
  const inside =
    where === 'group'
      ? sql`exists (select from namespaces n where n.id = p.namespace_id and n.traversal_ids @> array[subject.id])`
      : sql`true`
  const { rows: found } = await readOf<{ id: number }>(
    db,
    kind,
    { actor, subjectId: place?.id },
    rows(sql`select p.id from projects p where ${inside} and ${projectVisible} limit ${mostProjects + 1}`),
  )
  return found.length > mostProjects ? undefined : { projects: found.map(({ id }) => id) }
}

/** Whether the caller may look for this at all in the one project that he searches. */
export function mayLookFor(actor: Actor, scope: IndexedScope, place: ProjectSubject): boolean {
  if (scope === 'wiki_blobs') return may(actor, 'read_wiki', place)
  return (scope !== 'blobs' && scope !== 'commits') || may(actor, 'read_code', place)
}
