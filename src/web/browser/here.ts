/** Where this page is: what the service found in its address. */
interface Here {
  /** By the names in the form of the address, as `project` and `id`; decoded. */
  readonly named: Readonly<Record<string, string | undefined>>
}

const { root: way = '.', named: found = '{}' } = document.body.dataset

/** Where the service has its root, with a slash at the end; that may be below the root of the host. */
const root = new URL(way, location.href)

export const here: Here = { named: JSON.parse(found) as Here['named'] }

/** What the address names so; pages ask for what their addresses have. */
export function named(name: string): string {
  const value = here.named[name]
  if (value === undefined) throw new Error(`The address names no ${name}.`)
  return value
}

export const query: URLSearchParams = new URLSearchParams(location.search)

type Part = string | number

/** An address of this service. Each part becomes part of a path; those of `slashed` keep their slashes. */
export function address(strings: TemplateStringsArray, ...parts: readonly (Part | Slashed)[]): string {
  const path = strings.map((text, index) => text + encoded(parts[index])).join('')
  return new URL(path.replace(/^\//, ''), root).href
}

/** An endpoint of the API: `endpoint`/projects/${id}/issues``. */
export function endpoint(strings: TemplateStringsArray, ...parts: readonly Part[]): string {
  const path = strings.map((text, index) => text + encoded(parts[index])).join('')
  return new URL(`api/v4${path}`, root).href
}

interface Slashed {
  readonly slashed: string
}

/** A path within an address, as that of a project, a ref or a file. */
export function slashed(path: string): Slashed {
  return { slashed: path }
}

function encoded(part: Part | Slashed | undefined): string {
  if (part === undefined) return ''
  return typeof part === 'object'
    ? part.slashed.split('/').map(encodeURIComponent).join('/')
    : encodeURIComponent(part)
}

/** This address with some of its parameters changed; those that are undefined are left out. */
export function withQuery(changes: Readonly<Record<string, Part | undefined>>): string {
  const changed = new URL(location.href)
  changed.hash = ''
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) changed.searchParams.delete(name)
    else changed.searchParams.set(name, String(value))
  }
  return changed.href
}

/** Of an address of this service: path and the rest, from the root of the service on. */
export function rootRelative(href: string): string {
  return `/${href.slice(root.href.length)}`
}
