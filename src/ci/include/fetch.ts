import { createHash } from 'node:crypto'
import { ConfigError } from '../config/config-error.ts'
import { componentText, includeText } from '../messages.ts'
import { readTemplate } from '../templates/templates.ts'
import { compileWildcard } from '../text/glob.ts'
import { ask, together, type Asking, type Origin, type RemoteFailure } from './asking.ts'
import {
  chooseVersion,
  componentPaths,
  isLatest,
  needsTags,
  parseAddress,
  type ComponentFacts,
} from './component.ts'
import { IncludeVariables, type Surroundings } from './context.ts'
import type { Source, SourceKind } from './entry.ts'

/** An included file, for people. */
export interface IncludeFacts {
  type: 'local' | 'file' | 'remote' | 'template' | 'component' | 'artifact'
  /** As it was asked for, masked. */
  location: string
  /** Where the file lies, for links; null for files of no project. */
  at: (Origin & { path: string }) | null
  extra: Record<string, unknown>
  /** The commit whose file includes it; null when that belongs to no project. */
  from: Origin | null
}

export interface Fetched {
  content: string
  facts: IncludeFacts
  /** For what the file includes itself. */
  around: Surroundings
}

export interface FetchOptions {
  /** Host, and port if unusual, with which addresses of components begin. */
  host: string
  /** The configuration is that of a child pipeline. */
  child: boolean
  /** More files than this are refused by whoever counts, so no more need to be looked for. */
  mostFiles: number
}

/** Gets what one include names; a pattern may name several files, or none. The error is the one to show. */
export function* fetchFiles(
  source: Source,
  around: Surroundings,
  options: FetchOptions,
): Asking<{ files: Fetched[] } | { error: string }> {
  try {
    return { files: yield* fetchers[source.kind](source as never, around, options) }
  } catch (error) {
    if (error instanceof ConfigError) return { error: error.message }
    throw error
  }
}

type Fetchers = {
  [K in SourceKind]: (
    source: Extract<Source, { kind: K }>,
    around: Surroundings,
    options: FetchOptions,
  ) => Asking<Fetched[]>
}

