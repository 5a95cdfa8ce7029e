import { escapeHtml } from '../../kernel/lib/html.ts'
import { renderList, type ListLine } from './html.ts'

/*
 * Org, as far as pages of a wiki use it: headlines with keywords and tags, paragraphs, lists, tables, blocks, drawers,
 * links, marks. A renderer of ours, since those that npm has are under licences that do not fit. One pass over the
 * lines, each looked at by patterns without backtracking, so that no text takes long.
 */

const headline = /^(\*{1,20})[^\S\n]+(\S.*)$/
const listItem = /^(\s*)(?:([-+]|\d+[.)])|(?<=\s)\*)[^\S\n]+(.*)$/
const keyword = /^\s*#\+([\w-]+):\s*(.*)$/i
const blockStart = /^\s*#\+begin_(\w+)\s*(.*)$/i
const drawer = /^\s*:([\w-]+):\s*$/

export function renderOrg(source: string): string {
  return new Org(source.split(/\r?\n/)).render()
}

class Org {
  readonly #lines: readonly string[]
  readonly #out: string[] = []
  readonly #notes = new Map<string, string>()
  readonly #noted: string[] = []
  #at = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  render(): string {
    this.#collectNotes()
    while (this.#at < this.#lines.length) this.#block()
    this.#writeNotes()
    return this.#out.join('')
  }

