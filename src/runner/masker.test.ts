import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Masker } from './masker.ts'

function masked(text: string | Buffer, values: string[], prefixes: string[] = [], cuts: number[] = []) {
  const masker = new Masker(values, prefixes)
  const bytes = Buffer.from(text)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  const parts = places
    .slice(1)
    .map((end, index) => Buffer.from(masker.write(bytes.subarray(places[index], end))))
  return Buffer.concat([...parts, masker.flush()]).toString('latin1')
}

/** The rule on the whole text, as plainly as it can be said. */
function reference(text: Buffer, values: string[], prefixes: string[]) {
  const found: [number, number][] = []
  const each = (pattern: string, see: (start: number, end: number) => void) => {
    const needle = Buffer.from(pattern)
    if (needle.length === 0) return
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
      see(at, at + needle.length)
  }
  for (const value of values) each(value, (start, end) => found.push([start, end]))
  for (const prefix of prefixes) {
    each(prefix, (_, start) => {
      let end = start
      while (end < text.length && /[\w.=-]/.test(String.fromCharCode(text[end]!))) end++
      if (end > start) found.push([start, end])
    })
  }
  found.sort((a, b) => a[0] - b[0])
  let result = ''
  let at = 0
  for (let index = 0; index < found.length; index++) {
    let [start, end] = found[index]!
    while (index + 1 < found.length && found[index + 1]![0] < end) end = Math.max(end, found[++index]![1])
    start = Math.max(start, at)
    result += `${text.subarray(at, start).toString('latin1')}[MASKED]`
    at = end
  }
  return result + text.subarray(at).toString('latin1')
}

describe('masker', () => {
  test.each([
    ['the value alone', 'pass s3cret99 word', ['s3cret99'], 'pass [MASKED] word'],
    ['twice in a row', 's3cret99s3cret99', ['s3cret99'], '[MASKED][MASKED]'],
    ['longest first', 'foobar foo', ['foo', 'foobar'], '[MASKED] [MASKED]'],
    ['overlapping values', 'xabcdefy', ['abcd', 'cdef'], 'x[MASKED]y'],
    ['overlapping itself', 'aaaaa', ['aa'], '[MASKED]'],
    ['a beginning at the end', 'pass s3cre', ['s3cret99'], 'pass s3cre'],
    ['an empty value', 'text', [''], 'text'],
  ])('%s', (_, text, values, expected) => {
    expect(masked(text, values)).toBe(expected)
    const everywhere = Array.from({ length: text.length }, (__, index) => index)
    expect(masked(text, values, [], everywhere)).toBe(expected)
  })

  test('tokens by their prefix', () => {
    expect(masked('use glpat-aB_9-x.01 now', [], ['glpat-'])).toBe('use glpat-[MASKED] now')
    expect(masked('use glpat- now', [], ['glpat-'])).toBe('use glpat- now')
    expect(masked('glpat-abc', ['glpat-abc'], ['glpat-'])).toBe('[MASKED]')
  })

  test('gives at once what cannot be a secret', () => {
    const masker = new Masker(['s3cret99'])
    expect(masker.write(Buffer.from('hello\n')).toString()).toBe('hello\n')
    expect(masker.write(Buffer.from('a s3c')).toString()).toBe('a ')
    expect(masker.write(Buffer.from('ret99')).toString()).toBe('[MASKED]')
    expect(masker.flush().toString()).toBe('')
  })

  test('any values, text and chunks', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', ' '), maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 4 }),
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 3 }), {
          maxLength: 2,
        }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', ' ', '-'), maxLength: 60 }),
        fc.array(fc.nat(200), { maxLength: 20 }),
        (values, prefixes, text, cuts) => {
          const bytes = Buffer.from(text)
          expect(masked(bytes, values, prefixes, cuts)).toBe(reference(bytes, values, prefixes))
        },
      ),
      { numRuns: 3000 },
    )
  })
})
