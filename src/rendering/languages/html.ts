/** Text as HTML shows it, also inside of an attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign]!)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function renderPlain(source: string): string {
  return `<pre><code>${escapeHtml(source)}</code></pre>\n`
}

/** The id of a heading: its words in lower case, joined by hyphens. */
export function headingId(text: string, taken: Set<string>): string {
  const base =
    text
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-') || 'section'
  let id = base
  for (let number = 1; taken.has(id); number += 1) id = `${base}-${number}`
  taken.add(id)
  return id
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
