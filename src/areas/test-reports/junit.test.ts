import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { gzipMembers } from './gzip-members.ts'
import { JunitReader, reportLimits, type ParsedReport, type ReportLimits } from './junit.ts'

async function parse(xml: string, limits: Partial<ReportLimits> = {}): Promise<ParsedReport> {
  const reader = new JunitReader({ ...reportLimits, ...limits })
  // In pieces that cut names and characters in two.
  const bytes = Buffer.from(xml)
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    bytes.subarray(at * 7, at * 7 + 7),
  )
  await reader.read(Readable.from(pieces))
  return reader.result
}

const suite = (cases: string, attributes = ''): string => `<testsuite ${attributes}>${cases}</testsuite>`

describe('cases', () => {
  test.each([
    ['<testcase name="a"/>', 'success', null],
    ['<testcase name="a"><failure>no</failure></testcase>', 'failed', 'no'],
    ['<testcase name="a"><failure message="short"/></testcase>', 'failed', 'short'],
    [
      '<testcase name="a"><failure message="short"><![CDATA[<long>]]></failure></testcase>',
      'failed',
      '<long>',
    ],
    ['<testcase name="a"><error>bang</error></testcase>', 'error', 'bang'],
    ['<testcase name="a"><skipped/></testcase>', 'skipped', null],
    ['<testcase name="a"><error>e</error><failure>f</failure></testcase>', 'failed', 'f'],
    [
      '<testcase name="a"><failure>no</failure><system-out>o</system-out><system-err>e</system-err></testcase>',
      'failed',
      'no\n\nSystem Out:\n\no\n\nSystem Err:\n\ne',
    ],
    ['<testcase name="a"><system-out>only shown of failures</system-out></testcase>', 'success', null],
    ['<testcase name="a"><failure>1 &lt; 2 &#228;</failure></testcase>', 'failed', '1 < 2 ä'],
  ])('%s', async (xml, status, output) => {
    const { cases } = await parse(suite(xml))
    expect(cases.map((one) => [one.name, one.status, one.output])).toEqual([['a', status, output]])
  })

  test('attributes, and what stands for missing ones', async () => {
    const { cases } = await parse(
      suite('<testcase classname="c" file="f.rb" time="1,000.5" name="n"/><testcase time="odd"/>'),
    )
    expect(cases).toMatchObject([
      { name: 'n', classname: 'c', file: 'f.rb', time: 1000.5 },
      { name: '(No name)', classname: null, file: null, time: 0 },
    ])
  })

  test('of one name and class the first counts', async () => {
    const { cases } = await parse(
      suite('<testcase name="a"/><testcase name="a" classname="c"/><testcase name="a"><failure/></testcase>'),
    )
    expect(cases.map(({ classname, status }) => [classname, status])).toEqual([
      [null, 'success'],
      ['c', 'success'],
    ])
  })

  test('an attachment is found in the output', async () => {
    const { cases } = await parse(
      suite('<testcase name="a"><failure/><system-out>x [[ATTACHMENT|a/b.png]]</system-out></testcase>'),
    )
    expect(cases[0]?.attachment).toBe('a/b.png')
  })
})

describe('time', () => {
  test.each([
    ['of all suites', `<testsuites time="9">${suite('', 'time="1"')}</testsuites>`, 9],
    ['of each suite', `<testsuites>${suite('', 'time="1"')}${suite('', 'time="2"')}</testsuites>`, 3],
    ['of a suite with others inside', suite(suite('<testcase time="1"/>', 'time="4"'), 'time="5"'), 5],
    ['of the cases', suite('<testcase name="a" time="1"/><testcase name="b" time="2"/>'), 3],
  ])('%s', async (_, xml, time) => {
    expect((await parse(xml)).time).toBe(time)
  })
})

describe('what is refused', () => {
  const doctype =
    '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
  test.each([
    ['no XML', 'hello', {}, /^JUnit XML parsing failed: /],
    ['cut off', '<testsuite><testcase', {}, /^JUnit XML parsing failed: /],
    ['nothing', '', {}, /^JUnit XML parsing failed: /],
    ['an entity', `${doctype}${suite('<testcase name="&b;"/>')}`, {}, /parsing failed: .*entity/],
    [
      'an external entity',
      `${doctype}${suite('<testcase name="a"><failure>&f;</failure></testcase>')}`,
      {},
      /entity/,
    ],
    [
      'many cases',
      suite('<testcase name="a"/><testcase name="b"/>'),
      { cases: 1 },
      /number of test cases exceeded/,
    ],
    ['deep ones', suite('<a><b><c/></b></a>'), { depth: 3 }, /depth of elements exceeded the limit of 3/],
    ['large ones', suite('<testcase name="a"/>'.repeat(100)), { bytes: 100 }, /size in bytes exceeded/],
    [
      'long output',
      suite(`<testcase name="a"><failure>${'x'.repeat(99)}</failure></testcase>`),
      { output: 9 },
      /output/,
    ],
  ])('%s', async (_, xml, limits, text) => {
    await expect(parse(xml, limits)).rejects.toThrow(text)
  })
})

describe('a gzip file of several', () => {
  const read = (bytes: Buffer) => (range: { start: number; end: number }) =>
    Readable.from([bytes.subarray(range.start, range.end + 1)])

  test('member by member', async () => {
    const whole = Buffer.concat([gzipSync('one'), gzipSync(''), gzipSync('three'.repeat(10_000))])
    const found = []
    for await (const member of gzipMembers(read(whole), whole.length)) {
      const pieces = []
      for await (const piece of member) pieces.push(piece)
      found.push(Buffer.concat(pieces).length)
    }
    expect(found).toEqual([3, 0, 50_000])
  })

  test('cut off, or none at all', async () => {
    const drain = async (bytes: Buffer): Promise<void> => {
      for await (const member of gzipMembers(read(bytes), bytes.length))
        for await (const _ of member) continue
    }
    await expect(drain(gzipSync('x'.repeat(999)).subarray(0, 20))).rejects.toThrow('unexpected end of file')
    await expect(drain(Buffer.from('nothing of the kind'))).rejects.toThrow('not in gzip format')
  })
})
