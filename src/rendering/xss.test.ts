import { parse, type DefaultTreeAdapterMap } from 'parse5'
import { describe, expect, test } from 'vitest'
import { draft, finish } from './pipeline.ts'
import type { Language } from './types.ts'
import { markupVectors, urlVectors } from './xss-vectors.ts'

/*
 * What comes out is read by a parser as browsers have it, and everything in it must be on the lists below, which are
 * written down here once more: what is not known to be harmless fails.
 */

const harmlessElements = new Set(
  'html head body a abbr audio b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p picture pre q rp rt ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var video wbr'.split(
    ' ',
  ),
)
const harmlessAttributes = new Set(
  'align alt aria-label aria-describedby aria-labelledby checked cite class colspan controls data-canonical-src data-diagram data-diagram-src data-math-style data-reference-type dir disabled headers height hidden id itemprop lang longdesc name open preload rel reversed rowspan scope span src start title type valign width abbr char charoff compact datetime href hspace vspace'.split(
    ' ',
  ),
)
const addresses = new Set(['href', 'src', 'cite', 'longdesc', 'data-canonical-src'])
const harmlessSchemes = new Set('http: https: mailto: irc: ircs: xmpp: tel: ftp: git: ssh:'.split(' '))

type Node = DefaultTreeAdapterMap['node']

function complaints(html: string): string[] {
  const found: string[] = []
  const look = (node: Node): void => {
    if (node.nodeName === '#comment') found.push('a comment')
    if ('tagName' in node) {
      if ((node.namespaceURI as string) !== 'http://www.w3.org/1999/xhtml')
        found.push(`foreign ${node.tagName}`)
      if (!harmlessElements.has(node.tagName)) found.push(`<${node.tagName}>`)
      for (const { name, value } of node.attrs) {
        if (!harmlessAttributes.has(name)) found.push(`attribute ${name}`)
        if (addresses.has(name)) {
          const { protocol } = URL.parse(value, 'https://base.example') ?? { protocol: 'https:' }
          if (!harmlessSchemes.has(protocol)) found.push(`${name}=${value}`)
        }
        if (name === 'id' && !value.startsWith('user-content-')) found.push(`id ${value}`)
      }
      if (node.tagName === 'input' && !node.attrs.some(({ name }) => name === 'disabled'))
        found.push('a form')
    }
    if ('childNodes' in node) node.childNodes.forEach(look)
  }
  look(parse(html))
  return found
}

async function render(text: string, language: Language): Promise<string> {
  const input = {
    text,
    language,
    context: {
      baseUrl: 'https://base.example',
      wikiLinks: true,
      links: { page: 'https://base.example/wiki', file: 'https://base.example/files', folder: 'a' },
      settings: { version: 0, asciidocMaxIncludes: 32 },
    },
  }
  return finish(await draft(input), input, {})
}

/** The ways into raw markup that each language has. */
const ways: Readonly<Record<Exclude<Language, 'plaintext'>, readonly ((vector: string) => string)[]>> = {
  markdown: [(vector) => vector, (vector) => `text ${vector} text\n`, (vector) => `> - ${vector}`],
  asciidoc: [(vector) => `++++\n${vector}\n++++\n`, (vector) => `pass:[${vector.replaceAll(']', '\\]')}]`],
  org: [(vector) => `#+BEGIN_EXPORT html\n${vector}\n#+END_EXPORT\n`, (vector) => `* ${vector}\n`],
  rdoc: [(vector) => vector, (vector) => `= ${vector}\n\n* ${vector}\n`],
}

const links: Readonly<Record<Exclude<Language, 'plaintext'>, readonly ((url: string) => string)[]>> = {
  markdown: [
    (url) => `[x](${url})`,
    (url) => `[x](<${url}>)`,
    (url) => `![x](${url})`,
    (url) => `<${url}>`,
    (url) => `[x]: ${url}\n\n[x]`,
    (url) => `<a href="${url}">x</a>`,
    (url) => `<img src='${url}' longdesc='${url}'>`,
    (url) => `<video src="${url}"></video><q cite="${url}">q</q>`,
    (url) => `[[x|${url}]] [[${url}]]`,
  ],
  asciidoc: [
    (url) => `link:${url}[x]`,
    (url) => `link:++${url}++[x]`,
    (url) => `image::${url}[x]`,
    (url) => `image:a.png[x,link="${url}"]`,
    (url) => `video::${url}[]`,
    (url) => `:u: ${url}\n\nlink:{u}[x]`,
  ],
  org: [
    (url) => `[[${url}]]`,
    (url) => `[[${url}][x]]`,
    (url) => `[[file:${url}][x]]`,
    (url) => `[[x][[[${url}]]]]`,
  ],
  rdoc: [(url) => `{x}[${url}]`, (url) => `x[${url}]`, (url) => `{x}[link:${url}]`],
}

const cases = (Object.keys(ways) as (keyof typeof ways)[]).flatMap((language) => [
  ...ways[language].flatMap((way) => markupVectors.map((vector) => [language, way(vector)] as const)),
  ...links[language].flatMap((way) => urlVectors.map((vector) => [language, way(vector)] as const)),
])

describe('nothing that runs comes out', () => {
  test('of enough different texts', () => {
    expect(new Set([...markupVectors, ...urlVectors]).size).toBeGreaterThanOrEqual(200)
  })

  test.each(['markdown', 'asciidoc', 'org', 'rdoc'] as const)(
    'of %s',
    { timeout: 120_000 },
    async (language) => {
      const found: string[] = []
      for (const [, text] of cases.filter(([of]) => of === language)) {
        const html = await render(text, language)
        found.push(...complaints(html).map((complaint) => `${complaint} of ${text}: ${html}`))
      }
      expect(found).toEqual([])
    },
  )

  test('and the check itself sees what does', () => {
    for (const html of [
      '<script>x</script>',
      '<p onclick=x>',
      '<a href="javascript:x">',
      '<svg></svg>',
      '<!--x-->',
      '<p id=x>',
      '<p style=x>',
      '<base href=x>',
    ])
      expect(complaints(html), html).not.toEqual([])
  })
})
