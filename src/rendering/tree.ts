import type { Element, ElementContent, Root, RootContent, Text } from 'hast'

export type Parent = Root | Element
export type Node = RootContent

export function isElement(node: Node | undefined, ...names: readonly string[]): node is Element {
  return node?.type === 'element' && (names.length === 0 || names.includes(node.tagName))
}

export function element(
  tagName: string,
  properties: Element['properties'] = {},
  children: ElementContent[] = [],
): Element {
  return { type: 'element', tagName, properties, children }
}

export function text(value: string): Text {
  return { type: 'text', value }
}

/** All the text inside. */
export function textOf(node: Node | Root): string {
  if (node.type === 'text') return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

export function classesOf({ properties }: Element): string[] {
  const { className } = properties
  return Array.isArray(className) ? className.map(String) : []
}

/** Every element, outermost first; what a visitor returns takes its place and is not looked into. */
export function replaceElements(
  parent: Parent,
  visit: (node: Element, parent: Parent) => Node[] | undefined,
): void {
  let changed: Node[] | undefined
  for (const [index, child] of parent.children.entries()) {
    const replaced = child.type === 'element' ? visit(child, parent) : undefined
    if (replaced !== undefined) {
      changed ??= parent.children.slice(0, index)
      changed.push(...replaced)
      continue
    }
    changed?.push(child)
    if (child.type === 'element') replaceElements(child, visit)
  }
  if (changed !== undefined) parent.children = changed
}

/** Every text that is prose: not code, not a link, not what another filter will show. */
export function replaceTexts(parent: Parent, visit: (value: string) => Node[] | undefined): void {
  let changed: Node[] | undefined
  for (const [index, child] of parent.children.entries()) {
    const replaced = child.type === 'text' ? visit(child.value) : undefined
    if (replaced !== undefined) {
      changed ??= parent.children.slice(0, index)
      changed.push(...replaced)
      continue
    }
    changed?.push(child)
    if (child.type === 'element' && !notProse.has(child.tagName)) replaceTexts(child, visit)
  }
  if (changed !== undefined) parent.children = changed
}

const notProse = new Set([
  'a',
  'code',
  'pre',
  'kbd',
  'samp',
  'script',
  'style',
  'textarea',
  'title',
  'svg',
  'math',
])
