import type { Element } from 'hast'
import { HeadingIds } from '../languages/html.ts'
import { element, replaceElements, text, textOf, type Parent } from '../tree.ts'

interface Heading {
  readonly level: number
  readonly id: string
  readonly title: string
  readonly below: Heading[]
}

const marker = /^\s*(?:\[\[_?TOC_?\]\]|\[TOC\])\s*$/i

/** Gives headings ids that links can name, and puts the table of contents where the text asks for it. */
export function headings(root: Parent): void {
  const ids = new HeadingIds()
  const found: Heading[] = []
  const places: Element[] = []
  replaceElements(root, (node) => {
    const level = /^h([1-6])$/.exec(node.tagName)?.[1]
    if (level !== undefined) {
      const title = textOf(node)
      const { id: given } = node.properties
      const id = typeof given === 'string' && ids.take(given) ? given : ids.make(title)
      node.properties['id'] = id
      found.push({ level: Number(level), id, title, below: [] })
    }
    if (node.tagName === 'p' && node.children.length <= 3 && marker.test(textOf(node))) places.push(node)
    return undefined
  })
  const contents = places.length === 0 ? [] : nested(found)
  for (const place of places) {
    place.tagName = contents.length === 0 ? 'p' : 'ul'
    place.properties = contents.length === 0 ? {} : { className: ['section-nav'] }
    place.children = contents.map(item)
  }
}

/** By level; one that is left out nests no deeper. */
function nested(found: readonly Heading[]): Heading[] {
  const top: Heading[] = []
  const open: Heading[] = []
  for (const heading of found) {
    while (open.length > 0 && open.at(-1)!.level >= heading.level) open.pop()
    const siblings = open.at(-1)?.below ?? top
    siblings.push(heading)
    open.push(heading)
  }
  return top
}

function item({ id, title, below }: Heading): Element {
  const link = element('a', { href: `#${id}` }, [text(title)])
  return element('li', {}, below.length === 0 ? [link] : [link, element('ul', {}, below.map(item))])
}
