import makeParser, { type MarkdownIt } from 'markdown-it'
import footnote from 'markdown-it-footnote'
import { bareAddresses } from './markdown-addresses.ts'
import { alerts } from './markdown-alerts.ts'
import { escapedSigns } from './markdown-escapes.ts'
import { imageSizes } from './markdown-images.ts'
import { math } from './markdown-math.ts'
import { multilineQuotes } from './markdown-quotes.ts'
import { taskLists } from './markdown-tasks.ts'

/** CommonMark and nothing else: the core that everything below is added to. */
export function commonMark(): MarkdownIt {
  const parser = makeParser('commonmark', { html: true, maxNesting: 100 })
  // The specification puts what a quotation holds on lines of its own, also where it holds nothing.
  parser.renderer.rules['blockquote_open'] = (tokens, index, options, _env, renderer) => {
    const html = renderer.renderToken(tokens, index, options)
    return html.endsWith('\n') ? html : `${html}\n`
  }
  return parser
}

/** The core with tables, strikethrough, and what the files beside this one add. */
export function markdown(): MarkdownIt {
  const parser = commonMark()
  parser.enable(['table', 'strikethrough'])
  parser.use(bareAddresses)
  parser.use(footnote)
  parser.use(multilineQuotes)
  parser.use(taskLists)
  parser.use(alerts)
  parser.use(math)
  parser.use(imageSizes)
  parser.use(escapedSigns)
  return parser
}

let made: MarkdownIt | undefined

export function renderMarkdown(source: string): string {
  made ??= markdown()
  return made.render(source)
}
