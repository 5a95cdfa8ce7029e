import type { MarkdownIt, Token } from 'markdown-it'

const box = /^\[([ xX~])\](?=\s)/

/** `- [x] done`: a box that shows and cannot be clicked. `~` stands for what was given up. */
export function taskLists(parser: MarkdownIt): void {
  parser.core.ruler.after('inline', 'task-lists', ({ tokens, Token: TokenClass }) => {
    for (let index = 2; index < tokens.length; index += 1) {
      const [item, paragraph, inline] = [tokens[index - 2]!, tokens[index - 1]!, tokens[index]!]
      if (item.type !== 'list_item_open' || paragraph.type !== 'paragraph_open') continue
      const first = inline.children?.[0]
      const found = first?.type === 'text' ? box.exec(first.content) : null
      if (first === undefined || found === null) continue
      first.content = first.content.slice(found[0].length)
      const mark = found[1]!.toLowerCase()
      const checked = mark === 'x' ? ' checked' : ''
      const input = new TokenClass('html_inline', '', 0)
      input.content = `<input type="checkbox" class="task-list-item-checkbox" disabled${checked}>`
      inline.children!.unshift(input)
      item.attrJoin('class', mark === '~' ? 'task-list-item inapplicable' : 'task-list-item')
      listOf(tokens, index - 2)?.attrSet('class', 'task-list')
    }
    return false
  })
}

function listOf(tokens: readonly Token[], item: number): Token | undefined {
  const { level } = tokens[item]!
  for (let index = item - 1; index >= 0; index -= 1) {
    const token = tokens[index]!
    if (token.level === level - 1 && /^(bullet|ordered)_list_open$/.test(token.type)) return token
  }
  return undefined
}
