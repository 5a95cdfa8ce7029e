/** What a component's own file can say about itself. */
export interface ComponentFacts {
  name: string
  sha: string
  /** The version that was chosen: the tag's name for `~latest` and `1.2`. */
  version: string
  /** The version as it was asked for. */
  reference: string
}

export interface ComponentAddress {
  project: string
  name: string
  version: string
}

const latest = '~latest'
const shorthand = /^\d{1,9}(\.\d{1,9})?$/

/** `host/group/project/name@version` of this host; null for any other text. */
export function parseAddress(address: string, host: string): ComponentAddress | null {
  const at = address.indexOf('@')
  if (host === '' || at === -1 || !address.startsWith(`${host}/`)) return null
  const path = address.slice(host.length + 1, at)
  const slash = path.lastIndexOf('/')
  const [project, name] = [path.slice(0, Math.max(slash, 0)), path.slice(slash + 1)]
  return project === '' ? null : { project, name, version: address.slice(at + 1) }
}

/** Where the file of a component can lie; none for what can be no name. */
export function componentPaths(name: string): string[] {
  return /^[\w-][\w.-]*$/.test(name) ? [`templates/${name}.yml`, `templates/${name}/template.yml`] : []
}

/** Whether only the list of tags tells what the version means. */
export function needsTags(version: string): boolean {
  return version === latest || shorthand.test(version)
}

/**
 * The tag of the highest version that `~latest`, `1` or `1.2` can mean; a version before its release counts only when
 * it is named in full. Null when there is none; then a number may still be the name of a branch.
 */
export function chooseVersion(version: string, tags: readonly string[]): string | null {
  const wanted = version === latest ? [] : version.split('.').map(Number)
  const fitting = tags.flatMap((tag) => {
    const numbers = released(tag)
    return numbers !== null && wanted.every((number, i) => numbers[i] === number) ? [{ tag, numbers }] : []
  })
  return fitting.sort((a, b) => compare(b.numbers, a.numbers))[0]?.tag ?? null
}

export function isLatest(version: string): boolean {
  return version === latest
}

function released(tag: string): number[] | null {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(\+[\w.-]+)?$/.exec(tag)
  return match && match.slice(1, 4).map(Number)
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, i) => number !== b[i])
  return at === -1 ? 0 : a[at]! - b[at]!
}
