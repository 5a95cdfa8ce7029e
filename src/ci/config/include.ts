import { includeText } from '../messages.ts'
import { ConfigError } from './config-error.ts'
import { Budget, checkSize, deepMerge, isMap, newMap, type DataMap } from './data.ts'
import { readYaml } from './yaml.ts'

/** A file that the configuration asks for. `location` is as written and may hold `*`. */
export interface IncludeRequest {
  kind: 'local'
  location: string
}

/** A gathered file. */
export interface IncludedFile {
  /** Its path in the repository. */
  location: string
  content: string
}

/** Gives what was gathered for a request, in order of path; null or nothing where there is no such file. */
export type Includes = (request: IncludeRequest) => readonly IncludedFile[] | null

const mostFiles = 150

/**
 * The include requests of one file, for gathering before `parse`: load them, and ask again for each loaded file.
 * Empty for a file that `parse` will refuse anyway.
 */
export function listIncludes(source: string): IncludeRequest[] {
  try {
    const { content } = readYaml(source)
    return isMap(content) ? requestsOf(content) : []
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}

/** Merges included files below the map's own content, later includes over earlier ones. Throws a ConfigError. */
export function mergeIncludes(
  root: DataMap,
  includes: Includes | undefined,
  budget: Budget,
): { data: DataMap; files: IncludeRequest[] } {
  const files: IncludeRequest[] = []

  function merge(map: DataMap): DataMap {
    let merged = newMap()
    for (const request of requestsOf(map)) {
      for (const file of gathered(request, includes)) {
        if (files.length >= mostFiles) throw new ConfigError(includeText.tooMany(mostFiles))
        files.push({ kind: 'local', location: file.location })
        merged = deepMerge(merged, merge(contentOf(file)), budget)
      }
    }
    const { include: _, ...own } = map
    return deepMerge(merged, own, budget)
  }

  const data = merge(root)
  checkSize(data)
  return { data, files }
}

function requestsOf(map: DataMap): IncludeRequest[] {
  const given = map['include'] ?? []
  return (Array.isArray(given) ? given.flat(10) : [given]).map((one) => {
    if (typeof one === 'string') {
      if (/^https?:\/\//.test(one)) throw new ConfigError(includeText.unsupported('remote'))
      return local(one)
    }
    if (!isMap(one)) throw new ConfigError(includeText.malformed)
    const { local: location, ...others } = one
    const unsupported = Object.keys(others)[0]
    if (unsupported !== undefined) throw new ConfigError(includeText.unsupported(unsupported))
    if (typeof location !== 'string')
      throw new ConfigError(includeText.notText(JSON.stringify(location ?? null)))
    return local(location)
  })
}

function local(location: string): IncludeRequest {
  if (!/\.ya?ml$/.test(location)) throw new ConfigError(includeText.notYaml(location))
  return { kind: 'local', location }
}

function gathered(request: IncludeRequest, includes: Includes | undefined): readonly IncludedFile[] {
  if (includes === undefined) throw new ConfigError(includeText.unsupported('local'))
  const files = includes(request) ?? []
  if (files.length === 0) throw new ConfigError(includeText.missing(request.location))
  return files
}

function contentOf({ location, content }: IncludedFile): DataMap {
  if (content.trim() === '') throw new ConfigError(includeText.empty(location))
  const data = read(location, content)
  if (!isMap(data)) throw new ConfigError(includeText.invalidYaml(location))
  return data
}

function read(location: string, content: string) {
  try {
    return readYaml(content).content
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(includeText.invalidYaml(location))
    throw error
  }
}
