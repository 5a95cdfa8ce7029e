// @module-tag long
import { request } from 'node:http'
import { expect, inject, test } from 'vitest'
import { freePort, Program, temporaryFolder } from '../start/process.ts'
import { Person } from '../world/client.ts'
import { copyDatabase } from '../world/databases.ts'
import { expectStatus, rootToken } from '../world/world.ts'
import { digestOf, RegistryClient } from './client.ts'

/** An upload whose service is killed in its midst goes on where it was, once the service is there again. */
test('an upload survives kill -9', { timeout: 300_000 }, async () => {
  await using database = await copyDatabase(inject('postgres'))
  await using folder = await temporaryFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const start = () =>
    new Program(['serve'], {
      PORT: String(port),
      DATA_DIR: folder.path,
      DATABASE_URL: database.url,
      DATABASE_POOL: '4',
      ROOT_TOKEN: rootToken,
      ROLES: 'web',
    })
  const content = Buffer.alloc(8 * 1024 * 1024, 'a piece of a layer ')
  const half = content.length / 2
  const client = new RegistryClient({ url }, { username: 'root', password: rootToken })
  let name = ''
  let location = ''
  {
    await using first = start()
    await first.ready(url)
    const root = new Person(url, { id: 1, username: 'root', token: rootToken })
    const project = expectStatus(await root.post('/projects', { name: 'images', path: 'images' }), 201)
    name = `${project['path_with_namespace'] as string}/layer`
    const begun = await client.request('POST', name, 'blobs/uploads/')
    location = begun.headers.get('location')!
    const token = await client.token(`repository:${name}:pull,push`)
    const sending = request(`${url}${location}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-length': String(content.length) },
    })
    sending.on('error', () => undefined)
    sending.write(content.subarray(0, half))
    await expect
      .poll(async () => (await client.request('GET', name, location)).headers.get('range'), {
        timeout: 30_000,
      })
      .toMatch(/^0-\d{5,}$/)
    first.kill('SIGKILL')
    await first.ended
  }
  await using second = start()
  await second.ready(url)
  const progress = await client.request('GET', name, location)
  const at = Number(progress.headers.get('range')!.slice(2)) + 1
  expect(at).toBeGreaterThan(10_000)
  expect(at).toBeLessThanOrEqual(half)
  const rest = await client.request('PATCH', name, location, {
    body: new Blob([content.subarray(at)]).stream(),
    headers: { 'content-range': `${at}-${content.length - 1}` },
  })
  expect([rest.status, rest.headers.get('range')]).toEqual([202, `0-${content.length - 1}`])
  const digest = digestOf(content)
  expect((await client.request('PUT', name, `${location}?digest=${digest}`)).status).toBe(201)
  const read = await client.request('GET', name, `blobs/${digest}`)
  expect(digestOf(read.bytes)).toBe(digest)
})
