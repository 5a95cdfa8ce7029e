import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'
import { codeOf, digestOf, manifestOf, RegistryClient, types } from './client.ts'

/*
 * The endpoints of manifests, tags and referrers of the OCI Distribution Specification 1.1, each test with the numbers
 * that they have there. Those of blobs and uploads stand in `blobs.test.ts`.
 */
let world: World
let project: Made
let name: string
let client: RegistryClient

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
  name = `${project.path_with_namespace}/web`
  client = RegistryClient.of(world, await world.member({ project }, 'maintainer'))
})
afterAll(() => world[Symbol.asyncDispose]())

describe('manifests', () => {
  test('end-3, end-7: are stored byte for byte, and read by tag and digest', async () => {
    const manifest = await client.pushImage(name, '1.0')
    const digest = digestOf(manifest)
    for (const reference of ['1.0', digest]) {
      const read = await client.request('GET', name, `manifests/${reference}`)
      expect([read.status, read.bytes.toString()]).toEqual([200, manifest])
      expect(read.headers.get('content-type')).toBe(types.manifest)
      expect(read.headers.get('docker-content-digest')).toBe(digest)
      const head = await client.request('HEAD', name, `manifests/${reference}`)
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(manifest.length)])
    }
    const again = await client.pushManifest(name, digest, manifest)
    expect([again.status, again.headers.get('location')]).toEqual([201, `/v2/${name}/manifests/${digest}`])
  })

  test('end-7: need no layers, may say more than we know, and take their tag over', async () => {
    await client.pushBlob(name, '{}')
    const first = manifestOf('{}', [], { unknown: { field: [1] } })
    const put = await client.pushManifest(name, 'moving', first)
    expect([put.status, put.headers.get('docker-content-digest')]).toEqual([201, digestOf(first)])
    const location = put.headers.get('location')!
    expect((await client.request('GET', name, location)).bytes.toString()).toBe(first)
    const second = manifestOf('{}', [], { annotations: { second: 'yes' } })
    expect((await client.pushManifest(name, 'moving', second)).status).toBe(201)
    expect((await client.request('GET', name, 'manifests/moving')).bytes.toString()).toBe(second)
    expect((await client.request('GET', name, `manifests/${digestOf(first)}`)).status).toBe(200)
  })

  test('end-7: may be named by SHA-512', async () => {
    const manifest = await client.pushImage(name, 'long')
    const digest = digestOf(manifest, 'sha512')
    const put = await client.pushManifest(name, digest, manifest)
    expect([put.status, put.headers.get('docker-content-digest')]).toEqual([201, digest])
    expect((await client.request('GET', name, `manifests/${digest}`)).bytes.toString()).toBe(manifest)
  })

  test('end-7: that name what is not there are refused and not stored', async () => {
    const manifest = manifestOf('no config', ['no layer'])
    const answer = await client.pushManifest(name, 'missing', manifest)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'MANIFEST_BLOB_UNKNOWN'])
    expect(answer.bytes.toString()).toContain(digestOf('no layer'))
    expect((await client.request('GET', name, 'manifests/missing')).status).toBe(404)
    expect((await client.request('GET', name, `manifests/${digestOf(manifest)}`)).status).toBe(404)

    const index = JSON.stringify({
      schemaVersion: 2,
      mediaType: types.index,
      manifests: [{ mediaType: types.manifest, digest: digestOf('none'), size: 4 }],
    })
    const listed = await client.pushManifest(name, 'missing', index, types.index)
    expect([listed.status, codeOf(listed)]).toEqual([400, 'MANIFEST_BLOB_UNKNOWN'])
  })

  test('end-7: of another digest than named are refused', async () => {
    const manifest = await client.pushImage(name, 'right')
    const answer = await client.pushManifest(name, digestOf('wrong'), manifest)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'DIGEST_INVALID'])
  })

  test('end-7: beyond 4 MiB are refused', async () => {
    const manifest = manifestOf('{}', [], { annotations: { long: 'x'.repeat(4 * 1024 * 1024) } })
    const answer = await client.pushManifest(name, 'large', manifest)
    expect([answer.status, codeOf(answer)]).toEqual([413, 'MANIFEST_INVALID'])
    const stream = await client.request('PUT', name, 'manifests/large', {
      body: new Blob([manifest]).stream(),
      headers: { 'content-type': types.manifest },
    })
    expect([stream.status, codeOf(stream)]).toEqual([413, 'MANIFEST_INVALID'])
    expect((await client.request('GET', name, 'manifests/large')).status).toBe(404)
  })

  test('end-7: close to 4 MiB are taken', async () => {
    await client.pushBlob(name, '{}')
    const manifest = manifestOf('{}', [], { annotations: { long: 'x'.repeat(4 * 1024 * 1024 - 1000) } })
    expect((await client.pushManifest(name, 'nearly', manifest)).status).toBe(201)
    expect((await client.request('GET', name, 'manifests/nearly')).bytes.length).toBe(manifest.length)
  })

  test.each<[string, string, string]>([
    ['no JSON', '{', types.manifest],
    ['no object', '[]', types.manifest],
    ['another type than said', manifestOf('{}', []), types.index],
    ['a type of its own', '{"schemaVersion":2}', 'application/json'],
    ['version 1', '{"schemaVersion":1}', types.manifest],
    ['no configuration', '{"schemaVersion":2}', types.manifest],
    ['layers that are none', manifestOf('{}', [], { layers: [1] }), types.manifest],
    ['annotations that are none', manifestOf('{}', [], { annotations: { a: 1 } }), types.manifest],
    ['NUL in an annotation', manifestOf('{}', [], { annotations: { a: '\0' } }), types.manifest],
    ['a subject that is none', manifestOf('{}', [], { subject: 'x' }), types.manifest],
  ])('end-7: with %s are refused', async (_, body, type) => {
    const answer = await client.pushManifest(name, 'invalid', body, type)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'MANIFEST_INVALID'])
  })

  test('end-7: of an index list images that are there', async () => {
    const images = [await client.pushImage(name, 'amd64'), await client.pushImage(name, 'arm64')]
    const index = JSON.stringify({
      schemaVersion: 2,
      mediaType: types.index,
      manifests: images.map((image) => ({
        mediaType: types.manifest,
        digest: digestOf(image),
        size: image.length,
      })),
    })
    expect((await client.pushManifest(name, 'both', index, types.index)).status).toBe(201)
    const read = await client.request('GET', name, 'manifests/both')
    expect([read.headers.get('content-type'), read.bytes.toString()]).toEqual([types.index, index])
  })

  test('end-7: of an index may list an index', async () => {
    const list = (content: string, mediaType: string): string =>
      JSON.stringify({
        schemaVersion: 2,
        mediaType: types.index,
        manifests: [{ mediaType, digest: digestOf(content), size: content.length }],
      })
    const inner = list(await client.pushImage(name, 'innermost'), types.manifest)
    expect((await client.pushManifest(name, digestOf(inner), inner, types.index)).status).toBe(201)
    const outer = list(inner, types.index)
    expect((await client.pushManifest(name, 'outer', outer, types.index)).status).toBe(201)
  })
})

