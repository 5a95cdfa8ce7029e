import { invalidParameters } from '../errors/index.ts'
import { arrayTooLarge, hashTooLarge, isUnfit, limits, tooDeep, tooMany } from './json-body.ts'

type Hash = Record<string, unknown>

export const invalidEncoding = () => invalidParameters(['Invalid parameter encoding'])

/**
 * A bag from names in bracket notation: `a=1`, `a[b]=1`, `a[]=1&a[]=2`; in an array of hashes, `a[][b]=1&a[][c]=2`, a
 * name that comes again begins the next element. A later value replaces an earlier one of the same name; one name
 * used for two shapes is `<p> is invalid`. Values that are not text (files) are kept as they are.
 *
 * Hashes have no prototype. Throws 400 beyond the limits of the conventions (1.3).
 */
export function parseNested(pairs: Iterable<readonly [name: string, value: unknown]>): Hash {
  const bag = newHash()
  let total = 0
  for (const [name, value] of pairs) {
    if (++total > limits.total) throw tooMany()
    if (isUnfit(name)) throw invalidEncoding()
    if (typeof value === 'string' && isUnfit(value)) throw invalidParameters([`${name} is invalid`])
    if (!name.includes('[', 1)) {
      if (name !== '' && name !== '__proto__') setScalar(bag, name, value, name)
    } else {
      const path = segments(name)
      if (!path.includes('__proto__')) setNested(bag, path, value)
    }
  }
  // Fewer pairs than one container may have entries cannot fill it.
  if (total > limits.entries) refuseLarge(bag)
  return bag
}

/** The pairs of a query string or URL-encoded form: text as HTTP hands it over, one character a byte. */
export function parseQuery(raw: string): Hash {
  return raw === '' ? newHash() : parseNested(pairsOf(raw))
}

/** One bag of all sources: what comes first wins (path, then query, then body). */
export function mergeParams(...sources: readonly Readonly<Hash>[]): Hash {
  const bag = newHash()
  for (const source of sources) {
    for (const key of Object.keys(source)) if (!(key in bag)) bag[key] = source[key]
  }
  return bag
}

function newHash(): Hash {
  return Object.create(null) as Hash
}

function isHash(value: unknown): value is Hash {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
}

function* pairsOf(raw: string): Iterable<[string, string]> {
  for (let start = 0, end: number; start <= raw.length; start = end + 1) {
    end = raw.indexOf('&', start)
    if (end === -1) end = raw.length
    if (end === start) continue
    const equals = raw.indexOf('=', start)
    const split = equals === -1 || equals > end ? end : equals
    const name = decode(raw.slice(start, split))
    if (name === undefined) throw invalidEncoding()
    const value = decode(raw.slice(split + 1, end))
    if (value === undefined)
      throw isUnfit(name) ? invalidEncoding() : invalidParameters([`${name} is invalid`])
    yield [name, value]
  }
}

const beyondAscii = /[^\0-\x7f]/
const allBeyondAscii = new RegExp(beyondAscii, 'g')
const encoded = /[%+]/

/** Percent-decoded UTF-8, `+` a blank; bytes that came without encoding count as UTF-8 too. Undefined if it is not. */
function decode(text: string): string | undefined {
  if (beyondAscii.test(text)) text = text.replace(allBeyondAscii, percentEncode)
  else if (!encoded.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** A lone `%`, which cannot be decoded, for what is no byte. */
function percentEncode(character: string): string {
  const code = character.charCodeAt(0)
  return code <= 0xff ? `%${code.toString(16)}` : '%'
}

/** `a[b][][c]` as `a`, `b`, ``, `c`: an empty segment is an array. Text that is no bracket is a name as it stands. */
function segments(name: string): string[] {
  const first = name.indexOf('[', 1)
  const path = [name.slice(0, first)]
  for (let at = first; at < name.length;) {
    if (path.length >= limits.depth) throw tooDeep()
    const close = name.charCodeAt(at) === 0x5b ? name.indexOf(']', at) : -1
    path.push(close === -1 ? name.slice(at) : name.slice(at + 1, close))
    at = close === -1 ? name.length : close + 1
  }
  return path
}

function setScalar(hash: Hash, key: string, value: unknown, name: string): void {
  const old = hash[key]
  if (Array.isArray(old) || isHash(old)) throw invalidParameters([`${name} is invalid`])
  hash[key] = value
}

function setNested(bag: Hash, path: readonly string[], value: unknown): void {
  const name = path[0]!
  const last = path.length - 1
  let place: Hash | unknown[] = bag
  for (let at = 0; at < last; at++) {
    const make = path[at + 1] === '' ? (): unknown[] => [] : newHash
    let inner: unknown
    if (Array.isArray(place)) {
      // The last hash is filled until it has the name; arrays within arrays are always begun anew.
      inner = place.at(-1)
      if (!isHash(inner) || path[at + 1] === '' || has(inner, path, at + 1)) place.push((inner = make()))
    } else {
      inner = place[path[at]!] ??= make()
    }
    const fits = path[at + 1] === '' ? Array.isArray(inner) : isHash(inner)
    if (!fits) throw invalidParameters([`${name} is invalid`])
    place = inner as Hash | unknown[]
  }
  if (Array.isArray(place)) place.push(value)
  else setScalar(place, path[last]!, value, name)
}

/** Whether the hash already has a value where the rest of the path, from `at` on, leads. */
function has(hash: Hash, path: readonly string[], at: number): boolean {
  let place: unknown = hash
  for (; at < path.length; at++) {
    if (path[at] === '' || !isHash(place) || !(path[at]! in place)) return false
    place = place[path[at]!]
  }
  return true
}

function refuseLarge(bag: Hash): void {
  const rest: unknown[] = [bag]
  for (let place = rest.pop(); place !== undefined; place = rest.pop()) {
    if (Array.isArray(place)) {
      if (place.length > limits.entries) throw arrayTooLarge()
      rest.push(...containers(place))
    } else if (isHash(place)) {
      const values = Object.values(place)
      if (values.length > limits.entries) throw hashTooLarge()
      rest.push(...containers(values))
    }
  }
}

function containers(values: readonly unknown[]): unknown[] {
  return values.filter((value) => Array.isArray(value) || isHash(value))
}
