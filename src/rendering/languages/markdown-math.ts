import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it'

const dollar = 0x24
const longest = 4096

/** Formulas: `` $`a`$ ``, `$a$`, `$$a$$`, and blocks fenced by `$$`. Browsers draw them; here they are only marked. */
export function math(parser: MarkdownIt): void {
  parser.inline.ruler.before('escape', 'math', inline)
  parser.block.ruler.before('fence', 'math', block, { alt: ['paragraph', 'blockquote', 'list'] })
  const { escapeHtml } = parser.utils
  parser.renderer.rules['math_inline'] = (tokens, index) =>
    `<code class="math" data-math-style="${tokens[index]!.info}">${escapeHtml(tokens[index]!.content)}</code>`
  parser.renderer.rules['math_block'] = (tokens, index) =>
    `<pre class="math"><code class="math" data-math-style="display">${escapeHtml(tokens[index]!.content)}</code></pre>\n`
}

function inline(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state
  if (src.charCodeAt(pos) !== dollar) return false
  const rest = src.slice(pos, Math.min(posMax, pos + longest))
  const found =
    /^\$`([^`\n]+)`\$/.exec(rest) ??
    /^\$\$([^$]+)\$\$/.exec(rest) ??
    // Prices are no formulas: no blank inside, no digit behind.
    /^\$(?!\s)([^$\n`]*[^$\s\\`])\$(?!\d)/.exec(rest)
  if (found === null) return false
  if (!silent) {
    const token = state.push('math_inline', 'code', 0)
    token.content = found[1]!
    token.info = found[0].startsWith('$$') ? 'display' : 'inline'
  }
  state.pos += found[0].length
  return true
}

function block(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const lineAt = (line: number): string =>
    state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]).trim()
  if (lineAt(start) !== '$$') return false
  let close = start + 1
  while (close < end && lineAt(close) !== '$$') close += 1
  if (close >= end) return false
  if (silent) return true
  const token = state.push('math_block', 'code', 0)
  token.content = state.getLines(start + 1, close, state.sCount[start]!, false)
  token.map = [start, close + 1]
  state.line = close + 1
  return true
}
