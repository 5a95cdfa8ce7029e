import type { WantedArchive } from './archive-answer.ts'

/** What lies at an address below that of a project, and does not change but with its code. */
export type StaticObject =
  | {
      readonly kind: 'raw'
      readonly fullPath: string
      /** Name of a ref and path of a file; where one ends only the refs tell. */
      readonly named: string
    }
  | {
      readonly kind: 'archive'
      readonly fullPath: string
      readonly ref: string
      /** The name it is asked for by, without its format. */
      readonly name: string | undefined
      readonly format: WantedArchive['format']
    }

const place = /^\/((?:[\p{L}\p{N}_.-]+\/)+[\p{L}\p{N}_.-]+)\/-\/(raw|archive)\/(.+)$/u
const archive = /^(.+?)\.(tar\.gz|tgz|gz|tar\.bz2|tbz2?|tb2|bz2|tar|zip)$/u
const longest = 8192
/** Other names of formats that browsers may link to. */
const otherNames: Readonly<Record<string, WantedArchive['format']>> = { tgz: 'tar.gz', gz: 'tar.gz' }

export function wantedAt(path: string): StaticObject | undefined {
  const [, fullPath, kind, rest] = (path.length <= longest && place.exec(decoded(path))) || []
  if (fullPath === undefined || rest === undefined) return undefined
  if (kind === 'raw') return { kind, fullPath, named: rest }
  const [, id, ending] = archive.exec(rest) ?? []
  if (id === undefined || ending === undefined) return undefined
  const slash = id.lastIndexOf('/')
  return {
    kind: 'archive',
    fullPath,
    ref: slash === -1 ? id : id.slice(0, slash),
    name: slash === -1 ? undefined : id.slice(slash + 1),
    format: otherNames[ending] ?? (ending as WantedArchive['format']),
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
