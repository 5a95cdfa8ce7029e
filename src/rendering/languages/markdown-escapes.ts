import type { MarkdownIt } from 'markdown-it'

/** Signs that references begin with, and how they go on. */
const signs = /^[@#!$&~%]$/
const goesOn = /^[\w"]/

/** `\#1` is no reference: the sign is in an element of its own, so that it does not stand before the number. */
export function escapedSigns(parser: MarkdownIt): void {
  const { escapeHtml } = parser.utils
  parser.core.ruler.before('text_join', 'escaped-signs', ({ tokens }) => {
    for (const { children } of tokens) {
      for (const [at, token] of (children ?? []).entries()) {
        if (token.type !== 'text_special' || token.info !== 'escape' || !signs.test(token.content)) continue
        if (!goesOn.test(children?.[at + 1]?.content ?? '')) continue
        token.type = 'html_inline'
        token.content = `<span>${escapeHtml(token.content)}</span>`
      }
    }
    return false
  })
}
