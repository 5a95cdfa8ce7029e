import { recordReader } from '../project-archives/index.ts'

const { time } = recordReader

export type Raw = Readonly<Record<string, unknown>>

export const longestText = 1024 * 1024
export const longestName = 255

/** What somebody wrote, as much of it as may be kept; null where there is nothing in it. */
export function prose(raw: Raw, name: string): string | null {
  const value = raw[name]
  if (typeof value !== 'string') return null
  const text = value.replaceAll('\0', '').slice(0, longestText)
  return text.trim() === '' ? null : text
}

export function timeOrNull(raw: Raw, name: string): string | null {
  return raw[name] === null || raw[name] === undefined ? null : time(raw, name)
}

/** The name of a commit; null where there is none. */
export function shaOf(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9a-f]{40}$/.test(value) ? value : null
}
