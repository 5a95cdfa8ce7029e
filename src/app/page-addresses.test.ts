import { expect, test } from 'vitest'
import { twinOf } from './page-addresses.ts'

const secret = '0123456789abcdef0123456789abcdef'

test.each([
  ['/a/b/-/jobs/7/raw', '/projects/a%2Fb/jobs/7/trace'],
  [
    '/a/b/c/-/jobs/7/artifacts/raw/x/y%20z.txt?inline=true',
    '/projects/a%2Fb%2Fc/jobs/7/artifacts/x/y%20z.txt?inline=true',
  ],
  ['/a/b/-/jobs/artifacts/x/y/raw/z/w?job=t', '/projects/a%2Fb/jobs/artifacts/x%2Fy/raw/z/w?job=t'],
  ['/a/b/-/releases/v%2F1/downloads/bin/$&', '/projects/a%2Fb/releases/v%2F1/downloads/bin/$&'],
  ['/a/b/-/releases/permalink/latest/downloads/x', '/projects/a%2Fb/releases/permalink/latest/downloads/x'],
  ['/-/snippets/3/raw/main/a%2Fb/c.txt', '/snippets/3/files/main/a%2Fb%2Fc.txt/raw'],
  [`/groups/a/b/-/uploads/${secret}/x.png`, `/groups/a%2Fb/uploads/${secret}/x.png`],
  [`/a/b/uploads/${secret}/x.png`, `/projects/a%2Fb/uploads/${secret}/x.png`],
  ['/a/b/-/merge_requests/3.diff', '/projects/a%2Fb/merge_requests/3/raw_diffs'],
])('%s', (address, twin) => {
  expect(twinOf(address)).toBe(`/api/v4${twin}`)
})

test.each([
  '/',
  '/a/b',
  '/a/b/-/jobs/7',
  '/a/-/jobs/7/raw',
  '/a/b/-/c/-/jobs/7/raw',
  '/a/b/-/merge_requests/3xdiff',
  `/api/v4/projects/1/uploads/${secret}/x.png`,
  `/v2/a/uploads/${secret}/x.png`,
  '/uploads/-/system/user/avatar/1/x.png',
])('%s is none of these', (address) => {
  expect(twinOf(address)).toBeUndefined()
})
