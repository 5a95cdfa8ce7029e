import { expect, test } from 'vitest'
import { atomOf, type FeedIssue } from './atom.ts'
import { calendarOf } from './calendar.ts'

const issue: FeedIssue = {
  iid: 7,
  title: 'One; two, three\\ and\nfour\u0007five',
  description: '<script>&\u0000</script>',
  web_url: 'https://example.org/a/b/-/issues/7',
  full_path: 'a/b',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T03:04:05.678Z',
  due_date: '2026-02-03',
  author: { name: 'A & B' },
  labels: ['x"y', { name: 'z' }],
}

test('an event says when something is due, and where', () => {
  const lines = calendarOf([issue, { ...issue, due_date: null }], 'b issues', 'example.org').split('\r\n')
  expect(lines.filter((line) => line === 'BEGIN:VEVENT')).toHaveLength(1)
  expect(lines).toContain('UID:a%2Fb%237@example.org')
  expect(lines).toContain('DTSTAMP:20260102T030405Z')
  expect(lines).toContain('DTSTART;VALUE=DATE:20260203')
  expect(lines).toContain('SUMMARY:One\\; two\\, three\\\\ and\\nfour five (in a/b)')
})

test('long lines are folded between characters', () => {
  const title = '\u{1F600}'.repeat(60)
  const lines = calendarOf([{ ...issue, title }], 'b', 'example.org').split('\r\n')
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75)
  expect(lines.join('\r\n').replaceAll('\r\n ', '')).toContain(`SUMMARY:${title} (in a/b)`)
})

test('a feed has no markup and no characters of others', () => {
  const text = atomOf([issue], { title: 'b', self: 'https://example.org/?a&b', page: 'https://example.org/' })
  expect(text).toContain('<content>&lt;script&gt;&amp;\uFFFD&lt;/script&gt;</content>')
  expect(text).toContain('<author><name>A &amp; B</name></author>')
  expect(text).toContain('<category term="x&quot;y"/>\n<category term="z"/>')
  expect(text).toContain('href="https://example.org/?a&amp;b"')
})
