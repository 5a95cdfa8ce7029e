import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { queryStringHash } from './qsh.ts'

test.each([
  ['get', '/', '', 'GET&/&'],
  ['GET', '/a/b/', 'z=1&jwt=x&a=2', 'GET&/a/b&a=2&z=1'],
  ['POST', '/a', 'k=b&k=a&s=x y&star=*', 'POST&/a&k=a,b&s=x%20y&star=%2A'],
])('%s %s?%s', (method, path, query, canonical) => {
  expect(queryStringHash(method, path, new URLSearchParams(query))).toBe(hash('sha256', canonical, 'hex'))
})
