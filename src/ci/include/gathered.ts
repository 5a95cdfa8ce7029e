import { ConfigError } from '../config/config-error.ts'
import { isMap } from '../config/data.ts'
import { readYaml } from '../config/yaml.ts'
import { includeText } from '../messages.ts'
import { IncludeVariables, type Surroundings } from './context.ts'
import { readIncludes, sourcesOf } from './entry.ts'
import type { Fetched } from './fetch.ts'

/** Local files gathered beforehand, for callers that cannot answer questions; `load` needs none of this. */

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

/**
 * The local include requests of one file: load them, and ask again for each loaded file. Empty for a file that `parse`
 * will refuse anyway.
 */
export function listIncludes(source: string): IncludeRequest[] {
  try {
    const { content } = readYaml(source)
    if (!isMap(content)) return []
    const variables = new IncludeVariables(undefined)
    const sources = readIncludes(content['include'], variables).flatMap((entry) =>
      sourcesOf(entry, variables),
    )
    return sources.flatMap((one) => (one.kind === 'local' ? [{ kind: 'local', location: one.written }] : []))
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}

/** The files of one request, ready to be merged. Throws a ConfigError. */
export function gathered(written: string, around: Surroundings, includes: Includes): Fetched[] {
  const files = includes({ kind: 'local', location: written }) ?? []
  if (files.length === 0) throw new ConfigError(includeText.missing(written))
  return files.map(({ location, content }) => {
    if (content.trim() === '') throw new ConfigError(includeText.empty(location))
    const facts = { type: 'local', location, at: null, extra: {}, from: around.origin } as const
    return { content, facts, around }
  })
}
