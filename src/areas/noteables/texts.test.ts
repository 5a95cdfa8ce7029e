import { expect, test } from 'vitest'
import { parseDuration, writeDuration } from './duration.ts'
import { countTasks } from './tasks.ts'

test.each([
  ['1h', 3600, '1h'],
  ['1d 4h', 43_200, '1d 4h'],
  ['1mo2w3d4h5m', 965_100, '1mo 2w 3d 4h 5m'],
  ['1.5h', 5400, '1h 30m'],
  ['2', 7200, '2h'],
  ['-30m', -1800, '-30m'],
  [' 90 M ', 5400, '1h 30m'],
  ['10d', 288_000, '2w'],
  ['0h', 0, null],
])('%s is %d seconds, written %s', (text, seconds, written) => {
  expect(parseDuration(text)).toBe(seconds)
  expect(writeDuration(seconds)).toBe(written)
})

test.each(['', 'h', '1y', '1h -2m', 'one hour', '99999999999999h', '1h'.repeat(60)])(
  '%s is no duration',
  (text) => expect(parseDuration(text)).toBeUndefined(),
)

test.each([
  [null, 0, 0],
  ['no tasks [ ] here', 0, 0],
  ['- [ ] a\n- [x] b\n* [X] c\n1. [ ] d\n  - [ ] e', 5, 2],
  ['- [~] not to do\n- [x] b', 1, 1],
  ['```\n- [ ] code\n```\n- [ ] a\n~~~~\n- [x] code\n~~~\n- [x] code\n~~~~', 1, 0],
  ['> - [x] quoted', 1, 1],
  ['-[ ] a\n- [] b\n- [ ]c', 0, 0],
])('the tasks of %j are %d, done %d', (text, count, completed_count) =>
  expect(countTasks(text)).toEqual({ count, completed_count }),
)
