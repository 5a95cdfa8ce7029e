import { referenceText } from '../messages.ts'
import { ConfigError } from './config-error.ts'
import { isMap, newMap, Reference, type Data, type DataMap } from './data.ts'

const deepest = 10

interface Resolved {
  data: Data
  /** How many references one leads through to the end. */
  levels: number
}

/**
 * Puts in what every `!reference` stands for; what is referred to may hold references again, up to ten levels. The
 * result shares its parts: measure it before walking it. Throws a ConfigError.
 */
export function resolveReferences(root: DataMap): DataMap {
  return new Resolution(root).resolve(root, []).data as DataMap
}

class Resolution {
  readonly #root: DataMap
  readonly #known = new Map<Data, Resolved>()
  readonly #byPath = new Map<string, Resolved>()

  constructor(root: DataMap) {
    this.#root = root
  }

  resolve(data: Data, chain: string[]): Resolved {
    if (data instanceof Reference) return this.#follow(data, chain)
    if (typeof data !== 'object' || data === null) return { data, levels: 0 }
    const known = this.#known.get(data)
    if (known !== undefined) return known

    let levels = 0
    const inner = (part: Data) => {
      const resolved = this.resolve(part, chain)
      levels = Math.max(levels, resolved.levels)
      return resolved.data
    }
    const copy = Array.isArray(data) ? data.map(inner) : mapValues(data, inner)
    const resolved = { data: levels === 0 ? data : copy, levels }
    this.#known.set(data, resolved)
    return resolved
  }

  #follow({ path }: Reference, chain: string[]): Resolved {
    const id = JSON.stringify(path)
    if (chain.includes(id)) throw new ConfigError(referenceText.circular(path))
    if (chain.length >= deepest) throw new ConfigError(referenceText.tooDeep(path))
    const known = this.#byPath.get(id)
    const target = known ?? this.#target(path, [...chain, id])
    if (target.data === null) throw new ConfigError(referenceText.missing(path))
    const resolved = known ?? { data: target.data, levels: target.levels + 1 }
    if (chain.length + resolved.levels > deepest) throw new ConfigError(referenceText.tooDeep(path))
    this.#byPath.set(id, resolved)
    return resolved
  }

  #target(path: string[], chain: string[]): Resolved {
    let at: Data = this.#root
    let levels = 0
    for (const key of path) {
      // A reference may lead through another one.
      if (at instanceof Reference) {
        const through = this.#follow(at, chain)
        at = through.data
        levels = Math.max(levels, through.levels)
      }
      at = isMap(at) ? (at[key] ?? null) : null
    }
    const resolved = this.resolve(at, chain)
    return { data: resolved.data, levels: Math.max(levels, resolved.levels) }
  }
}

function mapValues(map: DataMap, change: (data: Data) => Data): DataMap {
  const changed = newMap()
  for (const key in map) changed[key] = change(map[key]!)
  return changed
}
