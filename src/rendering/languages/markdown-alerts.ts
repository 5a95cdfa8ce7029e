import type { MarkdownIt } from 'markdown-it'

const kinds = {
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  caution: 'Caution',
  warning: 'Warning',
} as const
const marker = /^\[!(note|tip|important|caution|warning)\][^\S\n]*([^\n]*)(?:\n|$)/i

/** A quotation that begins with `[!note]` stands out; what follows on the line is its title. */
export function alerts(parser: MarkdownIt): void {
  parser.core.ruler.after('block', 'alerts', ({ tokens, Token: TokenClass }) => {
    for (let index = 0; index + 2 < tokens.length; index += 1) {
      const [quote, paragraph, inline] = [tokens[index]!, tokens[index + 1]!, tokens[index + 2]!]
      if (quote.type !== 'blockquote_open' || paragraph.type !== 'paragraph_open') continue
      const found = marker.exec(inline.content)
      if (found === null) continue
      const kind = found[1]!.toLowerCase() as keyof typeof kinds
      quote.tag = 'div'
      quote.attrSet('class', `markdown-alert markdown-alert-${kind}`)
      const close = tokens
        .slice(index)
        .find(({ type, level }) => type === 'blockquote_close' && level === quote.level)
      if (close !== undefined) close.tag = 'div'
      inline.content = inline.content.slice(found[0].length)
      const title = new TokenClass('html_block', '', 0)
      const shown = found[2]!.trim()
      title.content = `<p class="markdown-alert-title">${parser.utils.escapeHtml(shown === '' ? kinds[kind] : shown)}</p>\n`
      // A title alone leaves no empty paragraph behind.
      if (inline.content === '') tokens.splice(index + 1, 3, title)
      else tokens.splice(index + 1, 0, title)
    }
    return false
  })
}
