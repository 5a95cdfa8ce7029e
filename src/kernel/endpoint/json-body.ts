import { isUtf8 } from 'node:buffer'
import { invalidParameters } from '../errors/index.ts'

/** What one request may carry (conventions 1.3), in JSON as in forms. */
export const limits = { depth: 32, entries: 50_000, total: 100_000 }

export const tooDeep = () => invalidParameters(['Parameters nested too deeply'])
export const tooMany = () => invalidParameters(['Too many total parameters'])
export const arrayTooLarge = () => invalidParameters(['Array parameter too large'])
export const hashTooLarge = () => invalidParameters(['Hash parameter too large'])
export const jsonTooLarge = () => invalidParameters(['JSON body too large'])
const badJson = () => invalidParameters(['Invalid JSON format'])

/** Text that neither the database nor an answer could hold. */
export const isUnfit = (text: string) => text.includes('\0') || !text.isWellFormed()

/**
 * The object a JSON body holds; an empty body is `{}`, and so is `null`, which typed clients send where they have
 * nothing to say. Hostile input is refused before anything is built from it.
 * Throws 400 in the words of the conventions (1.3).
 */
export function parseJson(body: Buffer | string): Record<string, unknown> {
  let text = body as string
  if (typeof body !== 'string') {
    if (!isUtf8(body)) throw badJson()
    text = body.toString('utf8')
  }
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
  if (text.trim() === '') return {}
  const value = parseJsonValue(text)
  if (typeof value !== 'object' || Array.isArray(value)) throw badJson()
  return (value ?? {}) as Record<string, unknown>
}

/** Any JSON value, under the same limits. */
export function parseJsonValue(text: string): unknown {
  measure(text)
  let value: unknown
  try {
    value = longNumber.test(text) ? JSON.parse(text, exact as Reviver) : JSON.parse(text)
  } catch {
    throw badJson()
  }
  // Only an escape can bring in a NUL or half a character, or spell a key in another way.
  if (text.includes('\\u') || text.includes('__proto__') || !text.isWellFormed()) cleanse(value)
  return value
}

/** A number that may be more than a double holds, or its like in a text. */
const longNumber = /\d{16}|\d[eE][+-]?\d{3}/

/** With its third parameter, which tells the text of a number, left out. */
type Reviver = (key: string, value: unknown) => unknown

/** What a double would change stays the text that was sent: where text is wanted it is whole, and no number is wrong. */
function exact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  const digits = source.replace(/e.*$/i, '').replaceAll(/\D|^-?0\.?0*/g, '').length
  const isExact = Number.isFinite(value) && (digits <= 15 || String(value) === source)
  return isExact || Number.isSafeInteger(value) ? value : source
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openHash = 0x7b
const closeHash = 0x7d

/** Counts depth and entries over the raw text: a few bytes of nesting would otherwise cost a lot of memory. */
function measure(text: string): void {
  // Nothing so short can reach a limit but that of depth.
  const counts: number[] = []
  let entries = 1
  let total = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case openArray:
      case openHash:
        if (counts.length >= limits.depth) throw tooDeep()
        counts.push(entries)
        entries = 1
        total++
        break
      case comma:
        entries++
        total++
        break
      case closeArray:
      case closeHash:
        if (entries > limits.entries)
          throw text.charCodeAt(at) === closeArray ? arrayTooLarge() : hashTooLarge()
        entries = counts.pop() ?? 1
        break
    }
    if (total > limits.total) throw tooMany()
  }
}

/** Where the string that begins at `start` ends; the end of the text if it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}

/** Refuses texts that cannot be stored, naming the parameter, and takes `__proto__` away. */
function cleanse(root: unknown): void {
  const rest: [value: unknown, parameter: string][] = [[root, '']]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [value, parameter] = next
    if (typeof value === 'string') {
      if (isUnfit(value)) throw parameter === '' ? badJson() : invalidParameters([`${parameter} is invalid`])
    } else if (Array.isArray(value)) {
      for (const element of value) rest.push([element, parameter])
    } else if (typeof value === 'object' && value !== null) {
      const hash = value as Record<string, unknown>
      for (const key of Object.keys(hash)) {
        if (isUnfit(key)) throw badJson()
        if (key === '__proto__') Reflect.deleteProperty(hash, key)
        else rest.push([hash[key], parameter === '' ? key : parameter])
      }
    }
  }
}
