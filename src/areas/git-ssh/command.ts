import type { Service } from '../../git/index.ts'

export interface GitCommand {
  readonly service: Service
  /** Of the project or wiki, without `.git`. */
  readonly fullPath: string
}

// What users, groups and projects may be called; so no text that the database would refuse gets further than this.
const place = /^(?:[\p{L}\p{N}_.-]+\/)*[\p{L}\p{N}_.-]+$/u
const longest = 2048

/** Login for large files, which are brought and fetched over HTTP. */
export interface LfsCommand {
  readonly operation: 'download' | 'upload'
  readonly fullPath: string
}

/** A file of all that a commit has, or of a part of it: `git archive --remote`. */
export interface ArchiveCommand {
  readonly archiveOf: string
}

/** Something about the account that the key is of. */
export interface AccountCommand {
  readonly about: 'second-factor' | 'recovery-codes' | 'token'
  readonly words: readonly string[]
}

const account: Readonly<Record<string, AccountCommand['about']>> = {
  '2fa_verify': 'second-factor',
  '2fa_recovery_codes': 'recovery-codes',
  personal_access_token: 'token',
}

/**
 * What `ssh` was asked to run: `git-upload-pack 'group/project.git'`, with its quotes as git writes them. `unknown`:
 * another program; `nothing-there`: a path that nothing can have. Nothing of it is ever run.
 */
export function readCommand(
  text: string,
): GitCommand | LfsCommand | ArchiveCommand | AccountCommand | 'unknown' | 'nothing-there' {
  const [first = '', ...words] = wordsOf(text)
  const about = Object.hasOwn(account, first) ? account[first] : undefined
  if (about !== undefined) return { about, words }
  const [, archived] = /^git[- ]upload-archive (.*)$/s.exec(text) ?? []
  if (archived !== undefined) {
    const archiveOf = readPath(archived)
    return archiveOf === undefined ? 'nothing-there' : { archiveOf }
  }
  const [, service, quoted] = /^git[- ](upload-pack|receive-pack) (.*)$/s.exec(text) ?? []
  if (service !== undefined && quoted !== undefined) {
    const fullPath = readPath(quoted)
    return fullPath === undefined
      ? 'nothing-there'
      : { service: `git-${service as 'upload-pack' | 'receive-pack'}`, fullPath }
  }
  const [, named, operation] = /^git-lfs-authenticate (.*) (download|upload)$/s.exec(text) ?? []
  if (named === undefined) return 'unknown'
  const fullPath = readPath(named)
  return fullPath === undefined
    ? 'nothing-there'
    : { operation: operation as LfsCommand['operation'], fullPath }
}

/** As a shell would take them apart, without anything else that a shell does. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    (found) => found[1] ?? found[2] ?? found[3]!,
  )
}

function readPath(quoted: string): string | undefined {
  const path = unquote(quoted.trim())
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return path.length > longest || !place.test(path) ? undefined : path
}

/** Git puts the path between single quotes, and writes a quote or an exclamation mark as `'\''`. */
function unquote(text: string): string {
  return text.startsWith("'") && text.endsWith("'") ? text.slice(1, -1).replaceAll(/'\\(['!])'/g, '$1') : text
}
