import { invalid } from '../../kernel/errors/index.ts'
import type { LinkValues } from './store.ts'

const longestName = 255
const longestDescription = 1_000_000
const longestPath = 128

export function checkRelease({
  name,
  description,
}: {
  readonly name: string | null
  readonly description: string | null
}): void {
  const faults: Record<string, string[]> = {}
  if ((name?.length ?? 0) > longestName)
    faults['name'] = [`is too long (maximum is ${longestName} characters)`]
  if ((description?.length ?? 0) > longestDescription) {
    faults['description'] = [`is too long (maximum is ${longestDescription} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

export interface GivenLink {
  readonly name: string
  readonly url: string
  readonly direct_asset_path?: string | undefined
  /** The old name of `direct_asset_path`. */
  readonly filepath?: string | undefined
  readonly link_type: string
}

/** A link as it is kept; refuses what is none. */
export function checkLink(link: GivenLink): LinkValues {
  const filepath = link.direct_asset_path ?? link.filepath ?? null
  const faults: Record<string, string[]> = {}
  const { protocol } = URL.parse(link.url) ?? {}
  if (protocol === undefined || !['http:', 'https:', 'ftp:'].includes(protocol)) {
    faults['url'] = ['is blocked: Only allowed schemes are http, https, ftp']
  }
  if (link.name.trim() === '') faults['name'] = ["can't be blank"]
  if (link.name.length > longestName) faults['name'] = [`is too long (maximum is ${longestName} characters)`]
  if (filepath !== null && !/^\/([\w.-]+\/?)*[\da-zA-Z]+$/.test(filepath.slice(0, longestPath + 1))) {
    faults['filepath'] = ['is in an invalid format']
  }
  if ((filepath?.length ?? 0) > longestPath) {
    faults['filepath'] = [`is too long (maximum is ${longestPath} characters)`]
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return { name: link.name, url: link.url, filepath, link_type: link.link_type }
}
