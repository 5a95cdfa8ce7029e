import { isLonger } from '../../kernel/lib/characters.ts'
import { parseDuration } from '../../kernel/lib/duration.ts'
import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { Read, Spot } from './spot.ts'

/** The words readers are made of. */

export function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

export function matching<T>(is: (value: unknown) => value is T, message: string): Read<T> {
  return (value, spot) => (is(value) ? value : spot.fail(message))
}

export const string = matching((value) => typeof value === 'string', entryText.string)
export const boolean = matching((value) => typeof value === 'boolean', entryText.boolean)
export const map = matching(isMap, entryText.hash)
export const strings = matching(isStrings, entryText.stringArray)
export const array = matching((value): value is unknown[] => Array.isArray(value), entryText.array)

/** A word or number where a text is meant. */
export const text: Read<string> = (value, spot) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : spot.fail(entryText.string)

export const stringOrStrings: Read<string[]> = (value, spot) => {
  if (typeof value === 'string') return [value]
  return isStrings(value) ? value : spot.fail(entryText.stringArrayOrString)
}

export function oneOf<W extends string>(words: readonly W[], message = entryText.oneOf(words)): Read<W> {
  return matching((value): value is W => (words as readonly unknown[]).includes(value), message)
}

export function between(lowest: number, highest: number): Read<number> {
  return (value, spot) => {
    if (!Number.isInteger(value)) return spot.fail(entryText.integer)
    if ((value as number) < lowest) return spot.fail(entryText.atLeast(lowest))
    return (value as number) > highest ? spot.fail(entryText.atMost(highest)) : (value as number)
  }
}

export function atMostCharacters(limit: number, read: Read<string> = string): Read<string> {
  return (value, spot) => {
    const found = read(value, spot)
    return found !== undefined && isLonger(found, limit) ? spot.fail(entryText.tooLong(limit)) : found
  }
}

export function atMostItems<T>(limit: number, read: Read<T[]>): Read<T[]> {
  return (value, spot) => {
    const found = read(value, spot)
    return found !== undefined && found.length > limit ? spot.fail(entryText.tooLongList(limit)) : found
  }
}

/** Seconds, from `lowest` up to (and with) `highest`. */
export function duration(lowest: number, highest: number): Read<number> {
  return (value, spot) => {
    const seconds = typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : null
    if (seconds === null || seconds < lowest) return spot.fail(entryText.duration)
    return seconds > highest ? spot.fail(entryText.durationLimit) : seconds
  }
}

/** Checked as a duration, kept as written. */
export function durationText(...also: string[]): Read<string> {
  return (value, spot) => {
    if (typeof value !== 'string' && typeof value !== 'number') return spot.fail(entryText.duration)
    const written = String(value)
    return also.includes(written) || parseDuration(value) !== null ? written : spot.fail(entryText.duration)
  }
}

/** The same, or a variable that will hold one. */
export function durationOrVariable(...also: string[]): Read<string> {
  const plain = durationText(...also)
  return (value, spot) => (typeof value === 'string' && value.includes('$') ? value : plain(value, spot))
}

export function integers(value: unknown): number[] | undefined {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.every((item): item is number => Number.isInteger(item)) ? all : undefined
}

/** One thing, or a list of them, read alike. */
export function oneOrMore<T>(read: Read<T>): Read<T[]> {
  return (value, spot) => {
    const all: unknown[] = Array.isArray(value) ? value : [value]
    return collect(all, (item) => read(item, spot))
  }
}

/** What was read of each; undefined when one was wrong. */
export function collect<V, T>(
  values: readonly V[],
  read: (value: V, index: number) => T | undefined,
): T[] | undefined {
  const found = values.map(read)
  return found.every((item) => item !== undefined) ? found : undefined
}

/** One key of a map: either an attribute of the map's own entry, or an entry below it. */
export interface Field<T> {
  read: Read<T>
  below: string | true | false
}

export const attribute = <T>(read: Read<T>): Field<T> => ({ read, below: false })
/** `name` where the location is called otherwise than the key. */
export const entry = <T>(read: Read<T>, name?: string): Field<T> => ({ read, below: name ?? true })

type Camel<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S
export type Fields = Record<string, Field<unknown>>
export type Values<F extends Fields> = {
  [K in keyof F as Camel<K>]?: F[K] extends Field<infer T> ? T : never
}

/**
 * Reads the keys of a map by a table and gives them back in camel case. Keys not in the table are errors; entries
 * below are looked at only when the map's own attributes are right, and `check`, for what concerns several keys, found
 * nothing. A key without a value is as good as absent.
 */
export function readFields<F extends Fields>(
  table: F,
  value: DataMap,
  spot: Spot,
  check?: (value: DataMap, spot: Spot) => void,
): Values<F> {
  const before = spot.errors.length
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(table, key))
  if (unknown.length > 0) spot.fail(entryText.unknownKeys(unknown, Object.keys(table)))
  const found: Record<string, unknown> = {}
  for (const below of [false, true]) {
    if (below) check?.(value, spot)
    if (below && spot.errors.length > before) break
    for (const [key, field] of Object.entries(table)) {
      const given = value[key]
      if (given === undefined || given === null || (field.below !== false) !== below) continue
      const at = below ? spot.child(typeof field.below === 'string' ? field.below : key) : spot.key(key)
      const read = field.read(given, at)
      if (read !== undefined) found[camel(key)] = read
    }
  }
  return found as Values<F>
}

const camel = (key: string) => key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A map with a fixed table of keys. */
export function mapOf<F extends Fields>(
  table: F,
  check?: (value: DataMap, spot: Spot) => void,
): Read<Values<F>> {
  return (value, spot) => (isMap(value) ? readFields(table, value, spot, check) : spot.fail(entryText.hash))
}

/** Reports keys that are missing; to be called with the map as given. */
export function requireKeys(value: DataMap, keys: readonly string[], spot: Spot): void {
  const missing = keys.filter((key) => value[key] === undefined || value[key] === null)
  if (missing.length > 0) spot.fail(entryText.missingKeys(missing))
}
