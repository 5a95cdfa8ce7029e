import { escapeHtml } from '../../kernel/lib/html.ts'

export function renderPlain(source: string): string {
  return `<pre><code>${escapeHtml(source)}</code></pre>\n`
}

/** The ids of the headings of one text, each once. */
export class HeadingIds {
  readonly #taken = new Set<string>()
  /** Where to go on counting: else a text of equal headings takes the square of their number. */
  readonly #next = new Map<string, number>()

  /** False when another heading has it. */
  take(id: string): boolean {
    if (this.#taken.has(id)) return false
    this.#taken.add(id)
    return true
  }

  /** The words in lower case, joined by hyphens, with a number when others have the same. */
  make(words: string): string {
    const base =
      words
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
        .replaceAll(' ', '-') || 'section'
    let number = this.#next.get(base) ?? 0
    let id: string
    do {
      id = number === 0 ? base : `${base}-${number}`
      number += 1
    } while (!this.take(id))
    this.#next.set(base, number)
    return id
  }
}

/** A line of a list: how far it is in, what marks it, what it says. */
export interface ListLine {
  readonly indent: number
  readonly ordered: boolean
  readonly content: string
  /** `- term :: description` */
  readonly term?: string | undefined
}

/** Nested lists from lines that are in by their depth. Contents are HTML. */
export function renderList(lines: readonly ListLine[]): string {
  const out: string[] = []
  const open: { indent: number; tag: string }[] = []
  for (const line of lines) {
    const tag = line.term !== undefined ? 'dl' : line.ordered ? 'ol' : 'ul'
    while (open.length > 0 && open.at(-1)!.indent > line.indent) out.push(...closing(open.pop()!.tag))
    const last = open.at(-1)
    if (last === undefined || (last.indent < line.indent && open.length < deepest)) {
      open.push({ indent: line.indent, tag })
      out.push(`<${tag}>`)
    } else {
      out.push(last.tag === 'dl' ? '</dd>' : '</li>')
      if (last.tag !== tag) {
        out.push(`</${last.tag}>`, `<${tag}>`)
        last.tag = tag
      }
    }
    out.push(line.term === undefined ? `<li>${line.content}` : `<dt>${line.term}</dt><dd>${line.content}`)
  }
  while (open.length > 0) out.push(...closing(open.pop()!.tag))
  return `${out.join('\n')}\n`
}

/** Deeper ones are on the last level. */
const deepest = 20

function closing(tag: string): string[] {
  return [tag === 'dl' ? '</dd>' : '</li>', `</${tag}>`]
}