describe('tags', () => {
  test('end-8a, end-8b: are listed in order, in pages', async () => {
    const place = `${project.path_with_namespace}/tags`
    const manifest = await client.pushImage(place, 'b')
    for (const tag of ['C', 'a', 'd', 'B']) await client.pushManifest(place, tag, manifest)
    const list = (query = '') => client.request('GET', place, `tags/list${query}`)
    expect((await list()).body).toEqual({ name: place, tags: ['a', 'B', 'b', 'C', 'd'] })
    const first = await list('?n=2')
    expect(first.body!['tags']).toEqual(['a', 'B'])
    expect(first.headers.get('link')).toBe(`</v2/${place}/tags/list?n=2&last=B>; rel="next"`)
    expect((await list('?n=2&last=B')).body!['tags']).toEqual(['b', 'C'])
    const end = await list('?n=2&last=C')
    expect([end.body!['tags'], end.headers.get('link')]).toEqual([['d'], null])
    const none = await list('?n=0')
    expect([none.body!['tags'], none.headers.get('link')]).toEqual([[], null])
  })

  test('end-8b: follow on any name, there or not; the links lead through all of them', async () => {
    const place = `${project.path_with_namespace}/walked`
    const manifest = await client.pushImage(place, 'v1')
    for (const tag of ['v2', 'v3', 'v4', 'v5']) await client.pushManifest(place, tag, manifest)
    const after = async (last: string) =>
      (await client.request('GET', place, `tags/list?last=${last}`)).body!['tags']
    expect(await after('v3')).toEqual(['v4', 'v5'])
    expect(await after('v33')).toEqual(['v4', 'v5'])
    expect(await after('z')).toEqual([])
    const walked: unknown[] = []
    for (let path: string | undefined = 'tags/list?n=2'; path !== undefined;) {
      const page = await client.request('GET', place, path)
      walked.push(...(page.body!['tags'] as unknown[]))
      path = /^<(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1]
    }
    expect(walked).toEqual(['v1', 'v2', 'v3', 'v4', 'v5'])
  })

  test('end-8a: of no repository are not there', async () => {
    const place = `${project.path_with_namespace}/nowhere`
    const reader = RegistryClient.of(world, await world.member({ project }, 'reporter'))
    const answer = await reader.request('GET', place, 'tags/list')
    expect([answer.status, codeOf(answer)]).toEqual([404, 'NAME_UNKNOWN'])
  })
})

