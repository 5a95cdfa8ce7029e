/** What a git client asks for under the address of a repository. */
export type GitCall = 'info/refs' | 'git-upload-pack' | 'git-receive-pack'

export interface GitAddress {
  /** Of the project, without `.git`. One that ends in `.wiki` mostly means the wiki of what is called so far. */
  readonly fullPath: string
  readonly call: GitCall
  /** Whether the address has `.git`, as it should. */
  readonly suffixed: boolean
}

// What users, groups and projects may be called; so no text that the database would refuse gets further than this.
const place =
  /^\/((?:[\p{L}\p{N}_.-]+\/)*[\p{L}\p{N}_.-]+?)(\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/u
const longest = 2048

/** The repository that a path means, at any depth of groups; undefined for addresses of something else. */
export function readAddress(path: string): GitAddress | undefined {
  if (path.length > longest) return undefined
  const [, fullPath, suffix, call] = place.exec(decoded(path)) ?? []
  if (fullPath === undefined) return undefined
  // At the top lie groups, of which only the wiki is a repository, and aliases, which are told by their `.git`.
  if (!fullPath.includes('/') && suffix === undefined && containerOfWiki(fullPath) === undefined)
    return undefined
  const parts = fullPath.split('/')
  // `-` marks pages of ours, and nobody can be called `api`.
  if (parts[0]?.toLowerCase() === 'api' || parts.some((part) => /^[.-]+$/.test(part))) return undefined
  return { fullPath, call: call as GitCall, suffixed: suffix !== undefined }
}

/** The project or group whose wiki a path means. */
export function containerOfWiki(fullPath: string): string | undefined {
  return /^(.+)\.wiki$/.exec(fullPath)?.[1]
}

/** The snippet that a path means: `snippets/7`, or `group/project/snippets/7`. */
export function snippetNamed(
  fullPath: string,
): { readonly project: string | undefined; readonly id: number } | undefined {
  const [, project, id] = /^(?:(.+)\/)?snippets\/(\d{1,15})$/.exec(fullPath) ?? []
  return id === undefined ? undefined : { project, id: Number(id) }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
