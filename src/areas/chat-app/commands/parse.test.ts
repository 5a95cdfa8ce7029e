import { describe, expect, test } from 'vitest'
import { parseCommand, splitPlace, usages } from './parse.ts'

describe('a slash command', () => {
  test.each([
    ['help', { name: 'help' }],
    ['issue new A fault', { name: 'issue new', title: 'A fault', description: '' }],
    [' issue create A fault \n\nOf\nmine ', { name: 'issue new', title: 'A fault', description: 'Of\nmine' }],
    ['issue show #12', { name: 'issue show', iid: 12 }],
    ['issue close 12', { name: 'issue close', iid: 12 }],
    ['issue search in vain', { name: 'issue search', query: 'in vain' }],
    ['issue move 3 to a/b', { name: 'issue move', iid: 3, to: 'a/b' }],
    ['issue move #3 a/b', { name: 'issue move', iid: 3, to: 'a/b' }],
    ['issue comment 3\nYes\nit is', { name: 'issue comment', iid: 3, body: 'Yes\nit is' }],
    ['deploy staging to production', { name: 'deploy', from: 'staging', to: 'production' }],
    ['run echo to you', { name: 'run', job: 'echo', input: 'to you' }],
    ['run echo', { name: 'run', job: 'echo', input: '' }],
  ])('%s', (text, command) => {
    expect(parseCommand(text)).toEqual(command)
  })

  test.each([
    '',
    'issue',
    'issue show',
    'issue show x',
    'issue show 9999999999',
    'deploy a',
    'run',
    'helpful',
  ])('is not %j', (text) => {
    expect(parseCommand(text)).toBeUndefined()
  })

  test('begins with a place', () => {
    expect(splitPlace(' a/b  issue new x\ny')).toEqual({ place: 'a/b', rest: 'issue new x\ny' })
    expect(splitPlace('')).toEqual({ place: '', rest: '' })
  })

  test('is told with how it is typed', () => {
    expect(usages).toHaveLength(9)
  })
})
