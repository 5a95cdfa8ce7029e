import { entryText } from '../messages.ts'
import type { Read } from './spot.ts'

const deepest = 10

/** Commands: a text, or lists of texts within lists, made one flat list. */
export const script: Read<string[]> = (value, spot) => {
  if (typeof value === 'string') return [value]
  const lines: string[] = []
  return Array.isArray(value) && flatten(value, 1, lines) ? lines : spot.fail(entryText.script)
}

function flatten(items: unknown[], depth: number, lines: string[]): boolean {
  if (depth > deepest) return false
  return items.every((item) => {
    if (typeof item !== 'string') return Array.isArray(item) && flatten(item, depth + 1, lines)
    lines.push(item)
    return true
  })
}
