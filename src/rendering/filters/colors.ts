import { element, isElement, replaceElements, textOf, type Parent } from '../tree.ts'

const alpha = String.raw`(?:\s*,\s*(?:0|1|0?\.\d{1,6}|\d{1,3}%))?`
const part = String.raw`\s*\d{1,3}%?\s*`
const color = new RegExp(
  String.raw`^(?:#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|rgba?\(${part},${part},${part}${alpha}\s*\)|hsla?\(\s*\d{1,3}\s*,\s*\d{1,3}%\s*,\s*\d{1,3}%${alpha}\s*\))$`,
  'i',
)

/** Colours that are written as code are shown beside it. */
export function colorChips(root: Parent): void {
  replaceElements(root, (node, parent) => {
    if (node.tagName !== 'code' || (parent.type === 'element' && isElement(parent, 'pre'))) return undefined
    const written = textOf(node)
    if (!color.test(written)) return undefined
    const chip = element('span', { style: `background-color: ${written};` })
    node.children.push(element('span', { className: ['gfm-color_chip'] }, [chip]))
    return undefined
  })
}
