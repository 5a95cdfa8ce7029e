import { ConfigError } from '../config/config-error.ts'
import { Budget, newMap, Reference, type Data } from '../config/data.ts'
import { interpolationText } from '../messages.ts'
import { applyFunction, type ExpandVariables } from './functions.ts'

/** What blocks can name: `inputs` and `component`, each with its values. */
export type Values = ReadonlyMap<string, ReadonlyMap<string, Data>>

const open = '$[['
const close = ']]'
const mostBlocks = 10_000
const largestText = 1024 * 1024
const largestBlock = 1024
const mostFunctions = 3
/** Characters that all texts together may grow to. */
const largestResult = 32 * 1024 * 1024

/** Puts values in place of `$[[ … ]]` in all texts and keys. Throws a ConfigError with the first fault. */
export function interpolate(content: Data, values: Values, expand: ExpandVariables): Data {
  return new Interpolation(values, expand).data(content)
}

class Interpolation {
  readonly #values: Values
  readonly #expand: ExpandVariables
  readonly #blocks = new Map<string, Data>()
  readonly #known = new Map<Data, Data>()
  readonly #budget = new Budget(largestResult, interpolationText.tooLarge)

  constructor(values: Values, expand: ExpandVariables) {
    this.#values = values
    this.#expand = expand
  }

  data(data: Data): Data {
    if (typeof data === 'string') return this.#text(data)
    if (typeof data !== 'object' || data === null) return data
    const known = this.#known.get(data)
    if (known !== undefined) return known
    const made = this.#made(data)
    this.#known.set(data, made)
    return made
  }

  #made(data: Exclude<Data, string | number | boolean | null>): Data {
    if (data instanceof Reference) return new Reference(data.path.map((key) => asText(this.#text(key))))
    if (Array.isArray(data)) return data.map((item) => this.data(item))
    const map = newMap()
    for (const [key, value] of Object.entries(data)) map[asText(this.#text(key))] = this.data(value)
    return map
  }

  /** A text that is one block and nothing else becomes its value, of whatever type. */
  #text(text: string): Data {
    if (!text.includes(open)) return text
    if (Buffer.byteLength(text) > largestText) throw new ConfigError(interpolationText.textTooLarge)
    const pieces: string[] = []
    let at = 0
    for (let start = text.indexOf(open); start !== -1; start = text.indexOf(open, at)) {
      const end = text.indexOf(close, start + open.length)
      if (end === -1) break
      const inner = text.slice(start + open.length, end)
      const value = this.#block(inner)
      if (value === undefined) pieces.push(text.slice(at, end + close.length))
      else if (start === 0 && end + close.length === text.length) return value
      else {
        const written = asText(value)
        this.#budget.spend(written.length)
        pieces.push(text.slice(at, start), written)
      }
      at = end + close.length
    }
    pieces.push(text.slice(at))
    this.#budget.spend(text.length)
    return pieces.join('')
  }

  /** Undefined: not a block of ours, it stays as it is. */
  #block(inner: string): Data | undefined {
    const written = inner.trim()
    // The values of a matrix are put in later, and a block stands on one line.
    if (written === '' || /[\r\n]/.test(inner) || /^matrix\b/.test(written)) return undefined
    if (this.#blocks.has(written)) return this.#blocks.get(written)
    if (this.#blocks.size >= mostBlocks) throw new ConfigError(interpolationText.tooManyBlocks)
    if (Buffer.byteLength(written) > largestBlock) throw new ConfigError(interpolationText.blockTooLarge)
    const [access = '', ...calls] = written.split('|').map((part) => part.trim())
    let value = this.#access(access)
    if (calls.length > mostFunctions) throw new ConfigError(interpolationText.tooManyFunctions)
    for (const call of calls) value = applyFunction(call, value, this.#expand)
    this.#blocks.set(written, value)
    return value
  }

  #access(access: string): Data {
    const [group = '', ...keys] = access.split('.')
    if (keys.length === 0) throw new ConfigError(interpolationText.pattern)
    const [key = '', ...deeper] = keys
    const [name, ...indices] = key.split('[')
    const values = this.#values.get(group)
    if (values === undefined) throw new ConfigError(interpolationText.unknown(group, access))
    const value = values.get(name!)
    if (value === undefined) throw new ConfigError(interpolationText.unknown(name!, access))
    if (deeper.length > 0) throw new ConfigError(interpolationText.unknown(deeper[0]!, access))
    return indices.reduce<Data>((list, index) => itemOf(list, index, access), value)
  }
}

function itemOf(list: Data, written: string, access: string): Data {
  const index = /^(\d{1,9})\]$/.exec(written)?.[1]
  if (index === undefined) throw new ConfigError(interpolationText.badIndex(access))
  if (!Array.isArray(list)) throw new ConfigError(interpolationText.notAList(index, access))
  const item = list[Number(index)]
  if (item === undefined) throw new ConfigError(interpolationText.outOfBounds(index, list.length, access))
  return item
}

function asText(value: Data): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
