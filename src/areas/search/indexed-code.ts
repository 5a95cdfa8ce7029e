import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { may, readOf, readsNoteable, readsWiki } from '../../access/index.ts'
import {
  branchRef,
  findBlob,
  looksBinary,
  parseFilePath,
  parseOid,
  readBlob,
  readCommits,
  resolve,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import { Page, rows } from '../../kernel/endpoint/index.ts'
import { commitEntity } from '../repository/index.ts'
import { mostHits, type Hit } from '../search-index/index.ts'
import { wikiPageName } from '../wikis/index.ts'
import type { SearchServices } from './index.ts'
import type { Call } from './indexed.ts'

/** A repository in which the caller may look. */
interface Readable {
  /** Of the project, or of the wiki. */
  readonly id: number
  readonly storage: string
  readonly default_branch: string | null
  readonly full_path: string
  readonly project_id: number | null
  /** Of a wiki. */
  readonly group_id?: number | null
}

/** Lines that are shown before and after the one that was found, and characters of all of them. */
const around = 2
const longestData = 5000

/** The places where the caller may look, of those that hits are in. */
type Placing = (ids: readonly number[], call: Call) => RawBuilder<unknown>

/** Whether project `place` below group `above` is where is searched. */
function isThere({ where, place }: Call): RawBuilder<unknown> {
  if (where === 'project') return sql`place.id = ${place!.id}`
  return where === 'group' ? sql`above.traversal_ids @> array[${place!.id}::bigint]` : sql`true`
}

const projectsWithCode: Placing = (ids, call) => {
  const code = readsNoteable({
    kind: 'Commit',
    id: sql`null`,
    projectId: sql`place.id`,
    namespaceId: sql`place.namespace_id`,
  })
  return sql`
    select place.id, place.storage, place.default_branch, place.full_path, place.id as project_id
    from projects place join namespaces above on above.id = place.namespace_id
    where place.id = any (${[...ids]}::bigint[]) and ${isThere(call)} and ${code}`
}

/** Wikis of projects; of groups that of the group that is searched, of which the ability says whether it is open. */
const wikisWithPages: Placing = (ids, call) => {
  const { actor, place } = call
  const own =
    place?.kind === 'group' && may(actor, 'read_wiki', place)
      ? sql`w.namespace_id = ${place.id}::bigint`
      : sql`false`
  return sql`
    select w.id, w.storage, w.default_branch, coalesce(place.full_path, '') as full_path, w.project_id,
      w.namespace_id as group_id
    from wikis w left join projects place on place.id = w.project_id
      left join namespaces above on above.id = place.namespace_id
    where w.id = any (${[...ids]}::bigint[])
      and (${own} or place.id is not null and ${isThere(call)} and ${readsWiki(sql`place.id`)})`
}

/** One page of the hits that the caller may see, each with the repository that it is in. */
async function pageOf(
  { db }: SearchServices,
  call: Call,
  hits: readonly Hit[],
  placing: Placing,
  placeOf: (hit: Hit) => number,
  show: (where: Readable, hit: Hit) => Promise<unknown>,
): Promise<Page<unknown>> {
  const { actor, kind, place, page } = call
  const ids = [...new Set(hits.map(placeOf))]
  const { rows: places } = await readOf<Readable>(
    db,
    kind,
    { actor, subjectId: place?.id },
    rows(placing(ids, call)),
  )
  const open = new Map(places.map((one) => [one.id, one]))
  const seen = hits.flatMap((hit) => {
    const where = open.get(placeOf(hit))
    return where === undefined ? [] : [{ where, hit }]
  })
  const { offset, perPage } = page
  const shown = await Promise.all(
    seen.slice(offset, offset + perPage).map(({ where, hit }) => show(where, hit)),
  )
  return new Page(
    // What is not there any more will leave the index in a moment.
    shown.filter((one) => one !== undefined),
    { total: hits.length < mostHits ? seen.length : undefined, hasMore: seen.length > offset + perPage },
  )
}

export function showCommits(
  services: SearchServices,
  call: Call,
  hits: readonly Hit[],
): Promise<Page<unknown>> {
  const projectOf = ({ projectId }: Hit): number => projectId ?? 0
  return pageOf(services, call, hits, projectsWithCode, projectOf, async (where, { sha }) => {
    const oid = parseOid(sha)
    const [commit] = oid === undefined ? [] : await readCommits(services.places.of(where), [oid])
    return commit && commitEntity(commit, `${services.externalUrl()}/${where.full_path}`)
  })
}

export function showBlobs(
  services: SearchServices,
  call: Call,
  hits: readonly Hit[],
  text: string,
): Promise<Page<unknown>> {
  const projectOf = ({ projectId }: Hit): number => projectId ?? 0
  const wanted = wordsOf(text.replace(/(?<=^|\s)-?(filename|path|extension):\S+/g, ''))
  return pageOf(services, call, hits, projectsWithCode, projectOf, async (where, { path }) =>
    fileOf(services, services.places.of(where), where, path, wanted, where.default_branch ?? ''),
  )
}

export function showPages(
  services: SearchServices,
  call: Call,
  hits: readonly Hit[],
  text: string,
): Promise<Page<unknown>> {
  const pages = hits.filter(({ path }) => wikiPageName(path) !== undefined)
  const wanted = wordsOf(text)
  return pageOf(
    services,
    call,
    pages,
    wikisWithPages,
    ({ wikiId }) => wikiId,
    async (where, { path }) =>
      fileOf(
        services,
        services.places.of({ ...where, id: `wiki-${where.id}` }),
        where,
        path,
        wanted,
        undefined,
      ),
  )
}

/** A file as it is now, around the first line that has one of the words. `ref`: what it is said to be of; undefined: the commit. */
async function fileOf(
  { settings }: SearchServices,
  repository: Repository,
  { default_branch: branch, project_id, group_id }: Readable,
  found: string,
  words: readonly string[],
  ref: string | undefined,
): Promise<object | undefined> {
  const path = parseFilePath(found)
  const head = branch === null ? undefined : branchRef(branch)
  const commit: Oid | undefined = head === undefined ? undefined : await resolve(repository, head)
  const blob = path && commit && (await findBlob(repository, commit, path))
  if (path === undefined || commit === undefined || blob === undefined) return undefined
  const largest = settings.values.elasticsearch_indexed_file_size_limit_kb * 1024
  const content = blob.size > largest ? undefined : await readBlob(repository, blob.oid, largest)
  const text = content === undefined || looksBinary(content) ? '' : content.toString('utf8')
  const lines = text.split('\n')
  const at = Math.max(
    0,
    lines.findIndex((line) => {
      const lower = line.toLowerCase()
      return words.some((word) => lower.includes(word))
    }),
  )
  const first = Math.max(0, at - around)
  return {
    basename: found.replace(/\.[^./]*$/, ''),
    data: lines
      .slice(first, at + around + 1)
      .join('\n')
      .slice(0, longestData),
    path: found,
    filename: found,
    id: null,
    ref: ref ?? commit,
    startline: first + 1,
    project_id,
    group_id,
  }
}

/** What is to stand in the text: words without what is excluded and without operators. */
function wordsOf(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((part) => !part.startsWith('-'))
    .flatMap((part) => part.toLowerCase().split(/[^\p{L}\p{N}_]+/u))
    .filter((word) => word !== '')
}
