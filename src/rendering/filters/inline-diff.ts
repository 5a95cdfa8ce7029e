import { element, replaceTexts, text, type Node, type Parent } from '../tree.ts'

const pattern = /\{\+(.{1,1000}?)\+\}|\[\+(.{1,1000}?)\+\]|\{-(.{1,1000}?)-\}|\[-(.{1,1000}?)-\]/g

/** `{+ what came +}` and `[- what went -]`. */
export function inlineDiffs(root: Parent): void {
  replaceTexts(root, (value) => {
    const nodes: Node[] = []
    let from = 0
    for (const found of value.matchAll(pattern)) {
      const [whole, ...texts] = found
      const added = whole.charAt(1) === '+'
      const className = ['idiff', 'left', 'right', added ? 'addition' : 'deletion']
      nodes.push(text(value.slice(from, found.index)), element('span', { className }, [text(texts.join(''))]))
      from = found.index + whole.length
    }
    return nodes.length === 0 ? undefined : [...nodes, text(value.slice(from))]
  })
}
