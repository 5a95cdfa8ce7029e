import type { Service } from '../../git/index.ts'

export interface GitCommand {
  readonly service: Service
  /** Of the project or wiki, without `.git`. */
  readonly fullPath: string
}

// What users, groups and projects may be called; so no text that the database would refuse gets further than this.
const place = /^(?:[\p{L}\p{N}_.-]+\/)*[\p{L}\p{N}_.-]+$/u
const longest = 2048

/**
 * What `ssh` was asked to run: `git-upload-pack 'group/project.git'`, with its quotes as git writes them. `unknown`:
 * another program; `nothing-there`: a path that nothing can have. Nothing of it is ever run.
 */
export function readCommand(text: string): GitCommand | 'unknown' | 'nothing-there' {
  const [, service, quoted] = /^git[- ](upload-pack|receive-pack) (.*)$/s.exec(text) ?? []
  if (service === undefined || quoted === undefined) return 'unknown'
  const path = unquote(quoted.trim())
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  if (path.length > longest || !place.test(path)) return 'nothing-there'
  return { service: `git-${service as 'upload-pack' | 'receive-pack'}`, fullPath: path }
}

/** Git puts the path between single quotes, and writes a quote or an exclamation mark as `'\''`. */
function unquote(text: string): string {
  return text.startsWith("'") && text.endsWith("'") ? text.slice(1, -1).replaceAll(/'\\(['!])'/g, '$1') : text
}
