import { describe, expect, test } from 'vitest'
import { chooseVersion, componentPaths, parseAddress } from './component.ts'

test.each([
  ['h/g/p/c@1.0.0', { project: 'g/p', name: 'c', version: '1.0.0' }],
  ['h/a/b/c/d/comp@~latest', { project: 'a/b/c/d', name: 'comp', version: '~latest' }],
  ['h/g/p/c@a@b', { project: 'g/p', name: 'c', version: 'a@b' }],
  ['h/p/c@main', { project: 'p', name: 'c', version: 'main' }],
  ['h/c@main', null],
  ['h//c@main', null],
  ['other/g/p/c@1', null],
  ['hh/g/p/c@1', null],
  ['h/g/p/c', null],
  ['', null],
])('the address %s', (address, parts) => expect(parseAddress(address, 'h')).toEqual(parts))

describe('versions', () => {
  const tags = [
    '1.0.0',
    '1.2.3',
    'v1.2.10',
    '1.3.0-rc.1',
    '2.0.0',
    '10.1.0',
    '2.1',
    'latest',
    '99999999999.0.0',
  ]
  test.each([
    ['~latest', '10.1.0'],
    ['1', 'v1.2.10'],
    ['1.0', '1.0.0'],
    ['1.2', 'v1.2.10'],
    ['1.3', null],
    ['2', '2.0.0'],
    ['3', null],
  ])('%s is %s', (version, tag) => expect(chooseVersion(version, tags)).toBe(tag))

  test('without tags there is none', () => expect(chooseVersion('~latest', [])).toBeNull())
})

test.each(['', '..', '.', 'a/b', 'a\\b', 'a b', '.hidden'])('%j is no name of a component', (name) =>
  expect(componentPaths(name)).toEqual([]),
)
