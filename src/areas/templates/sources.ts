import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { findCommit, listTree, parsePath, parseRev, type Oid, type Repository } from '../../git/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import { readFileAt, type RepositoryPlaces } from '../repository/index.ts'
import type { Named } from './kinds.ts'

export interface TemplateServices {
  readonly db: { readonly reader: Reader }
  readonly plan: Plan
  readonly settings: Pick<Settings, 'values'>
  readonly places: RepositoryPlaces
}

/** A project whose files are templates. */
export interface Source {
  readonly id: number
  readonly storage: string
}

/** Where templates lie in a project, and how their names end. */
export interface Shelf {
  readonly folder: string
  readonly ending: string
}

/** Bytes of one template, and templates of one folder. */
const largest = 1024 * 1024
const most = 1000

/**
 * The projects whose template folders are for a project: those that its groups name, the nearest first, and the one of
 * the instance. Who may see the project may see these templates: who named their project has made them for all. A group
 * can only name what lies within it, so that nobody opens what is not his.
 */
export async function sourcesOf(
  { db, plan, settings }: TemplateServices,
  project: Pick<ProjectSubject, 'line'> | undefined,
): Promise<Source[]> {
  if (!offers(plan, 'own_templates')) return []
  const { rows } = await sql<Source>`
    select p.id, p.storage from (
      select (g.settings ->> 'file_template_project_id')::bigint as id, cardinality(g.traversal_ids) as depth, g.id as within
      from namespaces g where g.id = any (${[...(project?.line ?? [])]}::bigint[])
      union all select ${settings.values.file_template_project_id}::bigint, 0, null) named
    join projects p on p.id = named.id join namespaces n on n.id = p.namespace_id
    where not p.repository_empty and p.marked_for_deletion_at is null
      and (named.within is null or named.within = any (n.traversal_ids))
    order by named.depth desc`.execute(db.reader)
  return rows
}

/** The project itself, for what its own issues and merge requests begin with. */
export function itself(actor: Actor, project: ProjectSubject): Source[] {
  return project.repositoryEmpty || !may(actor, 'read_code', project) ? [] : [project]
}

/** The templates of several projects; of one name the first one's. */
export async function namesIn(
  { places }: TemplateServices,
  sources: readonly Source[],
  shelf: Shelf,
): Promise<Named[]> {
  const names = new Set<string>()
  for (const source of sources) {
    const found = await head(places, source)
    for (const { name } of found === undefined ? [] : await filesOn(found, shelf)) names.add(name)
  }
  return [...names].sort().map((name) => ({ key: name, name }))
}

/** The text of a template; undefined: none of the projects has it. */
export async function readIn(
  { places }: TemplateServices,
  sources: readonly Source[],
  shelf: Shelf,
  wanted: string,
): Promise<string | undefined> {
  for (const source of sources) {
    const found = await head(places, source)
    const file = found && (await filesOn(found, shelf)).find(({ name }) => name === wanted)
    if (found === undefined || file === undefined) continue
    const bytes = await readFileAt(found.repository, found.commit, file.path, largest)
    if (Buffer.isBuffer(bytes)) return bytes.toString('utf8')
  }
  return undefined
}

interface Head {
  readonly repository: Repository
  readonly commit: Oid
}

async function head(places: RepositoryPlaces, { id, storage }: Source): Promise<Head | undefined> {
  const repository = places.of({ id, storage })
  const commit = await findCommit(repository, parseRev('HEAD')!).catch(() => undefined)
  return commit && { repository, commit: commit.oid }
}

async function filesOn(
  { repository, commit }: Head,
  { folder, ending }: Shelf,
): Promise<{ name: string; path: string }[]> {
  const tree = await listTree(repository, commit, parsePath(folder)!, { limit: most })
  return (tree?.entries ?? []).flatMap(({ type, mode, name, path }) => {
    const fits = type === 'blob' && mode !== '120000' && name.toLowerCase().endsWith(ending)
    return fits && name.length > ending.length ? [{ name: name.slice(0, -ending.length), path }] : []
  })
}
