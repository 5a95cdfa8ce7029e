// @module-tag long
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect, wouldCollect } from '../../src/areas/container-registry/index.ts'
import { startWorld, type Made, type World } from '../world/world.ts'
import { digestOf, manifestOf, RegistryClient, types } from './client.ts'

let world: World
let project: Made
let client: RegistryClient

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
  client = new RegistryClient(world, { username: 'root', password: world.root.token })
})
afterAll(() => world[Symbol.asyncDispose]())

const services = () => ({ db: world.service.services.db, ...world.service.services.images })

/** Makes everything older than any grace. */
async function age(): Promise<void> {
  for (const table of [
    'container_blobs',
    'container_blob_links',
    'container_manifests',
    'container_uploads',
  ]) {
    const aged = sql`update ${sql.table(table)} set touched_at = now() - interval '2 days'`
    await services().db.transaction((tx) => aged.execute(tx))
  }
}

/** The digests that lie in the store. */
async function stored(): Promise<string[]> {
  const names = await readdir(path.join(world.directory, 'registry', 'content', 'sha256'), {
    recursive: true,
  })
  return names.map((name) => path.basename(name)).filter((name) => name.length === 64)
}

const has = async (content: string): Promise<boolean> => (await stored()).includes(digestOf(content).slice(7))

describe('garbage collection', () => {
  test('removes what nobody can reach, and nothing else; a dry run says how much that is', async () => {
    const name = `${project.path_with_namespace}/web`
    const kept = await client.pushImage(name, 'kept', 'kept layer')
    const lost = await client.pushImage(name, 'lost', 'lost layer')
    await client.pushBlob(name, 'never used')
    const images = [await client.pushImage(name, 'part', 'layer of a part')]
    const index = JSON.stringify({
      schemaVersion: 2,
      mediaType: types.index,
      manifests: images.map((image) => ({
        mediaType: types.manifest,
        digest: digestOf(image),
        size: image.length,
      })),
    })
    await client.pushManifest(name, 'index', index, types.index)
    await client.request('DELETE', name, 'manifests/part')
    const subject = { mediaType: types.manifest, digest: digestOf(kept), size: kept.length }
    const referrer = manifestOf('{}', [], { subject, artifactType: 'application/vnd.test' })
    await client.pushManifest(name, digestOf(referrer), referrer)
    await client.request('DELETE', name, 'manifests/lost')
    const open = await client.request('POST', name, 'blobs/uploads/')
    await client.request('PATCH', name, open.headers.get('location')!, { body: 'half' })

    const nothing = { manifests: 0, links: 0, blobs: 0, bytes: 0, uploads: 0 }
    expect(await collect(services(), 24)).toEqual(nothing)
    await age()
    const expected = {
      manifests: 1,
      links: 2,
      blobs: 2,
      bytes: 'lost layer'.length + 'never used'.length,
      uploads: 1,
    }
    expect(await wouldCollect(services(), 24)).toEqual(expected)
    expect(await has('lost layer')).toBe(true)
    expect(await collect(services(), 24)).toEqual(expected)

    expect([await has('lost layer'), await has('never used')]).toEqual([false, false])
    for (const layer of ['kept layer', 'layer of a part', '{}']) expect(await has(layer)).toBe(true)
    expect((await client.request('GET', name, `manifests/${digestOf(lost)}`)).status).toBe(404)
    for (const reference of ['kept', 'index', digestOf(images[0]!), digestOf(referrer)]) {
      expect((await client.request('GET', name, `manifests/${reference}`)).status).toBe(200)
    }
    expect(await readdir(path.join(world.directory, 'registry', 'uploads'))).toEqual([])
    expect(await collect(services(), 24)).toEqual(nothing)
  })

  test('leaves content that another repository has', async () => {
    const [one, two] = ['one', 'two'].map((name) => `${project.path_with_namespace}/${name}`) as [
      string,
      string,
    ]
    for (const name of [one, two]) await client.pushImage(name, 'x', 'shared layer')
    await client.request('DELETE', one, 'manifests/x')
    await age()
    expect(await collect(services(), 24)).toMatchObject({ manifests: 1, blobs: 0 })
    expect((await client.request('GET', one, `blobs/${digestOf('shared layer')}`)).status).toBe(404)
    const left = await client.request('GET', two, `blobs/${digestOf('shared layer')}`)
    expect(left.bytes.toString()).toBe('shared layer')
  })

  test('takes nothing from those who push the same content meanwhile', { timeout: 120_000 }, async () => {
    const name = `${project.path_with_namespace}/busy`
    const state = { pushing: true }
    const collecting = (async () => {
      let collected = 0
      while (state.pushing) {
        await age()
        collected += (await collect(services(), 24)).blobs
        // Time in which somebody gets from the first piece to the last.
        await sleep(100)
      }
      return collected
    })()
    const push = async (worker: number): Promise<void> => {
      for (let round = 0; round < 8; round += 1) {
        const tag = `${worker}-${round}`
        const layer = `layer ${round % 2}`
        const blobs = ['{}', layer]
        const manifest = manifestOf('{}', [layer])
        // What a client does that finds a part of its image gone: it brings it again.
        for (let attempt = 0; ; attempt += 1) {
          for (const blob of blobs) await client.pushBlob(name, blob)
          const answer = await client.pushManifest(name, tag, manifest)
          if (answer.status === 201) break
          expect(answer.status).toBe(400)
          expect(attempt).toBeLessThan(50)
        }
        // A tag keeps all that it names.
        expect((await client.request('GET', name, `blobs/${digestOf(layer)}`)).bytes.toString()).toBe(layer)
        expect((await client.request('GET', name, `manifests/${tag}`)).status).toBe(200)
        await client.request('DELETE', name, `manifests/${tag}`)
      }
    }
    await Promise.all([push(1), push(2), push(3)]).finally(() => {
      state.pushing = false
    })
    expect(await collecting).toBeGreaterThan(0)
  })
})