  #line(): string {
    return this.#lines[this.#at] ?? ''
  }

  #block(): void {
    const line = this.#line()
    const heading = headline.exec(line)
    if (line.trim() === '') this.#at += 1
    else if (heading !== null) this.#heading(heading[1]!.length, heading[2]!)
    else if (blockStart.test(line)) this.#fenced()
    else if (keyword.test(line)) this.#keyword()
    else if (/^\s*#(?:\s|$)/.test(line)) this.#at += 1
    else if (drawer.test(line) && this.#skipDrawer()) return
    else if (/^\s*-{5,}\s*$/.test(line)) this.#single('<hr>\n')
    else if (/^\s*\|/.test(line)) this.#table()
    else if (/^\s*:(?:\s|$)/.test(line)) this.#fixed()
    else if (/^\[fn:[\w-]+\]/.test(line)) this.#at += 1
    else if (listItem.test(line)) this.#list()
    else this.#paragraph()
  }

  #single(html: string): void {
    this.#out.push(html)
    this.#at += 1
  }

  #heading(level: number, content: string): void {
    const [, done, rest] = /^(?:(TODO|DONE)\s+)?(.*)$/s.exec(content)!
    const tagged = /^(.*?)\s+:([\w@#%:]+):\s*$/.exec(rest!)
    const title = (tagged?.[1] ?? rest!).replace(/^\[#([A-Z])\]\s+/, '')
    const state = done === undefined ? '' : `<span class="org-${done.toLowerCase()}">${done}</span> `
    const tags = tagged?.[2] === undefined ? '' : ` <span class="org-tag">${escapeHtml(tagged[2])}</span>`
    const tag = `h${Math.min(level, 6)}`
    this.#single(`<${tag}>${state}${this.#inline(title)}${tags}</${tag}>\n`)
    // Planning belongs to the headline and is no text.
    while (/^\s*(?:SCHEDULED|DEADLINE|CLOSED):/.test(this.#line())) this.#at += 1
  }

  #keyword(): void {
    const [, name = '', value = ''] = keyword.exec(this.#line())!
    if (name.toLowerCase() === 'title') this.#single(`<h1>${this.#inline(value)}</h1>\n`)
    else this.#at += 1
  }

  /** False: it never ends, so it is text. */
  #skipDrawer(): boolean {
    for (let line = this.#at + 1; line < Math.min(this.#lines.length, this.#at + 1000); line += 1) {
      if (headline.test(this.#lines[line]!)) break
      if (/^\s*:END:\s*$/i.test(this.#lines[line]!)) {
        this.#at = line + 1
        return true
      }
    }
    this.#paragraph()
    return true
  }

  #fenced(): void {
    const [, kind = '', options = ''] = blockStart.exec(this.#line())!
    const name = kind.toLowerCase()
    const body: string[] = []
    this.#at += 1
    const end = `#+end_${name}`
    while (this.#at < this.#lines.length && this.#line().trim().toLowerCase() !== end) {
      body.push(this.#line().replace(/^(\s*),(?=\*|#\+)/, '$1'))
      this.#at += 1
    }
    this.#at += 1
    this.#out.push(this.#fencedHtml(name, options, body))
  }

  #fencedHtml(name: string, options: string, body: readonly string[]): string {
    const code = escapeHtml(`${body.join('\n')}\n`)
    switch (name) {
      case 'src': {
        const language = /^[\w+#.-]+/.exec(options)?.[0] ?? ''
        return `<pre><code class="language-${escapeHtml(language)}">${code}</code></pre>\n`
      }
      case 'quote':
        return `<blockquote>\n${this.#paragraphs(body)}</blockquote>\n`
      case 'center':
        return `<div align="center">\n${this.#paragraphs(body)}</div>\n`
      case 'verse':
        return `<p>${body.map((line) => this.#inline(line)).join('<br>\n')}</p>\n`
      case 'comment':
        return ''
      case 'export':
        // Another language's markup goes the way that all markup goes: through the sanitiser.
        return options.trim().toLowerCase() === 'html' ? `${body.join('\n')}\n` : ''
      default:
        return `<pre><code>${code}</code></pre>\n`
    }
  }

  #paragraphs(lines: readonly string[]): string {
    return lines
      .join('\n')
      .split(/\n[^\S\n]*\n/)
      .filter((part) => part.trim() !== '')
      .map((part) => `<p>${this.#inline(part.trim())}</p>\n`)
      .join('')
  }

  #table(): void {
    const rows: string[][] = []
    let head = 0
    for (; /^\s*\|/.test(this.#line()); this.#at += 1) {
      const line = this.#line().trim()
      if (/^\|-/.test(line)) {
        if (head === 0) head = rows.length
        continue
      }
      rows.push(
        line
          .replace(/^\||\|$/g, '')
          .split('|')
          .map((cell) => cell.trim()),
      )
    }
    const write = (cells: readonly string[], tag: string): string =>
      `<tr>${cells.map((cell) => `<${tag}>${this.#inline(cell)}</${tag}>`).join('')}</tr>\n`
    const top = rows.slice(0, head).map((cells) => write(cells, 'th'))
    const rest = rows.slice(head).map((cells) => write(cells, 'td'))
    const header = top.length === 0 ? '' : `<thead>\n${top.join('')}</thead>\n`
    this.#out.push(`<table>\n${header}<tbody>\n${rest.join('')}</tbody>\n</table>\n`)
  }

  #fixed(): void {
    const body: string[] = []
    for (; /^\s*:(?:\s|$)/.test(this.#line()); this.#at += 1) body.push(this.#line().replace(/^\s*:\s?/, ''))
    this.#out.push(`<pre><code>${escapeHtml(`${body.join('\n')}\n`)}</code></pre>\n`)
  }

  #list(): void {
    const items: { indent: number; ordered: boolean; text: string[] }[] = []
    while (this.#at < this.#lines.length) {
      const line = this.#line()
      const found = headline.test(line) ? null : listItem.exec(line)
      if (found !== null) {
        items.push({ indent: found[1]!.length, ordered: /^\d/.test(found[2] ?? ''), text: [found[3]!] })
      } else if (line.trim() !== '' && /^\s/.test(line) && !blockStart.test(line)) {
        items.at(-1)!.text.push(line.trim())
      } else {
        break
      }
      this.#at += 1
    }
    this.#out.push(
      renderList(
        items.map(({ indent, ordered, text }): ListLine => {
          const whole = text.join('\n')
          const [, box, rest] = /^(?:\[([ xX-])\]\s+)?(.*)$/s.exec(whole)!
          const checked = box?.toLowerCase() === 'x' ? ' checked' : ''
          const input = box === undefined ? '' : `<input type="checkbox" disabled${checked}> `
          const parts = ordered ? undefined : /^(\S.{0,500}?)\s+::(?:\s+|$)(.*)$/s.exec(rest!)
          return parts
            ? { indent, ordered, content: input + this.#inline(parts[2]!), term: this.#inline(parts[1]!) }
            : { indent, ordered, content: input + this.#inline(rest!) }
        }),
      ),
    )
  }

  #paragraph(): void {
    const lines: string[] = []
    do {
      lines.push(this.#line().trim())
      this.#at += 1
    } while (this.#at < this.#lines.length && this.#isProse(this.#line()))
    this.#out.push(`<p>${this.#inline(lines.join('\n'))}</p>\n`)
  }

  #isProse(line: string): boolean {
    return (
      line.trim() !== '' &&
      !headline.test(line) &&
      !/^\s*(?:#\+|#\s|\||:\s|-{5,}\s*$)/.test(line) &&
      !listItem.test(line)
    )
  }

  #collectNotes(): void {
    for (const line of this.#lines) {
      const found = /^\[fn:([\w-]+)\]\s*(.*)$/.exec(line)
      if (found !== null) this.#notes.set(found[1]!, found[2]!)
    }
  }

  #writeNotes(): void {
    if (this.#noted.length === 0) return
    // A note may name a further one; each is written once.
    const items: string[] = []
    for (let index = 0; index < this.#noted.length; index += 1) {
      const name = this.#noted[index]!
      items.push(`<li id="fn-${name}">${this.#inline(this.#notes.get(name) ?? '')}</li>\n`)
    }
    this.#out.push(`<section class="footnotes">\n<ol>\n${items.join('')}</ol>\n</section>\n`)
  }

  #note(name: string): string | undefined {
    if (!this.#notes.has(name)) return undefined
    if (!this.#noted.includes(name)) this.#noted.push(name)
    return `<sup><a href="#fn-${name}">${this.#noted.indexOf(name) + 1}</a></sup>`
  }

  #inline(text: string, depth = 0): string {
    const out: string[] = []
    let from = 0
    for (const found of text.matchAll(span)) {
      out.push(escapeHtml(text.slice(from, found.index)))
      out.push(this.#span(found, depth))
      from = found.index + found[0].length
    }
    out.push(escapeHtml(text.slice(from)))
    return out.join('')
  }

  #span(found: RegExpExecArray, depth: number): string {
    const { target, label, note, url, mark, body } = found.groups!
    if (target !== undefined) return this.#link(target, label, depth)
    if (note !== undefined) return this.#note(note) ?? escapeHtml(found[0])
    if (url !== undefined) return `<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`
    if (mark !== undefined && body !== undefined) {
      if (mark === '=' || mark === '~') return `<code>${escapeHtml(body)}</code>`
      const tag = marks[mark]!
      return `<${tag}>${depth < deepest ? this.#inline(body, depth + 1) : escapeHtml(body)}</${tag}>`
    }
    return found[0].startsWith('\\\\') ? '<br>\n' : escapeHtml(found[0])
  }

  #link(target: string, label: string | undefined, depth: number): string {
    const address = target.replace(/^file:/, '').replace(/^\*/, '#')
    if (label === undefined && image.test(address)) return `<img src="${escapeHtml(address)}">`
    const shown =
      label === undefined ? escapeHtml(target) : depth < deepest ? this.#inline(label, depth + 1) : ''
    return `<a href="${escapeHtml(address)}">${shown}</a>`
  }
}

const deepest = 5
const image = /\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$/i
const marks: Readonly<Record<string, string>> = { '*': 'strong', '/': 'em', _: 'u', '+': 'del' }

// Every repetition has a bound and its own first sign, so that no text is looked at twice.
const span = new RegExp(
  [
    String.raw`\[\[(?<target>[^\][\n]{1,2000})\](?:\[(?<label>[^\][]{1,2000})\])?\]`,
    String.raw`\[fn:(?<note>[\w-]{1,100})\]`,
    String.raw`(?<url>\bhttps?:\/\/[^\s<>"'\])]{1,2000})`,
    String.raw`(?<![\w*\/_+=~])(?<mark>[*\/_+=~])(?<body>[^\s*\/_+=~](?:[^*\/_+=~\n]{0,500}[^\s*\/_+=~])?)\k<mark>(?!\w)`,
    String.raw`\\\\[^\S\n]*(?:\n|$)`,
  ].join('|'),
  'gm',
)
