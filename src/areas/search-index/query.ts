import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Cluster } from './cluster.ts'
import type { Kind } from './documents.ts'
import { aliasOf } from './shape.ts'
import * as store from './store.ts'
import type { Database } from '../../kernel/db/index.ts'

export type IndexedScope = Kind | 'blobs' | 'commits' | 'wiki_blobs'

export interface Sought {
  readonly scope: IndexedScope
  readonly text: string
  /** Where it can be; undefined: anywhere. What lies in no project is found as well, unless it is one project. */
  readonly within: { readonly project: number } | { readonly projects: readonly number[] } | undefined
  readonly state?: string | undefined
  readonly confidential?: boolean | undefined
  /** By age; undefined: what fits best comes first. */
  readonly sort: 'asc' | 'desc' | undefined
}

/** What the index names: nothing is shown before it was read where it is, and by whoever may. */
export interface Hit {
  readonly recordId: number
  readonly projectId: number | null
  readonly wikiId: number
  readonly path: string
  readonly sha: string
}

/** What one search names at most; who gets as many should ask for something rarer. */
export const mostHits = 2000
/** Milliseconds that a caller waits, where the instance says nothing else. */
const usualPatience = 5000

const inCode: ReadonlySet<string> = new Set(['blobs', 'commits', 'wiki_blobs'])

export interface SearchingServices {
  readonly db: Database
  readonly settings: Settings
  readonly cluster: Cluster
  readonly log: Logger
}

/** Searches in the index. */
export class IndexSearch {
  readonly #services: SearchingServices
  #name: string | undefined

  constructor(services: SearchingServices) {
    this.#services = services
  }

  /** Whether searches look into the index at all. */
  get isOn(): boolean {
    const { elasticsearch_search: searches, elasticsearch_indexing: indexes } = this.#services.settings.values
    return searches && indexes
  }

  /** Whether all that lies in a place is in the index; `line`: ids of its groups from the top one down. */
  covers(place: { readonly project?: number; readonly line: readonly number[] } | undefined): boolean {
    const { values } = this.#services.settings
    if (!values.elasticsearch_limit_indexing) return true
    if (place === undefined) return false
    const { project, line } = place
    return (
      (project !== undefined && values.elasticsearch_project_ids.includes(project)) ||
      line.some((id) => values.elasticsearch_namespace_ids.includes(id))
    )
  }

  /** What the index names, the first `mostHits`; undefined: it cannot be asked. */
  async find(sought: Sought): Promise<Hit[] | undefined> {
    const { cluster, settings, log, db } = this.#services
    const { elasticsearch_retry_on_failure: retries, elasticsearch_client_request_timeout: seconds } =
      settings.values
    this.#name ??= (await store.nameOf(db.reader))!
    const part = inCode.has(sought.scope) ? 'code' : 'things'
    try {
      const { status, body } = await cluster.call({
        method: 'POST',
        path: `/${aliasOf({ name: this.#name }, part)}/_search?filter_path=timed_out,_shards.failed,hits.hits._source`,
        body: JSON.stringify(bodyOf(sought)),
        timeout: seconds === 0 ? usualPatience : Math.min(seconds, 60) * 1000,
        retries: Math.min(retries, 10),
      })
      if (status >= 300) return undefined
      const {
        timed_out: late,
        _shards: shards,
        hits,
      } = (body ?? {}) as {
        timed_out?: unknown
        _shards?: { failed?: unknown }
        hits?: { hits?: unknown }
      }
      if (late !== false || shards?.failed !== 0) return undefined
      const found = hits?.hits ?? []
      return Array.isArray(found) ? found.slice(0, mostHits).flatMap(hitOf) : undefined
    } catch (error) {
      log.warn({ err: error }, 'the search cluster could not be asked')
      return undefined
    }
  }
}

