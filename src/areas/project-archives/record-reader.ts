import { parseOid, type Oid } from '../../git/index.ts'

/** A record of an archive breaks a rule; the others are taken. */
export class RecordFault extends Error {}

export type Raw = Readonly<Record<string, unknown>>

export const longestTitle = 255
const longestText = 1024 * 1024
const largestInt = 2_147_483_647

function objectOf(value: unknown): Raw {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RecordFault('is no object')
  return value as Raw
}

function listOf<T>(value: unknown, name: string, check: (entry: unknown) => T, most = 10_000): T[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > most) throw new RecordFault(`${name} is no list`)
  return value.map(check)
}

function text(raw: Raw, name: string, longest: number): string {
  const value = raw[name]
  if (typeof value !== 'string' || value.trim() === '' || value.length > longest || value.includes('\0')) {
    throw new RecordFault(`${name} is no fit text`)
  }
  return value
}

function textOrNull(raw: Raw, name: string, longest = longestText): string | null {
  return raw[name] === undefined || raw[name] === null || raw[name] === '' ? null : text(raw, name, longest)
}

function oneOf<const T extends string>(raw: Raw, name: string, values: readonly T[]): T {
  const value = raw[name]
  if (!values.includes(value as T)) throw new RecordFault(`${name} is none of ${values.join(', ')}`)
  return value as T
}

function whole(raw: Raw, name: string, least: number): number {
  const value = raw[name]
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > largestInt) {
    throw new RecordFault(`${name} is no fit number`)
  }
  return value
}

function wholeOrNull(raw: Raw, name: string, least: number): number | null {
  return raw[name] === undefined || raw[name] === null ? null : whole(raw, name, least)
}

/** Before this year, and after that one, there are no projects. */
const years = [1970, 9999] as const

function time(raw: Raw, name: string): string {
  const value = raw[name]
  const date = typeof value === 'string' ? new Date(value) : undefined
  if (date === undefined || Number.isNaN(date.getTime())) throw new RecordFault(`${name} is no time`)
  if (date.getUTCFullYear() < years[0] || date.getUTCFullYear() > years[1]) {
    throw new RecordFault(`${name} is no time`)
  }
  return date.toISOString()
}

function day(raw: Raw, name: string): string | null {
  return raw[name] === undefined || raw[name] === null ? null : time(raw, name).slice(0, 10)
}

function timeOrNull(raw: Raw, name: string): string | null {
  return raw[name] === undefined || raw[name] === null ? null : time(raw, name)
}

function flagOrNull(raw: Raw, name: string): boolean | null {
  const value = raw[name]
  return typeof value === 'boolean' ? value : null
}

function oid(raw: Raw, name: string): Oid {
  const value = raw[name]
  const found = typeof value === 'string' ? parseOid(value) : undefined
  if (found === undefined) throw new RecordFault(`${name} is no commit`)
  return found
}

function oidOrNull(raw: Raw, name: string): Oid | null {
  return raw[name] === undefined || raw[name] === null ? null : oid(raw, name)
}

/** What records are read with. */
export const reader = {
  ...{ objectOf, listOf, text, textOrNull, oneOf, whole, wholeOrNull },
  ...{ time, timeOrNull, day, flagOrNull, oid, oidOrNull },
} as const