const fetchers: Fetchers = {
  *local({ path }, around, { mostFiles }) {
    const shown = around.variables.mask(path)
    const { origin } = around
    if (origin === null) throw new ConfigError(includeText.noProject(shown))
    if (!path.includes('*')) return [yield* localFile(path, origin, around)]
    const tree = yield* ask('tree', { project: origin.project, ref: origin.sha, anonymous: around.anonymous })
    const paths = (tree ?? []).filter(compileWildcard(path)).slice(0, mostFiles + 1)
    return yield* together(paths.map((one) => localFile(one, origin, around)))
  },

  *project({ project, ref, path }, around) {
    const mask = (text: string) => around.variables.mask(text)
    const names = [mask(project), mask(path)] as const
    const { anonymous } = around
    const found = yield* ask('file', { project, ref, paths: [path], anonymous })
    if ('missing' in found) {
      throw new ConfigError(
        found.missing === 'project'
          ? includeText.projectMissing(names[0])
          : includeText.refMissing(names[0], mask(ref ?? 'HEAD')),
      )
    }
    if (found.content === null) throw new ConfigError(includeText.projectFileMissing(...names))
    if (isBlank(found.content)) throw new ConfigError(includeText.projectFileEmpty(...names))
    const extra = { project: names[0], ref: mask(ref ?? 'HEAD') }
    return [
      {
        content: found.content,
        facts: {
          type: 'file',
          location: names[1],
          at: { ...found.origin, path },
          extra,
          from: around.origin,
        },
        around: { ...around, origin: found.origin, component: null },
      },
    ]
  },

  *remote({ url, integrity, cache }, around) {
    const location = around.variables.mask(url)
    const found = yield* ask('remote', { url, cache })
    if (!('content' in found)) throw new ConfigError(failureText(location, found))
    const { content } = found
    if (
      integrity !== null &&
      integrity !== `sha256-${createHash('sha256').update(content).digest('base64')}`
    ) {
      throw new ConfigError(includeText.integrity(location))
    }
    return [ofNobody('remote', location, content, around)]
  },

  // eslint-disable-next-line require-yield -- they come with the service, there is nothing to ask
  *template({ name }, around) {
    return [ofNobody('template', name, readTemplate(name) ?? '', around)]
  },

  *component({ address }, around, { host }) {
    const texts = componentText(around.variables.mask(address))
    const wanted = parseAddress(address, host)
    if (wanted === null) throw new ConfigError(texts.unsupported)
    const { project, name } = wanted
    const { anonymous } = around
    let version: string | null = wanted.version
    if (needsTags(version)) {
      const tags = yield* ask('tags', { project, anonymous })
      if (tags === null) throw new ConfigError(texts.denied)
      version = chooseVersion(version, tags) ?? (isLatest(version) ? null : version)
    }
    const paths = componentPaths(name)
    if (version === null || version === '' || paths.length === 0) throw new ConfigError(texts.missing)
    const found = yield* ask('file', { project, ref: version, paths, anonymous })
    if ('missing' in found) throw new ConfigError(found.missing === 'project' ? texts.denied : texts.missing)
    if (found.content === null || isBlank(found.content)) throw new ConfigError(texts.missing)
    const { content, origin, path } = found
    const component: ComponentFacts = { name, sha: origin.sha, version, reference: wanted.version }
    const location = around.variables.mask(address)
    return [
      {
        content,
        facts: { type: 'component', location, at: { ...origin, path }, extra: {}, from: around.origin },
        around: { ...around, origin, component },
      },
    ]
  },

  *artifact({ path, job }, around, { child }) {
    const location = around.variables.mask(path)
    if (!child) throw new ConfigError(includeText.artifactOutsideChild)
    if (job === null) throw new ConfigError(includeText.artifactWithoutJob)
    const shown = around.variables.mask(job)
    const found = yield* ask('artifact', { job, path })
    if ('missing' in found) throw new ConfigError(includeText.artifactJobMissing(shown))
    if ('failed' in found) throw new ConfigError(found.failed)
    if (isBlank(found.content)) throw new ConfigError(includeText.artifactEmpty(location))
    const extra = { job_name: shown }
    const facts = { type: 'artifact', location, at: null, extra, from: around.origin } as const
    return [{ content: found.content, facts, around }]
  },
}

function* localFile(path: string, origin: Origin, around: Surroundings): Asking<Fetched> {
  const { anonymous } = around
  const location = around.variables.mask(path)
  const found = yield* ask('file', { project: origin.project, ref: origin.sha, paths: [path], anonymous })
  if ('missing' in found || found.content === null) throw new ConfigError(includeText.missing(location))
  if (isBlank(found.content)) throw new ConfigError(includeText.empty(location))
  const facts = { type: 'local', location, at: { ...origin, path }, extra: {}, from: origin } as const
  return { content: found.content, facts, around }
}

/** What such a file includes is public, and knows no variables. */
function ofNobody(
  type: 'remote' | 'template',
  location: string,
  content: string,
  around: Surroundings,
): Fetched {
  if (isBlank(content)) throw new ConfigError(includeText.nothing(location))
  return {
    content,
    facts: { type, location, at: null, extra: {}, from: around.origin },
    around: { origin: null, variables: new IncludeVariables(undefined), component: null, anonymous: true },
  }
}

function failureText(url: string, failure: RemoteFailure): string {
  if ('status' in failure) return includeText.remoteStatus(url, failure.status, failure.attempts)
  return 'blocked' in failure
    ? includeText.remoteBlocked(failure.blocked)
    : includeText.remoteFailed[failure.failed](url)
}

const isBlank = (text: string) => text.trim() === ''
