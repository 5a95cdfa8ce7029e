import { html, type Html } from '../../kernel/pages/index.ts'

export interface PictureText {
  /** What it is about, on the left. */
  readonly key: string
  readonly value: string
  readonly color: string
}

/** How who asks for a picture wants it; what makes no sense counts as nothing. */
export interface Wishes {
  readonly key_text?: string | undefined
  readonly key_width?: string | undefined
  readonly value_width?: string | undefined
  readonly style?: string | undefined
}

const longestKey = 64
const longestValue = 64
const height = 20
/** Pixels, as READMEs were laid out for. */
const widest = { key: 512, value: 200 }
const narrowest = { key: 62, value: 54 }

/** A picture of two fields, as SVG: a name and what it comes to. */
export function picture({ key, value, color }: PictureText, wishes: Wishes): string {
  const name = ownText(wishes.key_text) ?? key
  const said = value.length > longestValue ? `${value.slice(0, longestValue - 1)}…` : value
  const left = numberIn(wishes.key_width, 1, widest.key) ?? widthOf(name, 'key')
  const right = numberIn(wishes.value_width, 1, widest.value) ?? widthOf(said, 'value')
  const square = wishes.style === 'flat-square'
  const text = (words: string, middle: number): Html =>
    html` ${!square && html`<text x="${middle}" y="15" fill="#010101" fill-opacity=".3">${words}</text>`}
      <text x="${middle}" y="14">${words}</text>`
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img">
    <title>${plain(name)}: ${plain(said)}</title>
    <linearGradient id="b" x2="0" y2="100%">
      <stop offset="0" stop-color="#bbb" stop-opacity=".1" />
      <stop offset="1" stop-opacity=".1" />
    </linearGradient>
    <clipPath id="a"><rect width="${left + right}" height="${height}" rx="${square ? 0 : 3}" /></clipPath>
    <g clip-path="url(#a)">
      <rect width="${left}" height="${height}" fill="#555" />
      <rect x="${left}" width="${right}" height="${height}" fill="${color}" />
      ${!square && html`<rect width="${left + right}" height="${height}" fill="url(#b)" />`}
      <g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">
        ${text(plain(name), left / 2)} ${text(plain(said), left + right / 2)}
      </g>
    </g>
  </svg> `.text
}

/** A whole number within limits; undefined for anything else. */
export function numberIn(text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined || !/^\d{1,4}$/.test(text)) return undefined
  const number = Number(text)
  return number >= least && number <= most ? number : undefined
}

function ownText(text: string | undefined): string | undefined {
  return text === undefined || text === '' || text.length > longestKey ? undefined : text
}

/** XML has no place for control characters, nor for halves of others. */
function plain(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}

/** About what the font needs, with some room beside. */
function widthOf(text: string, field: 'key' | 'value'): number {
  const needed = Array.from(text).reduce((sum, one) => sum + (one > '\u2e7f' ? 11 : 6.6), 12)
  return Math.min(Math.max(Math.ceil(needed), narrowest[field]), widest[field])
}
