import { parse, parseDocument, stringify } from 'yaml'

/** Longer blocks are content: nobody writes them by hand, and YAML takes its time. */
const longest = 64 * 1024

const opening = /^---[^\S\n]*\r?\n/
const closing = /^(?:---|\.\.\.)[^\S\n]*(?:\r?\n|$)/m

/** The block of YAML that a text begins with, without its fences, and what follows it. */
export function splitFrontMatter(text: string): { block: string; rest: string } | undefined {
  const start = opening.exec(text)
  if (start === null) return undefined
  const after = text.slice(start[0].length, start[0].length + longest)
  const end = closing.exec(after)
  if (end === null) return undefined
  const from = start[0].length + end.index + end[0].length
  return { block: after.slice(0, end.index), rest: text.slice(from) }
}

/** What the block says; nothing where there is none, or where it is no YAML object. */
export function frontMatterOf(text: string): Record<string, unknown> {
  const found = splitFrontMatter(text)
  if (found === undefined) return {}
  try {
    const value: unknown = parse(found.block, { maxAliasCount: 50, logLevel: 'silent' })
    const plain = typeof value === 'object' && value !== null && !Array.isArray(value)
    // As JSON has it: what a client reads back is what it would write.
    return plain ? (JSON.parse(JSON.stringify(value)) as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The text with this title in its block, which is made if there is none. Other keys and comments stay. */
export function withTitle(text: string, title: string): string {
  const found = splitFrontMatter(text)
  if (found === undefined) return `---\n${stringify({ title })}---\n${text}`
  const document = parseDocument(found.block, { logLevel: 'silent' })
  if (document.errors.length > 0) return `---\n${stringify({ title })}---\n${text}`
  document.set('title', title)
  return `---\n${document.toString()}---\n${found.rest}`
}