describe('referrers', () => {
  test('end-12a, end-12b: are found by their subject, by type too, whichever came first', async () => {
    const place = `${project.path_with_namespace}/signed`
    const subjectManifest = manifestOf('{}', ['layer of it'])
    const subject = {
      mediaType: types.manifest,
      digest: digestOf(subjectManifest),
      size: subjectManifest.length,
    }
    await client.pushBlob(place, '{}')
    const referrer = async (artifactType: string) => {
      const manifest = manifestOf('{}', [], { subject, artifactType, annotations: { of: artifactType } })
      const answer = await client.pushManifest(place, digestOf(manifest), manifest)
      expect([answer.status, answer.headers.get('oci-subject')]).toEqual([201, subject.digest])
      return {
        mediaType: types.manifest,
        size: manifest.length,
        digest: digestOf(manifest),
        artifactType,
        annotations: { of: artifactType },
      }
    }
    const all = [await referrer('application/vnd.a'), await referrer('application/vnd.b')]
    await client.pushImage(place, 'subject', 'layer of it')
    const list = (query = '') => client.request('GET', place, `referrers/${subject.digest}${query}`)
    const found = await list()
    expect([found.status, found.headers.get('content-type')]).toEqual([200, types.index])
    expect(found.body).toEqual({
      schemaVersion: 2,
      mediaType: types.index,
      manifests: all.toSorted((a, b) => (a.digest < b.digest ? -1 : 1)),
    })
    const some = await list('?artifactType=application/vnd.b')
    expect([some.headers.get('oci-filters-applied'), some.body!['manifests']]).toEqual([
      'artifactType',
      [all[1]],
    ])
    const none = await client.request('GET', place, `referrers/${digestOf('nobody')}`)
    expect([none.status, none.body!['manifests']]).toEqual([200, []])
  })

  test('end-7, end-12a: may be an index, and are gone when they are deleted; the fallback tag is a tag', async () => {
    const place = `${project.path_with_namespace}/attested`
    const image = await client.pushImage(place, 'image')
    const subject = { mediaType: types.manifest, digest: digestOf(image), size: image.length }
    const index = JSON.stringify({
      ...{ schemaVersion: 2, mediaType: types.index, artifactType: 'application/vnd.attestation' },
      ...{ manifests: [], subject },
    })
    const put = await client.pushManifest(place, digestOf(index), index, types.index)
    expect([put.status, put.headers.get('oci-subject')]).toEqual([201, subject.digest])
    const list = async () => {
      const answer = await client.request('GET', place, `referrers/${subject.digest}`)
      expect(answer.headers.get('oci-filters-applied')).toBeNull()
      return (answer.body!['manifests'] as Json[]).map(({ digest, artifactType }) => [digest, artifactType])
    }
    expect(await list()).toEqual([[digestOf(index), 'application/vnd.attestation']])
    expect((await client.request('DELETE', place, `manifests/${digestOf(index)}`)).status).toBe(202)
    expect(await list()).toEqual([])
    // As clients write it for registries that know of no referrers.
    const fallback = subject.digest.replace(':', '-')
    const empty = JSON.stringify({ schemaVersion: 2, mediaType: types.index, manifests: [] })
    expect((await client.pushManifest(place, fallback, empty, types.index)).status).toBe(201)
    expect((await client.request('GET', place, `manifests/${fallback}`)).bytes.toString()).toBe(empty)
  })

  test('end-12a: without a type of their own have that of their configuration', async () => {
    const place = `${project.path_with_namespace}/typed`
    await client.pushBlob(place, '{}')
    const subject = { mediaType: types.manifest, digest: digestOf('x'), size: 1 }
    const manifest = manifestOf('{}', [], { subject })
    await client.pushManifest(place, digestOf(manifest), manifest)
    const [found] = (await client.request('GET', place, `referrers/${subject.digest}`)).body![
      'manifests'
    ] as Json[]
    expect(found!['artifactType']).toBe(types.config)
  })
})

