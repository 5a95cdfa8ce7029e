import { expect, test } from 'vitest'
import { proposalsOf } from './parse.ts'

const one = { above: 0, below: 0 }

test.each([
  ['nothing to propose', []],
  ['```suggestion\nnew\n```', [{ ...one, content: 'new\n' }]],
  ['Look:\n\n```suggestion:-2+1\na\n\nb\n```\nOK?', [{ above: 2, below: 1, content: 'a\n\nb\n' }]],
  ['```suggestion\r\nnew\r\n```', [{ ...one, content: 'new\n' }]],
  ['```suggestion\n```', [{ ...one, content: '' }]],
  [
    '```suggestion:-0+0\nx\n```\n```suggestion\ny\n```',
    [
      { ...one, content: 'x\n' },
      { ...one, content: 'y\n' },
    ],
  ],
  // Code that shows how it is done proposes nothing.
  ['````\n```suggestion\nx\n```\n````', []],
  ['````suggestion\n```\ncode\n```\n````', [{ ...one, content: '```\ncode\n```\n' }]],
  ['~~~suggestion\nx\n~~~', [{ ...one, content: 'x\n' }]],
  ['```suggestion\nx\n~~~\n```', [{ ...one, content: 'x\n~~~\n' }]],
  ['  ```suggestion\n    x\n  ```', [{ ...one, content: '  x\n' }]],
  ['    ```suggestion\n    x\n    ```', []],
  ['```suggestions\nx\n```', []],
  ['```suggestion:-a+1\nx\n```', []],
  ['```suggestion``` in a line', []],
  ['```suggestion:-999+999\nx\n```', [{ above: 100, below: 100, content: 'x\n' }]],
  ['```suggestion\nnever closed', [{ ...one, content: 'never closed\n' }]],
])('%j', (text, proposals) => {
  expect(proposalsOf(text)).toEqual(proposals)
})

test('a note proposes no more than 50 things', () => {
  expect(proposalsOf('```suggestion\nx\n```\n'.repeat(60))).toHaveLength(50)
})
