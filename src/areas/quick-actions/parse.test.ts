import { expect, test } from 'vitest'
import { dayOf } from './dates.ts'
import { parseCommands } from './parse.ts'

const known = (name: string) =>
  name === 'shrug' ? { name, says: '¯' } : name === 'close' || name === 'label' ? { name } : undefined
const parse = (text: string) => {
  const { text: said, commands } = parseCommands(text, { known })
  return [said, commands.map(({ name, argument }) => `${name} ${argument}`.trim())]
}

test.each([
  ['/close', '', ['close']],
  ['/CLOSE', '', ['close']],
  ['  /close', '  /close', []],
  ['text /close', 'text /close', []],
  ['/closed', '/closed', []],
  ['/close/this', '/close/this', []],
  ['/unknown\n/close', '/unknown', ['close']],
  ['before\n/label ~a ~"b c"  \nafter', 'before\nafter', ['label ~a ~"b c"']],
  ['/close\r\n/label ~a', '', ['close', 'label ~a']],
  ['> /close', '> /close', []],
  ['```\n/close\n```\n/label a', '```\n/close\n```', ['label a']],
  ['~~~\n/close', '~~~\n/close', []],
  ['<!--\n/close\n-->\n/label a', '<!--\n/close\n-->', ['label a']],
  ['<!-- a --> b\n/close', '<!-- a --> b', ['close']],
  ['/shrug oh well', 'oh well ¯', []],
  ['/shrug', '¯', []],
  ['no command here', 'no command here', []],
])('%j says %j and commands %j', (text, said, commands) => expect(parse(text)).toEqual([said, commands]))

const monday = new Date('2025-06-30T22:00:00Z')
test.each([
  ['2025-07-01', '2025-07-01'],
  ['today', '2025-06-30'],
  ['Tomorrow', '2025-07-01'],
  ['in 2 days', '2025-07-02'],
  ['in 1 week', '2025-07-07'],
  ['in 3 months', '2025-09-30'],
  ['in 1 year', '2026-06-30'],
  ['monday', '2025-07-07'],
  ['next friday', '2025-07-04'],
  ['2025-02-30', undefined],
  ['soon', undefined],
  ['', undefined],
])('%j is the day %s', (text, day) => expect(dayOf(text, monday)).toBe(day))
