import { escapeHtml } from '../../kernel/lib/html.ts'

/** An issue as feeds show it. */
export interface FeedIssue {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly web_url: string
  readonly full_path: string
  readonly created_at: string
  readonly updated_at: string
  readonly due_date: string | null
  readonly author: { readonly name: string } | null
  readonly labels: readonly (string | { readonly name: string })[]
}

export interface FeedFacts {
  /** `app issues` */
  readonly title: string
  /** Where the feed is, without the token. */
  readonly self: string
  /** Where people read the same. */
  readonly page: string
}

/** Issues as a feed (RFC 4287). */
export function atomOf(issues: readonly FeedIssue[], { title, self, page }: FeedFacts): string {
  const updated = issues.reduce(
    (latest, issue) => (issue.updated_at > latest ? issue.updated_at : latest),
    '',
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element('title', title),
    `<link href="${escaped(self)}" rel="self" type="application/atom+xml"/>`,
    `<link href="${escaped(page)}" rel="alternate" type="text/html"/>`,
    element('id', page),
    // A feed has to say it; of an empty one nothing was ever changed.
    element('updated', time(updated === '' ? 0 : updated)),
    ...issues.map(entry),
    '</feed>',
    '',
  ].join('\n')
}

function entry({ title, description, web_url, created_at, updated_at, author, labels }: FeedIssue): string {
  return [
    '<entry>',
    element('id', web_url),
    `<link href="${escaped(web_url)}"/>`,
    element('title', title),
    element('published', time(created_at)),
    element('updated', time(updated_at)),
    `<author>${element('name', author?.name ?? 'Ghost User')}</author>`,
    ...labels.map((label) => `<category term="${escaped(typeof label === 'string' ? label : label.name)}"/>`),
    element('summary', title),
    ...(description === null || description === '' ? [] : [element('content', description)]),
    '</entry>',
  ].join('\n')
}

const time = (value: string | number): string => new Date(value).toISOString()

function element(name: string, text: string): string {
  return `<${name}>${escaped(text)}</${name}>`
}

/** XML has no way at all to write most control characters. */
function escaped(text: string): string {
  return escapeHtml(text.toWellFormed().replace(/(?![\t\n\r])[\p{Cc}\uFFFE\uFFFF]/gu, '\uFFFD'))
}
