import { createHash } from 'node:crypto'
import type { SettingValues } from './catalogue/index.ts'

export interface Terms {
  readonly text: string
  /** What tells this version from others. */
  readonly digest: string
}

const known = new WeakMap<SettingValues, Terms | undefined>()

/** The terms that everybody has to accept; undefined while nobody has to. */
export function enforcedTerms(values: SettingValues): Terms | undefined {
  if (!known.has(values)) known.set(values, values.enforce_terms ? termsOf(values.terms) : undefined)
  return known.get(values)
}

function termsOf(text: string | null): Terms | undefined {
  if (text === null || text.trim() === '') return undefined
  return { text, digest: createHash('sha256').update(text).digest('hex') }
}
