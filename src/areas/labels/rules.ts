import { conflict, invalid, notFound } from '../../kernel/errors/index.ts'
import { isLonger } from '../../kernel/lib/characters.ts'
import { parseColor } from './colors.ts'

const longestTitle = 255

/** Refuses a title or a colour that breaks a rule; answers the colour as it is stored. */
export function checkLabel({ title, color }: { readonly title: string; readonly color: string }): string {
  const faults: Record<string, string[]> = {}
  if (title === '') faults['title'] = ["can't be blank"]
  else if (!isTitle(title)) faults['title'] = ['is invalid']
  else if (isLonger(title, longestTitle)) {
    faults['title'] = [`is too long (maximum is ${longestTitle} characters)`]
  }
  const parsed = parseColor(color)
  if (parsed === undefined) faults['color'] = ['must be a valid color code']
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return parsed!
}

/** A comma parts titles wherever several are given. */
export function isTitle(title: string): boolean {
  return title !== '' && !title.includes(',')
}

/** Whether a title that something names in passing can become a label. */
export function mayBecomeLabel(title: string): boolean {
  return isTitle(title) && !isLonger(title, longestTitle)
}

/**
 * `priority` of `priority::high`, all before the last `::`. A noteable has one label of a scope at most; undefined:
 * the label has none.
 */
export function scopeOf(title: string): string | undefined {
  const at = title.lastIndexOf('::')
  return at <= 0 || at === title.length - 2 ? undefined : title.slice(0, at)
}

/** Of labels that are set together the last one of each scope stays. */
export function lastOfEachScope<L extends { readonly title: string }>(labels: readonly L[]): L[] {
  const last = new Map(labels.map((label) => [scopeOf(label.title) ?? label, label]))
  return labels.filter((label) => last.get(scopeOf(label.title) ?? label) === label)
}

export const taken = (): Error => conflict('Label already exists')

export const missing = (): Error => notFound('Label')
