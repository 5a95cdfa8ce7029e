import { expect, test } from 'vitest'
import { outputOf } from './output.ts'

const section = (name: string, text: string) =>
  `section_start:1:${name}\r\u001b[0K${text}section_end:2:${name}\r\u001b[0K\n`

test.each([
  [
    'its reply',
    section('step_script', '$ x\nno\n') + section('chat_reply', '\u001b[32myes\u001b[0m\n'),
    'yes',
  ],
  ['its script', `before\n${section('step_script', '$ echo a\na\n')}after`, '$ echo a\na'],
  ['all', 'one\r\ntwo\n', 'one\ntwo'],
  ['the last of it', 'x'.repeat(3000), `…${'x'.repeat(2500)}`],
  ['nothing', '', ''],
])('%s', (_, log, said) => {
  expect(outputOf(log)).toBe(said)
})
