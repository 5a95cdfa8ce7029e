import { escapeHtml } from '../../kernel/lib/html.ts'
import { renderList, type ListLine } from './html.ts'

/*
 * RDoc's markup: headings, paragraphs, lists, verbatim text, marks and links. A renderer of ours, since npm has none.
 * One pass over the lines.
 */

const heading = /^(={1,6})\s*([^=\s].*)$/
const item = /^(\s*)([-*]|\d{1,9}\.|[A-Za-z]\.)\s+(.*)$/
const labelled = /^(\s*)(?:\[([^\]\n]{1,500})\]|(\S[^\n:]{0,500})::)\s+(.*)$/

export function renderRdoc(source: string): string {
  const lines = source.split(/\r?\n/)
  const out: string[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at]!
    const found = heading.exec(line)
    if (line.trim() === '') {
      at += 1
    } else if (found !== null) {
      const tag = `h${found[1]!.length}`
      out.push(`<${tag}>${inline(found[2]!)}</${tag}>\n`)
      at += 1
    } else if (/^\s*-{3,}\s*$/.test(line)) {
      out.push('<hr>\n')
      at += 1
    } else if (/^>>>\s*$/.test(line)) {
      at = quote(lines, at + 1, out)
    } else if (isItem(line)) {
      at = list(lines, at, out)
    } else if (/^\s/.test(line)) {
      at = verbatim(lines, at, out)
    } else {
      at = paragraph(lines, at, out)
    }
  }
  return out.join('')
}

function isItem(line: string): boolean {
  return item.test(line) || labelled.test(line)
}

function list(lines: readonly string[], start: number, out: string[]): number {
  const items: { indent: number; ordered: boolean; term: string | undefined; text: string[] }[] = []
  let at = start
  for (; at < lines.length; at += 1) {
    const line = lines[at]!
    const plain = item.exec(line)
    const named = plain === null ? labelled.exec(line) : null
    if (plain !== null) {
      items.push({
        indent: plain[1]!.length,
        ordered: !/^[-*]/.test(plain[2]!),
        term: undefined,
        text: [plain[3]!],
      })
    } else if (named !== null) {
      items.push({ indent: named[1]!.length, ordered: false, term: named[2] ?? named[3], text: [named[4]!] })
    } else if (/^\s+\S/.test(line)) {
      items.at(-1)!.text.push(line.trim())
    } else {
      break
    }
  }
  out.push(
    renderList(
      items.map(({ indent, ordered, term, text }): ListLine => {
        const content = inline(text.join('\n'))
        return term === undefined
          ? { indent, ordered, content }
          : { indent, ordered, content, term: inline(term) }
      }),
    ),
  )
  return at
}

function verbatim(lines: readonly string[], start: number, out: string[]): number {
  let at = start
  const body: string[] = []
  while (at < lines.length && (/^\s+\S/.test(lines[at]!) || lines[at]!.trim() === '')) {
    body.push(lines[at]!)
    at += 1
  }
  while (body.at(-1)?.trim() === '') body.pop()
  const filled = body.filter((line) => line.trim() !== '')
  const indent = filled.reduce((least, line) => Math.min(least, line.search(/\S/)), Infinity)
  const code = body.map((line) => line.slice(indent)).join('\n')
  out.push(`<pre><code class="language-ruby">${escapeHtml(`${code}\n`)}</code></pre>\n`)
  return at
}

function quote(lines: readonly string[], start: number, out: string[]): number {
  let at = start
  const body: string[] = []
  while (at < lines.length && (lines[at]!.trim() === '' || /^\s/.test(lines[at]!))) {
    body.push(lines[at]!.trim())
    at += 1
  }
  const parts = body.join('\n').split(/\n\n+/).filter(Boolean)
  out.push(`<blockquote>\n${parts.map((part) => `<p>${inline(part)}</p>\n`).join('')}</blockquote>\n`)
  return at
}

function paragraph(lines: readonly string[], start: number, out: string[]): number {
  let at = start
  const body: string[] = []
  do {
    body.push(lines[at]!)
    at += 1
  } while (at < lines.length && /^\S/.test(lines[at]!) && !heading.test(lines[at]!) && !isItem(lines[at]!))
  out.push(`<p>${inline(body.join('\n'))}</p>\n`)
  return at
}

const span = new RegExp(
  [
    String.raw`\{(?<shown>[^{}\n]{1,500})\}\[(?<target>[^\]\s]{1,2000})\]`,
    String.raw`(?<word>\b\w{1,100})\[(?<place>(?:https?:|mailto:|link:|rdoc-ref:)[^\]\s]{1,2000})\]`,
    String.raw`(?<url>\bhttps?:\/\/[^\s<>"'\])]{1,2000})`,
    String.raw`(?<![\w*_+])(?<mark>[*_+])(?<body>[^\s*_+]{1,200})\k<mark>(?!\w)`,
    String.raw`<(?<tag>b|i|em|tt|code|s|del)>(?<inside>[^<>]{1,500})<\/\k<tag>>`,
  ].join('|'),
  'g',
)
const marks: Readonly<Record<string, string>> = { '*': 'strong', _: 'em', '+': 'code' }
const tags: Readonly<Record<string, string>> = {
  b: 'strong',
  i: 'em',
  em: 'em',
  tt: 'code',
  code: 'code',
  s: 'del',
  del: 'del',
}

function inline(text: string): string {
  const out: string[] = []
  let from = 0
  for (const found of text.matchAll(span)) {
    out.push(escapeHtml(text.slice(from, found.index)), written(found))
    from = found.index + found[0].length
  }
  out.push(escapeHtml(text.slice(from)))
  return out.join('')
}

function written({ 0: whole, groups = {} }: RegExpExecArray): string {
  const { shown, target, word, place, url, mark, body, tag, inside } = groups
  if (target !== undefined) return link(target, shown!)
  if (place !== undefined) return link(place, word!)
  if (url !== undefined) return link(url, url)
  if (mark !== undefined) return `<${marks[mark]!}>${escapeHtml(body!)}</${marks[mark]!}>`
  if (tag !== undefined) return `<${tags[tag]!}>${escapeHtml(inside!)}</${tags[tag]!}>`
  return escapeHtml(whole)
}

function link(target: string, shown: string): string {
  const address = target.replace(/^(?:link|rdoc-ref):/, '')
  if (/^https?:.*\.(?:png|jpe?g|gif|webp)$/i.test(address) && shown === address) {
    return `<img src="${escapeHtml(address)}">`
  }
  return `<a href="${escapeHtml(address)}">${escapeHtml(shown)}</a>`
}
