import { fileText } from '../messages.ts'
import { ConfigError } from './config-error.ts'

/** `!reference [job, key]`, until it is resolved. */
export class Reference {
  readonly path: string[]

  constructor(path: string[]) {
    this.path = path
  }
}

/** What a file holds. Aliases share one value, so nothing here is ever changed in place. */
export type Data = string | number | boolean | null | Reference | Data[] | DataMap
export interface DataMap {
  [key: string]: Data
}

export function isMap(value: unknown): value is DataMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference)
}

/** Maps have no prototype: `constructor` and `__proto__` are keys like any other. */
export function newMap(): DataMap {
  return Object.create(null) as DataMap
}

/** Counts work that input could blow up; everything that may multiply spends from one. */
export class Budget {
  readonly #refusal: string
  #left: number

  constructor(steps: number, refusal: string = fileText.tooBig) {
    this.#left = steps
    this.#refusal = refusal
  }

  /** Throws a ConfigError with the refusal when nothing is left. */
  spend(steps = 1): void {
    this.#left -= steps
    if (this.#left < 0) throw new ConfigError(this.#refusal)
  }
}

const mostNodes = 300_000
const usualDepth = 100

/**
 * Refuses data that is too big once every alias is written out, or nested deeper than the given levels. Looks at shared
 * parts once, so it takes as long as the data is, not as long as what it stands for.
 */
export function checkSize(data: Data, deepest = usualDepth): void {
  const known = new Map<Data, Size>()
  measure(data, known, deepest, 0)
}

interface Size {
  nodes: number
  depth: number
}

function measure(data: Data, known: Map<Data, Size>, deepest: number, above: number): Size {
  if (typeof data === 'string') return { nodes: 1 + (data.length >> 6), depth: 0 }
  if (typeof data !== 'object' || data === null || data instanceof Reference) return { nodes: 1, depth: 0 }
  let size = known.get(data)
  if (size === undefined) {
    if (above > deepest) throw new ConfigError(fileText.tooBig)
    size = { nodes: 1, depth: 0 }
    for (const part of Array.isArray(data) ? data : Object.values(data)) {
      const inner = measure(part, known, deepest, above + 1)
      size.nodes += inner.nodes
      size.depth = Math.max(size.depth, inner.depth + 1)
    }
    known.set(data, size)
  }
  if (size.nodes > mostNodes || above + size.depth > deepest) throw new ConfigError(fileText.tooBig)
  return size
}

/** Maps are merged key by key, later wins; anything else is replaced whole. */
export function deepMerge(low: DataMap, high: DataMap, budget: Budget): DataMap {
  const merged = newMap()
  for (const key in low) merged[key] = low[key]!
  for (const key in high) {
    budget.spend()
    const [below, above] = [merged[key], high[key]!]
    merged[key] = isMap(below) && isMap(above) ? deepMerge(below, above, budget) : above
  }
  budget.spend(Object.keys(merged).length)
  return merged
}
