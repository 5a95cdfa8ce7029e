import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pkt } from '../../src/git/pkt-line.ts'
import { startWorld, type Json, type World } from '../world/world.ts'
import { Copies } from './copies.ts'
let world: World
let copies: Copies
let open: Json
beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  open = await world.project({ visibility: 'public' })
  await copies.filled(open)
})
afterAll(async () => { await world[Symbol.asyncDispose]() })
const bomb = gzipSync(Buffer.concat(Array.from({ length: 4000 }, () => pkt(`have ${'0'.repeat(40)}${' '.repeat(60_000)}`))))
test.each<[string, Buffer | string, Record<string, string>]>([
      ['a', 'nonsense', {}],
      ['b','', {}],
      ['c','zzzz', { 'git-protocol': 'version=2' }],
      ['d','no gzip', { 'content-encoding': 'gzip' }],
      ['e',bomb, { 'content-encoding': 'gzip' }],
      ['f',bomb, { 'content-encoding': 'gzip', 'git-protocol': 'version=2' }],
])('%s', async (_n, body, headers) => {
    const url = `${world.url}/${open['path_with_namespace'] as string}.git/git-upload-pack`
    const type = { 'content-type': 'application/x-git-upload-pack-request' }
      const answer = await fetch(url, { method: 'POST', body: body as never, headers: { ...type, ...headers }, signal: AbortSignal.timeout(5000) })
        .then(async (response) => [response.status, (await response.text()).slice(0,200)])
        .catch((e) => String(e))
     console.log(_n, answer)
}, 8000)
