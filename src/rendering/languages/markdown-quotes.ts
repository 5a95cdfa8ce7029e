import type { MarkdownIt, StateBlock } from 'markdown-it'

const opening = /^(>{3,})[^\S\n]*(\[!\w+\][^\n]*)?$/

/**
 * What stands between two lines of `>>>` is a quotation, and an alert where `[!note]` stands behind the first. Within it
 * there may be others of fewer signs.
 */
export function multilineQuotes(parser: MarkdownIt): void {
  parser.block.ruler.before('blockquote', 'multiline_quotes', block, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  })
}

function block(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const found = opening.exec(lineOf(state, start))
  if (found === null || state.sCount[start]! - state.blkIndent >= 4) return false
  const [, signs, alert] = found
  const close = closeOf(state, start, end, signs!.length)
  if (close === undefined) return false
  if (silent) return true

  const quote = state.push('blockquote_open', 'blockquote', 1)
  quote.map = [start, close + 1]
  if (alert !== undefined) {
    state.push('paragraph_open', 'p', 1)
    Object.assign(state.push('inline', '', 0), { content: alert, children: [] })
    state.push('paragraph_close', 'p', -1)
  }
  const { parentType, lineMax } = state
  Object.assign(state, { parentType: 'blockquote', lineMax: close })
  state.md.block.tokenize(state, start + 1, close)
  Object.assign(state, { parentType, lineMax, line: close + 1 })
  state.push('blockquote_close', 'blockquote', -1)
  return true
}

/** The line that closes what `start` opens; none where what it stands in ends before. */
function closeOf(state: StateBlock, start: number, end: number, signs: number): number | undefined {
  for (let line = start + 1; line < end; line += 1) {
    const indent = state.sCount[line]! - state.blkIndent
    if (indent < 0 && !state.isEmpty(line)) return undefined
    if (indent >= 4) continue
    const text = lineOf(state, line)
    if (text.length >= signs && /^>+$/.test(text)) return line
  }
  return undefined
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]).trimEnd()
}
