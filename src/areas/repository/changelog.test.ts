import { expect, test } from 'vitest'
import type { Commit, Oid } from '../../git/index.ts'
import { changelogSection, changesOf, isVersion, tagBefore, withSection } from './changelog.ts'

const tags = ['v1.0.0', '1.2.0', 'v1.10.0', 'v2.0.0-rc1', 'nightly']

test.each([
  ['2.0.0', 'v1.10.0'],
  ['1.10.0', '1.2.0'],
  ['v1.1.9', 'v1.0.0'],
  ['1.0.0', undefined],
])('before %s: %s', (version, tag) => {
  expect(tagBefore(version, tags)).toBe(tag)
})

test.each([
  ['1.0.0', true],
  ['v1.2.3-rc.1', true],
  ['1.0', false],
  ['one', false],
])('%s is a version: %s', (text, version) => {
  expect(isVersion(text)).toBe(version)
})

test('commits that say so, without the reverted ones', () => {
  const person = { name: 'A', email: 'a@example.com', date: new Date(0), offset: 0 }
  const commit = (at: string, message: string): Commit => ({
    ...{
      oid: at.repeat(40) as Oid,
      tree: '0'.repeat(40) as Oid,
      parents: [],
      author: person,
      committer: person,
    },
    ...{ title: message.split('\n')[0]!, message, signature: undefined },
  })
  const changes = changesOf(
    [
      commit('a', `Revert it\n\nThis reverts commit ${'b'.repeat(40)}.\n`),
      commit('b', 'Bad\n\nChangelog: added\n'),
      commit('c', 'Two\n\nchangelog: added\n'),
      commit('d', 'Three\n\nChangelog: fixed\n'),
      commit('e', 'Silent\n'),
      commit('f', 'Six\n\nChangelog: added\n'),
    ],
    'Changelog',
    ({ oid }) => `acme/app@${oid.slice(0, 2)}`,
  )
  expect(changelogSection('v1.1.0', '2026-01-02', changes)).toBe(
    [
      '## 1.1.0 (2026-01-02)',
      '',
      '### added (2 changes)',
      '',
      '- [Two](acme/app@cc)',
      '- [Six](acme/app@ff)',
      '',
      '### fixed (1 change)',
      '',
      '- [Three](acme/app@dd)',
      '',
    ].join('\n'),
  )
  expect(changelogSection('1.1.0', '2026-01-02', [])).toBe('## 1.1.0 (2026-01-02)\n\nNo changes.\n')
})

test('a new section goes where its version belongs', () => {
  const old = '# Changes\n\n## 2.0.0 (x)\n\nc\n\n## 1.0.0 (x)\n\na\n'
  expect(withSection(old, '1.5.0', '## 1.5.0 (x)\n\nb\n')).toBe(
    '# Changes\n\n## 2.0.0 (x)\n\nc\n\n## 1.5.0 (x)\n\nb\n\n## 1.0.0 (x)\n\na\n',
  )
  expect(withSection(old, '0.1.0', '## 0.1.0 (x)\n')).toBe(`${old.trimEnd()}\n\n## 0.1.0 (x)\n`)
  expect(withSection('', '1.0.0', '## 1.0.0 (x)\n')).toBe('## 1.0.0 (x)\n')
})
