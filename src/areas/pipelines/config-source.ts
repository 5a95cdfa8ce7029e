import {
  listIncludes,
  parse,
  type IncludedFile,
  type IncludeRequest,
  type ParseResult,
} from '../../ci/index.ts'
import { compileGlob } from '../../ci/text/glob.ts'
import {
  findBlob,
  listTree,
  parsePath,
  readBlob,
  rootPath,
  type Oid,
  type Repository,
} from '../../git/index.ts'

const mostFiles = 150
/** Beyond it a file is no configuration anybody wrote. */
const largestFile = 32 * 1024 * 1024

/** A commit of a repository, whose tree is listed at most once. */
export class ConfigSource {
  readonly #repository: Repository
  readonly #sha: Oid
  readonly #limit: number
  #paths: Promise<string[]> | undefined

  /** `limit`: bytes of all files together. */
  constructor(repository: Repository, sha: Oid, limit: number) {
    this.#repository = repository
    this.#sha = sha
    this.#limit = Math.min(limit, largestFile)
  }

  /** Undefined: there is no such file. */
  async parse(path: string): Promise<ParseResult | undefined> {
    const source = await this.#read(path)
    if (source === undefined) return undefined
    if (source === null) return { errors: ['The parsed YAML is too big'] }
    const gathered = await this.#gather(source)
    return parse(source, { includes: ({ location }) => gathered.get(location) ?? null })
  }

  /** Paths of all files of the commit. */
  paths(): Promise<string[]> {
    this.#paths ??= listTree(this.#repository, this.#sha, rootPath, { recursive: true }).then((tree) =>
      (tree?.entries ?? []).flatMap(({ type, path }) => (type === 'blob' ? [path] : [])),
    )
    return this.#paths
  }

  /** Null: too large. */
  async #read(location: string): Promise<string | null | undefined> {
    const path = parsePath(location)
    if (path === undefined || path === rootPath) return undefined
    const found = await findBlob(this.#repository, this.#sha, path)
    if (found === undefined) return undefined
    if (found.size > this.#limit) return null
    return (await readBlob(this.#repository, found.oid, this.#limit))?.toString('utf8')
  }

  /** All files that the configuration asks for, and that these ask for, by the location they are asked for with. */
  async #gather(source: string): Promise<Map<string, IncludedFile[]>> {
    const gathered = new Map<string, IncludedFile[]>()
    let files = 0
    let waiting: IncludeRequest[] = listIncludes(source)
    while (waiting.length > 0 && files <= mostFiles) {
      const next: IncludeRequest[] = []
      for (const { location } of waiting) {
        if (gathered.has(location)) continue
        const found = await this.#files(location)
        files += found.length
        gathered.set(location, found)
        next.push(...found.flatMap(({ content }) => listIncludes(content)))
      }
      waiting = next
    }
    return gathered
  }

  async #files(location: string): Promise<IncludedFile[]> {
    const pattern = location.replace(/^\/+/, '')
    const matches = pattern.includes('*') ? compileGlob(pattern) : null
    const paths = matches === null ? [pattern] : (await this.paths()).filter(matches).slice(0, mostFiles + 1)
    const files = await Promise.all(
      paths.map(async (path) => {
        const content = await this.#read(path)
        return typeof content === 'string' ? [{ location: path, content }] : []
      }),
    )
    return files.flat()
  }
}
