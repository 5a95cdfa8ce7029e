import { deflateSync } from 'node:zlib'
import type { Element } from 'hast'
import type { RenderSettings } from '../types.ts'
import { element, isElement, textOf } from '../tree.ts'

/** What the diagram renderer knows by itself. Mermaid stays with the browser. */
const plain = new Set(
  'bytefield c4plantuml d2 dbml diagramsnet ditaa dot erd graphviz nomnoml pikchr plantuml structurizr svgbob symbolator tikz umlet vega vegalite wavedrom wireviz'.split(
    ' ',
  ),
)
const families: Readonly<Record<string, readonly string[]>> = {
  blockdiag: ['actdiag', 'blockdiag', 'nwdiag', 'packetdiag', 'rackdiag', 'seqdiag'],
  bpmn: ['bpmn'],
  excalidraw: ['excalidraw'],
}
/** Characters of a source above which an image waits for a click. */
const longestShown = 2000

/** The image of a block in a language of diagrams, or undefined where it stays code. */
export function diagram(language: string, source: string, settings: RenderSettings): Element | undefined {
  const code = source.replace(/\n$/, '')
  if (language === 'plantuml' && settings.uml !== undefined) {
    if (!isAddress(settings.uml)) return undefined
    return image('plantuml', `${trimmed(settings.uml)}/png/${umlCode(code)}`, language, code, false)
  }
  const { diagrams } = settings
  if (diagrams === undefined || !isAddress(diagrams.url)) return undefined
  const known =
    plain.has(language) || diagrams.formats.some((family) => families[family]?.includes(language) === true)
  if (!known) return undefined
  const address = `${trimmed(diagrams.url)}/${language}/svg/${diagramCode(code)}`
  return image('js-render-kroki', address, language, code, code.length > longestShown)
}

function image(className: string, src: string, language: string, code: string, hidden: boolean): Element {
  return element('img', {
    src,
    className: [className],
    ...(hidden && { hidden: true }),
    dataDiagram: language,
    dataDiagramSrc: `data:text/plain;base64,${Buffer.from(code).toString('base64')}`,
  })
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'
const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A zlib stream in the alphabet of the UML renderer, without padding. */
export function umlCode(source: string): string {
  const base64 = deflateSync(source).toString('base64').replaceAll('=', '')
  return base64.replaceAll(/./g, (sign) => alphabet[standard.indexOf(sign)]!)
}

export function diagramCode(source: string): string {
  return deflateSync(source, { level: 9 }).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '')
}

function isAddress(url: string): boolean {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '')
}

/** The language of a block of code, and what is in it. */
export function codeBlock(node: Element): { language: string; source: string; code: Element } | undefined {
  if (node.tagName !== 'pre') return undefined
  const code = node.children.find((child) => isElement(child, 'code'))
  if (!isElement(code)) return undefined
  const { className, dataLang } = code.properties
  const classes = Array.isArray(className) ? className.map(String) : []
  const named = classes.find((name) => name.startsWith('language-'))?.slice('language-'.length)
  const language = (named ?? (typeof dataLang === 'string' ? dataLang : '')).toLowerCase()
  return { language, source: textOf(code), code }
}
