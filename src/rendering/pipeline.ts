import type { Root } from 'hast'
import { fromParse5 } from 'hast-util-from-parse5'
import { toHtml } from 'hast-util-to-html'
import { parseFragment } from 'parse5'
import { renderAsciidoc } from './languages/asciidoc.ts'
import { escapeHtml } from '../kernel/lib/html.ts'
import { renderPlain } from './languages/html.ts'
import { renderMarkdown } from './languages/markdown.ts'
import { renderOrg } from './languages/org.ts'
import { renderRdoc } from './languages/rdoc.ts'
import { codeBlocks } from './filters/code.ts'
import { colorChips } from './filters/colors.ts'
import { emoji } from './filters/emoji.ts'
import { headings } from './filters/headings.ts'
import { inlineDiffs } from './filters/inline-diff.ts'
import { linkAddresses, wikiLinks } from './filters/links.ts'
import { playMedia, proxyMedia } from './filters/media.ts'
import { findReferences, linkReferences } from './filters/references.ts'
import { sanitized } from './sanitize.ts'
import { replaceElements } from './tree.ts'
import type { Candidate, RenderInput, Resolved } from './types.ts'

/** A text on its way to HTML: what it may refer to is known, what that means is not. */
export interface Draft {
  readonly root: Root
  readonly candidates: readonly Candidate[]
}

/** From the text to a tree. */
export async function draft(input: RenderInput): Promise<Draft> {
  const html = await toMarkup(input)
  const root = fromParse5(parseFragment(html)) as Root
  alignCells(root)
  if (input.context.wikiLinks === true) wikiLinks(root)
  if (input.language === 'markdown') {
    inlineDiffs(root)
    colorChips(root)
  }
  return { root, candidates: findReferences(root, input.context.baseUrl) }
}

/** From the tree to HTML; the sanitiser has the last word. */
export function finish({ root }: Draft, { context }: RenderInput, resolved: Resolved): string {
  linkReferences(root, resolved, context.baseUrl)
  emoji(root)
  headings(root)
  linkAddresses(root, context)
  playMedia(root)
  proxyMedia(root, context)
  codeBlocks(root, context.settings)
  return toHtml(sanitized(root))
}

/** The HTML of a language, as its author wrote it: nothing in it can be trusted. */
export async function toMarkup({ text, language, context }: RenderInput): Promise<string> {
  switch (language) {
    case 'markdown':
      return renderMarkdown(frontMatter(text, context.hideFrontMatter === true))
    case 'asciidoc':
      return renderAsciidoc(frontMatter(text, true), {
        files: context.includes ?? {},
        folder: context.links?.folder ?? '',
        limit: context.settings.asciidocMaxIncludes,
      })
    case 'org':
      return renderOrg(frontMatter(text, true))
    case 'rdoc':
      return renderRdoc(frontMatter(text, true))
    case 'plaintext':
      return renderPlain(text)
  }
}

const block =
  /^(---|\+\+\+|;;;)([a-z]{0,20})[^\S\n]*\r?\n([^]{0,65536}?)\r?\n(?:\1|\.\.\.)[^\S\n]*(?:\r?\n|$)/
const languageOf: Readonly<Record<string, string>> = { '---': 'yaml', '+++': 'toml', ';;;': 'json' }

/** The block of YAML, TOML or JSON that a text begins with is shown as code, or not at all. */
function frontMatter(text: string, hidden: boolean): string {
  const found = block.exec(text)
  if (found === null) return text
  const [whole, sign, named, inner] = found
  const rest = text.slice(whole.length)
  const language = named === '' ? languageOf[sign!]! : named!
  return hidden
    ? rest
    : `<pre><code class="language-${language}">${escapeHtml(inner!)}</code></pre>\n\n${rest}`
}

/** Styles do not leave; where text is aligned in a table does. */
function alignCells(root: Root): void {
  replaceElements(root, ({ tagName, properties }) => {
    if (tagName !== 'td' && tagName !== 'th') return undefined
    const { style } = properties
    const side =
      typeof style === 'string' ? /^text-align:\s*(left|right|center);?$/.exec(style)?.[1] : undefined
    if (side !== undefined) properties['align'] = side
    return undefined
  })
}
