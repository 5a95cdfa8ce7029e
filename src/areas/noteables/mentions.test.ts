import { expect, test } from 'vitest'
import { mentionsIn } from './mentions.ts'

test.each([
  ['hello @ida and @Otto', ['ida', 'otto'], []],
  ['@ida, @otto: please look, @eve', ['ida', 'otto', 'eve'], ['ida', 'otto']],
  ['first line\n@ida second', ['ida'], ['ida']],
  ['mail to ida@example.com or a@b', [], []],
  ['(@ida) "@otto" *@eve*.', ['ida', 'otto', 'eve'], []],
  ['@acme/team/inner. @a.b.', ['acme/team/inner', 'a.b'], ['acme/team/inner']],
  ['> @ida said\n>> @otto', [], []],
  ['`@ida` and ``a ` @otto`` @eve', ['eve'], []],
  ['```\n@ida\n```\n@otto', ['otto'], ['otto']],
  ['~~~~\n@ida\n~~~\n@otto\n~~~~', [], []],
  ['text\n\n    @ida in code', [], []],
  ['<!-- @ida\n@otto --> @eve <!-- @zoe', ['eve'], ['eve']],
  ['@', [], []],
  ['@@ida', [], []],
  ['@-', [], []],
])('%j names %j, and addresses %j', (text, names, addressed) => {
  const found = mentionsIn(text)
  expect(found).toEqual({ names, addressed: new Set(addressed), everybody: false })
})

test('@all is everybody, and no name', () => {
  expect(mentionsIn('@all: done')).toMatchObject({ names: [], everybody: true })
})

test('long and hostile texts are read in one go', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `@user${index}`).join(' ')
  expect(mentionsIn(many).names).toHaveLength(10_000)
  for (const piece of ['`', '@', '@a/', '<!--', '> ', '~~~\n', '@a.', '@a-'])
    expect(mentionsIn(piece.repeat(100_000)).names.length).toBeLessThan(2)
})
