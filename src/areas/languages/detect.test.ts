import { expect, test } from 'vitest'
import { languageOf, sharesOf } from './detect.ts'
import { languageTable } from './table.ts'

const table = await languageTable()

test.each([
  ['src/main.ts', 'TypeScript'],
  ['lib/a.rb', 'Ruby'],
  ['Makefile', 'Makefile'],
  ['deep/Dockerfile', 'Dockerfile'],
  ['a/b.go', 'Go'],
  ['include/x.h', 'C'],
  ['x.html.erb', 'HTML+ERB'],
  ['UPPER.PY', 'Python'],
  ['index.html', 'HTML'],
  ['README.md', undefined],
  ['data.json', undefined],
  ['node_modules/a/index.js', undefined],
  ['web/vendor/x.go', undefined],
  ['app.min.js', undefined],
  ['noextension', undefined],
])('%s is %s', (path, language) => {
  expect(languageOf(path, table)).toBe(language)
})

test('shares are percent of the bytes, largest first', () => {
  expect(
    Object.entries(
      sharesOf(
        new Map([
          ['A', 1],
          ['B', 2],
        ]),
      ),
    ),
  ).toEqual([
    ['B', 66.67],
    ['A', 33.33],
  ])
  expect(sharesOf(new Map())).toEqual({})
})