function hitOf(hit: unknown): Hit[] {
  const source = (hit as { _source?: Record<string, unknown> | null } | null)?._source ?? undefined
  if (source === undefined) return []
  const number = (name: string): number => (Number.isSafeInteger(source[name]) ? (source[name] as number) : 0)
  const text = (name: string): string => (typeof source[name] === 'string' ? source[name] : '')
  return [
    {
      recordId: number('record_id'),
      projectId: number('project_id') || null,
      wikiId: number('wiki_id'),
      path: text('path'),
      sha: text('sha'),
    },
  ]
}

type Clause = Readonly<Record<string, unknown>>

function bodyOf({ scope, text, within, state, confidential, sort }: Sought): object {
  const filter: Clause[] = [{ term: { kind: scope } }]
  if (within !== undefined && 'project' in within) filter.push({ term: { project_id: within.project } })
  else if (within !== undefined)
    filter.push({
      bool: {
        should: [
          { terms: { project_id: within.projects } },
          { bool: { must_not: [{ exists: { field: 'project_id' } }] } },
        ],
      },
    })
  if (state !== undefined) filter.push({ term: { state } })
  if (confidential !== undefined) filter.push({ term: { confidential } })
  const { words, filters } = scope === 'blobs' ? fileFilters(text) : { words: text, filters: [] }
  filter.push(...filters)
  const number = /^[#!](\d{1,9})$/.exec(words.trim())?.[1]
  const numbered = number !== undefined && (scope === 'issues' || scope === 'merge_requests')
  if (numbered) filter.push({ term: { iid: Number(number) } })
  const must = numbered || words.trim() === '' ? [] : [wordsClause(scope, words)]
  const last = inCode.has(scope) ? [] : [{ record_id: 'desc' }]
  const byAge = { created_at: { order: sort ?? 'desc', missing: '_last' } }
  return {
    size: mostHits,
    _source: ['record_id', 'project_id', 'wiki_id', 'path', 'sha'],
    track_total_hits: false,
    query: { bool: { filter, must } },
    sort: sort === undefined ? [{ _score: 'desc' }, byAge, ...last] : [byAge, ...last],
  }
}

const fields: Readonly<Record<IndexedScope, readonly string[]>> = {
  projects: ['title^10', 'path^2', 'text'],
  issues: ['title^2', 'text'],
  merge_requests: ['title^2', 'text'],
  milestones: ['title^2', 'text'],
  users: ['title^2', 'path'],
  notes: ['text'],
  blobs: ['path^2', 'text'],
  wiki_blobs: ['path^2', 'text'],
  commits: ['text^2', 'title', 'sha'],
}

/** Words all of which must be there, and the operators `"a b"`, `+`, `|`, `-`, `*`, `(`, `)`; no text is refused. */
function wordsClause(scope: IndexedScope, words: string): Clause {
  const query = scope === 'users' ? words.replace(/^@/, '') : words
  return {
    simple_query_string: {
      query,
      fields: fields[scope],
      default_operator: 'and',
      flags: 'AND|OR|NOT|PHRASE|PREFIX|PRECEDENCE|ESCAPE|WHITESPACE',
      lenient: true,
    },
  }
}

/** `filename:`, `path:` and `extension:` among the words, with `*` for anything; with `-` before it, what does not fit. */
function fileFilters(text: string): { words: string; filters: Clause[] } {
  const filters: Clause[] = []
  const words = text.replace(
    /(?<=^|\s)(-?)(filename|path|extension):(\S+)/g,
    (_, not: string, name: string, value: string) => {
      // Of all signs only the star means more than itself.
      const pattern = value.replace(/[\\?]/g, '\\$&')
      const clause =
        name === 'extension'
          ? { wildcard: { extension: { value: pattern.toLowerCase().replace(/^\./, '') } } }
          : name === 'filename'
            ? { wildcard: { filename: { value: pattern, case_insensitive: true } } }
            : { wildcard: { 'path.exact': { value: `*${pattern}*`, case_insensitive: true } } }
      filters.push(not === '-' ? { bool: { must_not: [clause] } } : clause)
      return ''
    },
  )
  return { words, filters }
}
