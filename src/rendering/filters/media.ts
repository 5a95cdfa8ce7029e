import { createHmac } from 'node:crypto'
import type { Element } from 'hast'
import type { RenderContext } from '../types.ts'
import { element, replaceElements, text, type Parent } from '../tree.ts'

const video = /\.(?:mp4|m4v|mov|webm|ogv)$/i
const audio = /\.(?:mp3|oga|ogg|spx|wav)$/i

/** Images that are films or sounds play. */
export function playMedia(root: Parent): void {
  replaceElements(root, (node) => {
    const { src, alt } = node.properties
    if (node.tagName !== 'img' || typeof src !== 'string') return undefined
    const path = src.replace(/[?#].*$/s, '')
    const tag = video.test(path) ? 'video' : audio.test(path) ? 'audio' : undefined
    if (tag === undefined) return undefined
    const label = typeof alt === 'string' && alt !== '' ? alt : (path.split('/').at(-1) ?? '')
    return [
      element(tag, { src, controls: true, preload: 'metadata' }, [
        element('a', { href: src }, [text(label)]),
      ]),
    ]
  })
}

/** Media of other hosts come through the proxy (completions of part 3, 8.7), so that these learn of no reader. */
export function proxyMedia(root: Parent, { settings: { assetProxy }, baseUrl }: RenderContext): void {
  if (assetProxy === undefined) return
  const own = hostOf(baseUrl)
  const free = [...assetProxy.allowed, ...(own === undefined ? [] : [own])].map(
    (host) => new RegExp(`^${host.split('*').map(literal).join('.*')}$`, 'i'),
  )
  replaceElements(root, (node) => {
    if (/^(?:img|video|audio)$/.test(node.tagName)) viaProxy(node, assetProxy, free)
    return undefined
  })
}

function viaProxy(node: Element, proxy: { url: string; key: string }, free: readonly RegExp[]): void {
  const { src } = node.properties
  // What names no host lies here.
  if (typeof src !== 'string' || !/^(?:\/\/|[a-z][a-z0-9+.-]*:)/i.test(src)) return
  const host = hostOf(src)
  if (host !== undefined && free.some((pattern) => pattern.test(host))) return
  node.properties['src'] = proxyAddress(proxy, src)
  node.properties['dataCanonicalSrc'] = src
}

export function proxyAddress({ url, key }: { url: string; key: string }, source: string): string {
  const signature = createHmac('sha1', key).update(source).digest('hex')
  return `${url.replace(/\/+$/, '')}/${signature}/${Buffer.from(source).toString('hex')}`
}

function hostOf(address: string): string | undefined {
  const hostname = URL.parse(address, 'https://relative.invalid')?.hostname
  return hostname === '' ? undefined : hostname
}

function literal(part: string): string {
  return part.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`)
}
