import {
  anonymous,
  find,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Answers, ConfigSources, Questions } from '../../ci/index.ts'
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
import type { Settings } from '../../settings/index.ts'
import { readable, refsOf, resolveName, type RepositoryPlaces } from '../repository/index.ts'
import type { RemoteFiles } from './remote-files.ts'

export interface SourceServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly remoteFiles: RemoteFiles
  readonly settings: Settings
}

export interface SourceFacts {
  /** Whose rights decide which other projects there are. */
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly sha: Oid | undefined
  /** Paths changed by the push; null where there is nothing to compare with. */
  readonly changes?: () => Promise<string[] | null>
  /** Files that jobs of the parent pipeline have made. */
  readonly artifact?: (about: Questions['artifact']) => Promise<Answers['artifact']>
}

interface Place {
  readonly repository: Repository
  readonly sha: Oid
  /** Full path of the project. */
  readonly project: string
}

type Missing = { readonly missing: 'project' | 'ref' }

/**
 * What a configuration of this commit may ask for. Other projects are those that `actor` may download from; files of
 * URLs come through the rules for requests to where users point.
 */
export function configSources(
  { db, places, remoteFiles, settings }: SourceServices,
  { actor, project, sha, changes, artifact }: SourceFacts,
): ConfigSources {
  const projects = new Map<string, Promise<ProjectSubject | undefined>>()
  const trees = new Map<string, Promise<string[]>>()
  const largest = settings.values.max_yaml_size_bytes

  async function projectOf(path: string, forNobody: boolean): Promise<ProjectSubject | undefined> {
    const by = forNobody ? anonymous : actor
    if (path === project.fullPath && !forNobody) return project
    const found = await find<ProjectSubject>(db.reader, projectKind, by, path)
    return found !== undefined && may(by, 'download_code', found) ? found : undefined
  }

  function projectAt(path: string, forNobody: boolean): Promise<ProjectSubject | undefined> {
    const key = `${forNobody} ${path}`
    const asked = projects.get(key) ?? projectOf(path, forNobody)
    projects.set(key, asked)
    return asked
  }

  async function placeOf(path: string, ref: string | null, forNobody: boolean): Promise<Place | Missing> {
    const of = await projectAt(path, forNobody)
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
        const content = await readText(place, one, largest)
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
      if (compareTo === null) return { paths: (await changes?.()) ?? null }
      if (sha === undefined) return { paths: null }
      const repository = places.of(project)
      const base = await resolveName(repository, compareTo)
      if (base === undefined) return { missing: 'ref' }
      return { paths: (await changedPaths(repository, base, sha)).map((change) => change.path) }
    },

    remote: (asked) => remoteFiles.read(asked, largest),

    artifact: (about) => artifact?.(about) ?? { missing: 'job' },

    /** A version is published by its tag. */
    async tags({ project: path, anonymous: forNobody }) {
      const of = await projectAt(path, forNobody)
      return of === undefined ? null : ((await refsOf(places, of))?.tags.map(({ name }) => name) ?? [])
    },
  }
}

/** Null: there is no such file. One that is too large comes without its end, for the reader to refuse. */
async function readText(
  { repository, sha }: Place,
  location: string,
  largest: number,
): Promise<string | null> {
  const path = parsePath(location)
  if (path === undefined || path === rootPath) return null
  const found = await findBlob(repository, sha, path)
  if (found === undefined) return null
  if (found.size > largest) return '#'.repeat(largest + 1)
  return (await readBlob(repository, found.oid, largest))?.toString('utf8') ?? null
}

async function pathsOf({ repository, sha }: Place): Promise<string[]> {
  const tree = await listTree(repository, sha, rootPath, { recursive: true })
  return (tree?.entries ?? []).flatMap(({ type, path }) => (type === 'blob' ? [path] : []))
}
