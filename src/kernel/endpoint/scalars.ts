import { isDayText, parseInstant } from './time-text.ts'
import { UploadedFile } from './types.ts'

/** Gives the coerced value, null for "no value", or undefined after adding to the faults. */
export type Check = (value: unknown, name: string, faults: string[]) => unknown

export function invalid(name: string, faults: string[]): unknown {
  faults.push(`${name} is invalid`)
  return undefined
}

export function unlisted(name: string, faults: string[]): unknown {
  faults.push(`${name} does not have a valid value`)
  return undefined
}

export const text: Check = (value, name, faults) => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return invalid(name, faults)
}

const decimal = /^[+-]?\d+$/

/** 64 bits, of which numbers here carry 53. */
export const longInteger: Check = (value, name, faults) => {
  if (typeof value === 'string') {
    if (value === '') return null
    value = decimal.test(value) ? Number(value) : undefined
  }
  // `+ 0` turns -0, which `-0` gives, into 0.
  return Number.isSafeInteger(value) ? (value as number) + 0 : invalid(name, faults)
}

/** 32 bits. */
export const integer: Check = (value, name, faults) => {
  const number = longInteger(value, name, faults)
  return typeof number !== 'number' || Math.trunc(number / 2 ** 31) === 0 ? number : invalid(name, faults)
}

const fraction = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i

export const float: Check = (value, name, faults) => {
  if (typeof value === 'string') {
    if (value === '') return null
    value = fraction.test(value) ? Number(value) : undefined
  }
  return Number.isFinite(value) ? (value as number) + 0 : invalid(name, faults)
}

function casesOf(words: string[]): string[] {
  return words.flatMap((word) => [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()])
}

const flags = new Map<unknown, boolean>([
  ...[true, 1, ...casesOf(['1', 't', 'y', 'yes', 'on', 'true'])].map((word) => [word, true] as const),
  ...[false, 0, ...casesOf(['0', 'f', 'n', 'no', 'off', 'false'])].map((word) => [word, false] as const),
])

export const flag: Check = (value, name, faults) => {
  if (typeof value === 'boolean') return value
  if (value === '') return null
  return flags.get(value) ?? invalid(name, faults)
}

export const moment: Check = (value, name, faults) => {
  if (value === '') return null
  if (typeof value === 'string') return parseInstant(value) ?? invalid(name, faults)
  return value instanceof Date && !Number.isNaN(value.getTime()) ? value : invalid(name, faults)
}

export const day: Check = (value, name, faults) => {
  if (value === '') return null
  if (typeof value !== 'string') return invalid(name, faults)
  // Typed clients know moments only, and send midnight for a day.
  const text = value[10] === 'T' && parseInstant(value) !== undefined ? value.slice(0, 10) : value
  return isDayText(text) ? text : invalid(name, faults)
}

export const file: Check = (value, name, faults) =>
  value instanceof UploadedFile ? value : invalid(name, faults)
