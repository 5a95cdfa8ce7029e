import { expect, test } from 'vitest'
import { withOneSlash } from './one-slash.ts'

test('several slashes in the path count as one', () => {
  expect(withOneSlash('//api/v4///version//')).toBe('/api/v4/version/')
  expect(withOneSlash('//v2/')).toBe('/v2/')
})

test('nothing else is changed', () => {
  const urls = ['/a%2F%2Fb?c=//d', '/a?b//c', '/v2//a', 'http://localhost/a', '/', '']
  for (const url of urls) expect(withOneSlash(url)).toBe(url)
})
