import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collect } from '../../src/areas/container-registry/index.ts'
import { enqueue } from '../../src/tasks/index.ts'
import { Bucket } from '../world/bucket.ts'
import { startWorld, type World } from '../world/world.ts'
import { digestOf, RegistryClient } from './client.ts'

const bucket = new Bucket()
let world: World
let client: RegistryClient
let name: string

beforeAll(async () => {
  world = await startWorld({
    ROLES: 'web,tasks',
    REGISTRY_S3_BUCKET: 'images',
    REGISTRY_S3_ENDPOINT: await bucket.start(),
    REGISTRY_S3_ACCESS_KEY_ID: 'key',
    REGISTRY_S3_SECRET_ACCESS_KEY: 'secret',
  })
  name = (await world.project()).path_with_namespace
  client = new RegistryClient(world, { username: 'root', password: world.root.token })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await bucket.stop()
})

test('layers go into a bucket, are read from it, and are removed from it', async () => {
  const layer = 'a layer in a bucket'
  await client.pushImage(name, 'x', layer)
  const digest = digestOf(layer)
  const key = `/images/sha256/${digest.slice(7, 9)}/${digest.slice(9, 11)}/${digest.slice(7)}`
  expect(bucket.objects.get(key)?.toString()).toBe(layer)
  expect((await client.request('GET', name, `blobs/${digest}`)).bytes.toString()).toBe(layer)
  const part = await client.request('GET', name, `blobs/${digest}`, { headers: { range: 'bytes=2-6' } })
  expect([part.status, part.bytes.toString()]).toEqual([206, 'layer'])

  await client.request('DELETE', name, 'manifests/x')
  for (const table of ['container_blobs', 'container_blob_links', 'container_manifests']) {
    await sql`update ${sql.table(table)} set touched_at = now() - interval '2 days'`.execute(
      world.service.services.db.writer,
    )
  }
  const { db, images } = world.service.services
  expect(await collect({ db, ...images }, 24)).toMatchObject({ manifests: 1, blobs: 2 })
  expect(bucket.objects.size).toBe(0)
})

test('large ones go in parts', async () => {
  const layer = 'x'.repeat(20 * 1024 * 1024)
  await client.pushBlob(name, layer)
  const read = await client.request('GET', name, `blobs/${digestOf(layer)}`)
  expect([read.bytes.length, digestOf(read.bytes)]).toEqual([layer.length, digestOf(layer)])
})

test('large files go there too, under names of their own; those of before are found in their folder', async () => {
  const content = 'a large file in a bucket'
  await client.pushBlob(name, content)
  const hex = digestOf(content).slice(7)
  const place = `${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}`
  const lfs = `${world.url}/${name}.git/info/lfs/objects/${hex}`
  const headers = { authorization: `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}` }
  const brought = await fetch(`${lfs}/${content.length}`, { method: 'PUT', headers, body: content })
  expect(brought.status).toBe(200)
  expect(bucket.objects.get(`/images/lfs/sha256/${place}`)?.toString()).toBe(content)
  expect(bucket.objects.get(`/images/sha256/${place}`)?.toString()).toBe(content)
  const part = await fetch(lfs, { headers: { ...headers, range: 'bytes=8-' } })
  expect([part.status, await part.text()]).toEqual([206, 'file in a bucket'])
  const folder = path.join(world.directory, 'lfs')
  expect((await readdir(folder)).filter((entry) => entry !== 'incoming')).toEqual([])
  expect(await readdir(path.join(folder, 'incoming'))).toEqual([])

  bucket.objects.delete(`/images/lfs/sha256/${place}`)
  await mkdir(path.join(folder, path.dirname(place)), { recursive: true })
  await writeFile(path.join(folder, place), content)
  expect(await (await fetch(lfs, { headers })).text()).toBe(content)

  await sql`delete from lfs_links`.execute(world.service.services.db.writer)
  await sql`update lfs_objects set touched_at = now() - interval '2 days'`.execute(
    world.service.services.db.writer,
  )
  bucket.objects.set(`/images/lfs/sha256/${place}`, Buffer.from(content))
  await enqueue(world.service.services.db.writer, 'git-lfs:sweep', {})
  await world.settled()
  expect([...bucket.objects.keys()].filter((key) => key.includes('/lfs/'))).toEqual([])
  await expect(readFile(path.join(folder, place))).rejects.toThrow('ENOENT')
})