describe('deletion', () => {
  test('end-9: lose a tag, or all of them with themselves', async () => {
    const manifest = await client.pushImage(name, 'first')
    await client.pushManifest(name, 'second', manifest)
    expect((await client.request('DELETE', name, 'manifests/first')).status).toBe(202)
    expect((await client.request('GET', name, 'manifests/first')).status).toBe(404)
    expect((await client.request('GET', name, 'manifests/second')).status).toBe(200)
    expect((await client.request('DELETE', name, `manifests/${digestOf(manifest)}`)).status).toBe(202)
    expect((await client.request('GET', name, 'manifests/second')).status).toBe(404)
    expect(codeOf(await client.request('DELETE', name, 'manifests/second'))).toBe('MANIFEST_UNKNOWN')
  })

  test('end-9, end-10: what is not there cannot be deleted, and what was can be pushed again', async () => {
    for (const [path, code, status] of [
      ['manifests/nothing', 'MANIFEST_UNKNOWN', 404],
      [`manifests/${digestOf('nothing')}`, 'MANIFEST_UNKNOWN', 404],
      ['manifests/sha256:abc', 'DIGEST_INVALID', 400],
      [`blobs/${digestOf('nothing')}`, 'BLOB_UNKNOWN', 404],
      ['blobs/abc', 'DIGEST_INVALID', 400],
    ] as const) {
      const answer = await client.request('DELETE', name, path)
      expect([path, answer.status, codeOf(answer)]).toEqual([path, status, code])
    }
    const manifest = await client.pushImage(name, 'again')
    for (const path of [`manifests/${digestOf(manifest)}`, `blobs/${digestOf('layer of again')}`]) {
      expect((await client.request('DELETE', name, path)).status).toBe(202)
    }
    // The manifest named the layer, which is not there any more.
    expect((await client.pushManifest(name, 'again', manifest)).status).toBe(400)
    expect(await client.pushImage(name, 'again')).toBe(manifest)
    const tags = (await client.request('GET', name, 'tags/list')).body!['tags'] as string[]
    expect(tags).toContain('again')
  })
})
