import {
  anonymous,
  find,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { ConfigSources } from '../../ci/index.ts'
import {
  changedPaths,
  findBlob,
  listTree,
  parsePath,
  readBlob,
  rootPath,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { readable, resolveName, type RepositoryPlaces } from '../repository/index.ts'

/** Beyond it a file is no configuration anybody wrote. */
const largestFile = 32 * 1024 * 1024

interface Place {
  readonly repository: Repository
  readonly sha: Oid
  /** Full path of the project. */
  readonly project: string
}

type Missing = { readonly missing: 'project' | 'ref' }

/**
 * What a configuration of this commit may ask for. Other projects are those that `actor` may download from. Files of
 * URLs are not fetched: that would be requests of the service to addresses that a user chose.
 */
export function configSources(
  { db, places }: { readonly db: Database; readonly places: RepositoryPlaces },
  {
    actor,
    project,
    sha,
  }: { readonly actor: Actor; readonly project: ProjectSubject; readonly sha: Oid | undefined },
): ConfigSources {
  const projects = new Map<string, Promise<ProjectSubject | undefined>>()
  const trees = new Map<string, Promise<string[]>>()

  async function projectOf(path: string, forNobody: boolean): Promise<ProjectSubject | undefined> {
    const by = forNobody ? anonymous : actor
    if (path === project.fullPath && !forNobody) return project
    const found = await find<ProjectSubject>(db.reader, projectKind, by, path)
    return found !== undefined && may(by, 'download_code', found) ? found : undefined
  }

  async function placeOf(path: string, ref: string | null, forNobody: boolean): Promise<Place | Missing> {
    const key = `${forNobody} ${path}`
    const asked = projects.get(key) ?? projectOf(path, forNobody)
    projects.set(key, asked)
    const of = await asked
    if (of === undefined) return { missing: 'project' }
    const repository = await readable(places, of)
    const oid = repository && (await resolveName(repository, ref ?? undefined))
    return oid === undefined
      ? { missing: 'ref' }
      : { repository: repository!, sha: oid, project: of.fullPath }
  }

  return {
    async file({ project: path, ref, anonymous: forNobody, paths }) {
      const place = await placeOf(path, ref, forNobody)
      if ('missing' in place) return place
      const origin = { project: place.project, sha: place.sha }
      for (const one of paths) {
        const content = await readText(place, one)
        if (content !== null) return { origin, path: one, content }
      }
      return { origin, path: paths[0] ?? '', content: null }
    },

    async tree({ project: path, ref, anonymous: forNobody }) {
      const place = await placeOf(path, ref, forNobody)
      if ('missing' in place) return null
      const key = `${place.project} ${place.sha}`
      const asked = trees.get(key) ?? pathsOf(place)
      trees.set(key, asked)
      return asked
    },

    async changes({ compareTo }) {
      if (compareTo === null || sha === undefined) return { paths: null }
      const repository = places.of(project)
      const base = await resolveName(repository, compareTo)
      if (base === undefined) return { missing: 'ref' }
      return { paths: (await changedPaths(repository, base, sha)).map((change) => change.path) }
    },

    remote: () => ({ blocked: 'the service does not fetch files from other places' }),
    artifact: () => ({ missing: 'job' }),
    tags: () => null,
  }
}

/** Null: there is no such file, or none that could be a configuration. */
async function readText({ repository, sha }: Place, location: string): Promise<string | null> {
  const path = parsePath(location)
  if (path === undefined || path === rootPath) return null
  const found = await findBlob(repository, sha, path)
  if (found === undefined || found.size > largestFile) return null
  return (await readBlob(repository, found.oid, largestFile))?.toString('utf8') ?? null
}

async function pathsOf({ repository, sha }: Place): Promise<string[]> {
  const tree = await listTree(repository, sha, rootPath, { recursive: true })
  return (tree?.entries ?? []).flatMap(({ type, path }) => (type === 'blob' ? [path] : []))
}
