import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { set } from '../settings/effects.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** Archives of projects that are sent on when they are made. */
let world: World
let project: Made
const sent: { method: string | undefined; type: string | undefined; content: Buffer }[] = []
const taker = createServer((request, answer) => {
  void Array.fromAsync(request as AsyncIterable<Buffer>).then((chunks) => {
    const { method, url, headers } = request
    sent.push({ method, type: headers['content-type'], content: Buffer.concat(chunks) })
    answer.writeHead(url === '/full' ? 507 : 200).end()
  })
})
beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  await new Promise<void>((resolve) => taker.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await new Promise((resolve) => taker.close(resolve))
  await world[Symbol.asyncDispose]()
})

const at = (path: string) => `http://127.0.0.1:${(taker.address() as AddressInfo).port}${path}`
const ask = (upload: Json) => world.root.post(`/projects/${project.id}/export`, { upload })
const status = async () =>
  ((await world.root.get(`/projects/${project.id}/export`)).body as Json)['export_status']
const letLocal = () => set(world, { allow_local_requests_from_web_hooks_and_services: true })

test('not where the instance sends nothing', async () => {
  const blocked = await ask({ url: at('/') })
  expect([blocked.status, blocked.body]).toEqual([
    400,
    { message: { url: [expect.stringMatching(/^is blocked: /)] } },
  ])
})

test.each([
  [{ url: 'http://example.com', http_method: 'DELETE' }, 'upload[http_method] does not have a valid value'],
  [{ http_method: 'PUT' }, 'upload[url] is missing'],
])('%j is refused', async (upload, error) => {
  const answer = await ask(upload)
  expect([answer.status, answer.body]).toEqual([400, { error }])
})

test('to whoever takes them, and they can be downloaded besides', async () => {
  await letLocal()
  for (const upload of [{ url: at('/put?signed=by-somebody') }, { url: at('/post'), http_method: 'POST' }]) {
    expectStatus(await ask(upload), 202)
    await expect.poll(status).toBe('finished')
  }
  const kept = await fetch(`${world.url}/api/v4/projects/${project.id}/export/download`, {
    headers: world.root.headers,
  })
  const [first, second] = sent
  expect(first).toMatchObject({ method: 'PUT', type: 'application/gzip' })
  expect(second).toMatchObject({ method: 'POST', type: 'application/gzip' })
  expect(Buffer.from(await kept.arrayBuffer())).toEqual(second!.content)
})

test('an export that is not taken fails, and where it was to go is forgotten', async () => {
  await letLocal()
  const before = sent.length
  expectStatus(await ask({ url: at('/full') }), 202)
  await expect.poll(status).toBe('failed')
  expect(sent.length - before).toBe(1)
  const { rows } = await sql`select upload from project_exports`.execute(world.service.services.db.reader)
  expect(rows).toEqual([{ upload: null }])
})
