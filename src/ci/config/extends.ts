import { extendsText } from '../messages.ts'
import { ConfigError } from './config-error.ts'
import { deepMerge, isMap, newMap, type Budget, type Data, type DataMap } from './data.ts'

/** How many `extends` one may go through from a job to its furthest base. */
const deepest = 11

interface Extended {
  map: DataMap
  levels: number
}

/** Merges every first-level map over the ones it extends; later bases win, own keys last. Throws a ConfigError. */
export function resolveExtends(root: DataMap, budget: Budget): DataMap {
  const known = new Map<string, Extended>()

  function extend(name: string, map: DataMap, chain: string[]): Extended {
    const done = known.get(name)
    if (done !== undefined) return done
    const bases = basesOf(map)
    if (bases.length === 0) return { map, levels: 0 }

    const unknown = bases.filter((base) => !(base in root))
    if (unknown.length > 0) throw new ConfigError(extendsText.unknown(name, unknown))
    const invalid = bases.filter((base) => !isMap(root[base]))
    if (invalid.length > 0) throw new ConfigError(extendsText.notMap(name, invalid))
    if (chain.length >= deepest) throw new ConfigError(extendsText.tooDeep(name))
    if (chain.includes(name) || bases.includes(name)) throw new ConfigError(extendsText.circular(name))

    let merged = newMap()
    let levels = 0
    for (const base of bases) {
      const extended = extend(base, root[base] as DataMap, [...chain, name])
      levels = Math.max(levels, extended.levels + 1)
      merged = deepMerge(merged, extended.map, budget)
    }
    if (chain.length + levels > deepest) throw new ConfigError(extendsText.tooDeep(name))
    const result = { map: deepMerge(merged, map, budget), levels }
    known.set(name, result)
    return result
  }

  const extended = newMap()
  for (const [name, value] of Object.entries(root)) {
    extended[name] = isMap(value) ? extend(name, value, []).map : value
  }
  return extended
}

/** A value of another shape is reported with the job's other keys. */
function basesOf(map: DataMap): string[] {
  const value: Data | undefined = map['extends']
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((base) => typeof base === 'string') : []
}
