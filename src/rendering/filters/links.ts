import type { Element } from 'hast'
import type { LinkPlaces, RenderContext } from '../types.ts'
import { element, replaceElements, replaceTexts, text, type Node, type Parent } from '../tree.ts'

export const idPrefix = 'user-content-'

/** Where relative addresses lead, and what leads away: hosts of others learn not where a reader came from. */
export function linkAddresses(
  root: Parent,
  { links, uploads, baseUrl, wikiLinks: ofWiki }: RenderContext,
): void {
  replaceElements(root, (node) => {
    if (uploads !== undefined) uploadOf(node, uploads)
    if (node.tagName === 'a') linkTo(node, links, baseUrl, ofWiki === true)
    else if (/^(?:img|video|audio)$/.test(node.tagName)) sourceOf(node, links)
    return undefined
  })
}

/** What uploading answers for texts: `/uploads/<secret>/<name>`, of the project or group that the text is in. */
function uploadOf({ tagName, properties }: Element, uploads: string): void {
  const name = tagName === 'a' ? 'href' : 'src'
  const address = properties[name]
  if (typeof address !== 'string') return
  const rest = /^\/uploads(\/[0-9a-f]{32}\/[^/?#]+)$/.exec(address)?.[1]
  if (rest !== undefined) properties[name] = `${uploads}${rest}`
}

function linkTo(node: Element, links: LinkPlaces | undefined, baseUrl: string, ofWiki: boolean): void {
  const { href } = node.properties
  if (typeof href !== 'string') return
  if (href.startsWith('#')) {
    // Ids of a text get a prefix in the end, so that they never meet those of a page around it.
    if (href.length > 1) node.properties['href'] = `#${idPrefix}${href.slice(1)}`
  } else if (isRelative(href)) {
    if (links !== undefined) node.properties['href'] = resolveAddress(href, links, ofWiki ? 'page' : 'blob')
  } else if (!href.startsWith(`${baseUrl}/`) && /^(?:https?:)?\/\//i.test(href)) {
    node.properties['rel'] = ['nofollow', 'noreferrer', 'noopener']
  }
}

function sourceOf(node: Element, links: LinkPlaces | undefined): void {
  const { src } = node.properties
  if (typeof src === 'string' && links !== undefined && isRelative(src)) {
    node.properties['src'] = resolveAddress(src, links, 'file')
  }
}

function isRelative(address: string): boolean {
  return address !== '' && !/^(?:\/\/|#|[a-z][a-z0-9+.-]*:)/i.test(address)
}

const pageExtension =
  /\.(?:md|mkdn?|mdown|markdown|rdoc|adoc|ad|asciidoc|org|textile|creole|rest|rst|mediawiki|wiki|txt)$/i

/**
 * Relative to the text's folder; from the root after a slash, and for attachments, which all lie there. The pages of
 * wikis are called without their extensions, and other files there have no pages; in repositories all have.
 */
function resolveAddress(address: string, links: LinkPlaces, kind: 'page' | 'blob' | 'file'): string {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(address)!
  const parts = path.startsWith('/') || path.startsWith('uploads/') ? [] : links.folder.split('/')
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  const name = parts.filter((part) => part !== '').join('/')
  const isFile = kind === 'page' && /\.[^./]+$/.test(name) && !pageExtension.test(name)
  if (kind === 'file' || isFile) {
    return `${links.file}/${name}${links.fileQuery ?? ''}`
  }
  const anchor = rest.replace(/#(.+)$/s, `#${idPrefix}$1`)
  return `${links.page}/${kind === 'page' ? name.replace(pageExtension, '') : name}${anchor}`
}

/** `[[Page]]`, `[[shown|page]]`, `[[image.png]]`. */
export function wikiLinks(root: Parent): void {
  replaceTexts(root, (value) => {
    if (!value.includes('[[')) return undefined
    const nodes: Node[] = []
    let from = 0
    for (const found of value.matchAll(/\[\[([^[\]\n|]{1,500})(?:\|([^[\]\n|]{1,500}))?\]\]/g)) {
      if (found[1] === '_TOC_') continue
      nodes.push(text(value.slice(from, found.index)), wikiLink(found[1]!, found[2]))
      from = found.index + found[0].length
    }
    return from === 0 ? undefined : [...nodes, text(value.slice(from))]
  })
}

function wikiLink(first: string, second: string | undefined): Element {
  const target = (second ?? first).trim()
  if (second === undefined && /\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$/i.test(target)) {
    return element('img', { src: target, alt: '' })
  }
  return element('a', { href: target.replaceAll(/\s+/g, '-'), className: ['gfm', 'gfm-gollum-wiki-page'] }, [
    text(first.trim()),
  ])
}
