import { write } from '../api.ts'
import { tags } from '../dom.ts'
import { endpoint } from '../here.ts'
import { me } from '../session.ts'

const { a, code, div, pre } = tags

/** Longer texts are shown without colours. */
const longestColoured = 300_000

/** The text of a file with the numbers of its lines, each with an address (`#L7`). */
export async function codeView(text: string, name: string): Promise<HTMLElement> {
  const lines = text.replace(/\n$/, '').split('\n').length
  const numbers = Array.from({ length: lines }, (_, index) => {
    const id = `L${index + 1}`
    return a({ id, href: `#${id}` }, index + 1)
  })
  const shown = (await coloured(text, name)) ?? code(text)
  return div({ className: 'code' }, div({ className: 'lines' }, numbers), pre({ tabIndex: 0 }, shown))
}

/** As the service colours a block of code in a text. */
async function coloured(text: string, name: string): Promise<HTMLElement | undefined> {
  if (text.length > longestColoured || (await me()) === undefined) return undefined
  const language = /\.([\w+-]+)$/.exec(name)?.[1] ?? name
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  const written = `${fence}${language}\n${text}\n${fence}`
  const { html } = await write<{ html: string }>('POST', endpoint`/markdown`, { text: written, gfm: true })
  const rendered = div()
  rendered.innerHTML = html
  return rendered.querySelector('code') ?? undefined
}
