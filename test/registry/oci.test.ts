import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'
import { codeOf, digestOf, manifestOf, RegistryClient, types } from './client.ts'

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

const begin = async (): Promise<string> => {
  const answer = await client.request('POST', name, 'blobs/uploads/')
  expect(answer.status).toBe(202)
  return answer.headers.get('location')!
}

describe('the base', () => {
  test('asks for a token, and is there with one', async () => {
    const response = await fetch(`${world.url}/v2/`)
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer realm="${world.url}/jwt/auth",service="container_registry"`,
    )
    expect(response.headers.get('docker-distribution-api-version')).toBe('registry/2.0')
    expect((await client.request('GET', name, '/v2/')).status).toBe(200)
  })

  test.each([
    ['manifests/x:y', 'DIGEST_INVALID', 400],
    ['manifests/.x', 'MANIFEST_UNKNOWN', 404],
    ['blobs/sha256:abc', 'DIGEST_INVALID', 400],
    ['referrers/abc', 'DIGEST_INVALID', 400],
    ['blobs/uploads/nothing', 'BLOB_UPLOAD_UNKNOWN', 404],
    ['blobs/uploads/00000000-0000-0000-0000-000000000000', 'BLOB_UPLOAD_UNKNOWN', 404],
    [`blobs/${digestOf('nowhere')}`, 'BLOB_UNKNOWN', 404],
    ['manifests/nothing', 'MANIFEST_UNKNOWN', 404],
    ['elsewhere', 'UNSUPPORTED', 404],
    ['tags/list?n=x', 'PAGINATION_NUMBER_INVALID', 400],
  ])('%s is %s', async (path, code, status) => {
    const answer = await client.request('GET', name, path)
    expect([answer.status, codeOf(answer)]).toEqual([status, code])
  })

  test('names that cannot be one are refused', async () => {
    const answer = await client.request('GET', name, '/v2/UPPER/case/manifests/x')
    expect([answer.status, codeOf(answer)]).toEqual([400, 'NAME_INVALID'])
  })
})

describe('blobs', () => {
  test('come whole in one request, and are read again, in parts too', async () => {
    const content = 'a whole blob'
    const digest = digestOf(content)
    const made = await client.request('POST', name, `blobs/uploads/?digest=${digest}`, { body: content })
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v2/${name}/blobs/${digest}`])
    expect(made.headers.get('docker-content-digest')).toBe(digest)

    const whole = await client.request('GET', name, `blobs/${digest}`)
    expect([whole.status, whole.bytes.toString()]).toEqual([200, content])
    expect(whole.headers.get('docker-content-digest')).toBe(digest)
    const head = await client.request('HEAD', name, `blobs/${digest}`)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)])

    const ranged = (range: string) => client.request('GET', name, `blobs/${digest}`, { headers: { range } })
    const part = await ranged('bytes=2-6')
    expect([part.status, part.bytes.toString()]).toEqual([206, 'whole'])
    expect(part.headers.get('content-range')).toBe(`bytes 2-6/${content.length}`)
    expect((await ranged('bytes=-4')).bytes.toString()).toBe('blob')
    expect((await ranged('bytes=8-')).bytes.toString()).toBe('blob')
    const beyond = await ranged('bytes=100-')
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${content.length}`])
    const same = await client.request('GET', name, `blobs/${digest}`, {
      headers: { 'if-none-match': `"${digest}"` },
    })
    expect([same.status, same.bytes.length]).toEqual([304, 0])
  })

  test('come by an upload: begun, then put', async () => {
    const content = 'begun and put'
    const location = await begin()
    const done = await client.request('PUT', name, `${location}?digest=${digestOf(content)}`, {
      body: content,
    })
    expect(done.status).toBe(201)
    expect((await client.request('GET', name, `blobs/${digestOf(content)}`)).bytes.toString()).toBe(content)
    // It is over.
    expect(codeOf(await client.request('GET', name, location))).toBe('BLOB_UPLOAD_UNKNOWN')
  })

  test('come in pieces, in their order', async () => {
    const location = await begin()
    const piece = (method: string, path: string, body: string, start: number) =>
      client.request(method, name, path, {
        body,
        headers: {
          'content-range': `${start}-${start + body.length - 1}`,
          'content-type': 'application/octet-stream',
        },
      })
    const first = await piece('PATCH', location, 'one,', 0)
    expect([first.status, first.headers.get('range')]).toEqual([202, '0-3'])
    const early = await piece('PATCH', location, 'three', 8)
    expect([early.status, early.headers.get('range')]).toEqual([416, '0-3'])
    const again = await piece('PATCH', location, 'one,', 0)
    expect(again.status).toBe(416)
    const progress = await client.request('GET', name, location)
    expect([progress.status, progress.headers.get('range')]).toEqual([204, '0-3'])
    expect((await piece('PATCH', location, 'two,', 4)).headers.get('range')).toBe('0-7')
    const content = 'one,two,three'
    const done = await piece('PUT', `${location}?digest=${digestOf(content)}`, 'three', 8)
    expect(done.status).toBe(201)
    expect((await client.request('GET', name, `blobs/${digestOf(content)}`)).bytes.toString()).toBe(content)
  })

  test('may have a digest of SHA-512', async () => {
    const content = 'longer'
    const digest = digestOf(content, 'sha512')
    const location = await begin()
    await client.request('PATCH', name, location, { body: content })
    expect((await client.request('PUT', name, `${location}?digest=${digest}`)).status).toBe(201)
    const read = await client.request('GET', name, `blobs/${digest}`)
    expect([read.status, read.bytes.toString()]).toEqual([200, content])
  })

  test('may be empty', async () => {
    const location = await begin()
    expect((await client.request('PUT', name, `${location}?digest=${digestOf('')}`)).status).toBe(201)
    const read = await client.request('GET', name, `blobs/${digestOf('')}`)
    expect([read.status, read.bytes.length]).toEqual([200, 0])
  })

  test('with another digest than said are refused and not kept', async () => {
    const claimed = digestOf('something else')
    for (const path of [`blobs/uploads/?digest=${claimed}`, `${await begin()}?digest=${claimed}`]) {
      const method = path.startsWith('/') ? 'PUT' : 'POST'
      const answer = await client.request(method, name, path, { body: 'not that' })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'DIGEST_INVALID'])
    }
    expect((await client.request('HEAD', name, `blobs/${claimed}`)).status).toBe(404)
    expect((await client.request('HEAD', name, `blobs/${digestOf('not that')}`)).status).toBe(404)
    const unknown = await client.request('PUT', name, `${await begin()}?digest=md5:abc`, { body: 'x' })
    expect([unknown.status, codeOf(unknown)]).toEqual([400, 'DIGEST_INVALID'])
  })

  test('of another length than said are refused', async () => {
    const location = await begin()
    const answer = await client.request('PATCH', name, location, {
      body: 'short',
      headers: { 'content-range': '0-99' },
    })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'SIZE_INVALID'])
    expect((await client.request('GET', name, location)).headers.get('range')).toBe('0-0')
  })

  test('that break off stay begun, and are gone on with', async () => {
    const location = await begin()
    const token = await client.token(`repository:${name}:pull,push`)
    await new Promise<void>((resolve) => {
      const sending = request(`${world.url}${location}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-length': '1000' },
      })
      sending.on('error', () => resolve())
      sending.write('half of it,', () => setTimeout(() => sending.destroy(), 300))
      sending.on('close', () => resolve())
    })
    const progress = await client.request('GET', name, location)
    expect(progress.headers.get('range')).toBe('0-10')
    const content = 'half of it, and the rest'
    const rest = await client.request('PATCH', name, location, {
      body: ' and the rest',
      headers: { 'content-range': '11-23' },
    })
    expect([rest.status, rest.headers.get('range')]).toEqual([202, '0-23'])
    expect((await client.request('PUT', name, `${location}?digest=${digestOf(content)}`)).status).toBe(201)
    expect((await client.request('GET', name, `blobs/${digestOf(content)}`)).bytes.toString()).toBe(content)
  })

  test('that break off in a single request leave nothing', async () => {
    const content = 'cut'
    const token = await client.token(`repository:${name}:pull,push`)
    await new Promise<void>((resolve) => {
      const sending = request(`${world.url}/v2/${name}/blobs/uploads/?digest=${digestOf(content)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-length': '1000' },
      })
      sending.on('error', () => resolve())
      sending.write(content, () => setTimeout(() => sending.destroy(), 200))
      sending.on('close', () => resolve())
    })
    expect((await client.request('HEAD', name, `blobs/${digestOf(content)}`)).status).toBe(404)
  })

  test('are given up', async () => {
    const location = await begin()
    await client.request('PATCH', name, location, { body: 'x' })
    expect((await client.request('DELETE', name, location)).status).toBe(204)
    expect((await client.request('GET', name, location)).status).toBe(404)
  })

  test('are taken over from a repository that the caller may read', async () => {
    const content = 'to be mounted'
    const digest = digestOf(content)
    await client.pushBlob(name, content)
    const other = `${project.path_with_namespace}/other`
    const mount = (from: string, scopes: string[]) =>
      client.request('POST', other, `blobs/uploads/?mount=${digest}&from=${from}`, { scopes })
    expect((await mount(name, [])).status).toBe(202)
    expect((await mount(`${project.path_with_namespace}/none`, [])).status).toBe(202)
    const mounted = await mount(name, [`repository:${name}:pull`])
    expect([mounted.status, mounted.headers.get('location')]).toEqual([201, `/v2/${other}/blobs/${digest}`])
    expect((await client.request('GET', other, `blobs/${digest}`)).bytes.toString()).toBe(content)
  })

  test('are deleted from one repository', async () => {
    await client.pushBlob(name, 'to be deleted')
    const path = `blobs/${digestOf('to be deleted')}`
    expect((await client.request('DELETE', name, path)).status).toBe(202)
    expect((await client.request('GET', name, path)).status).toBe(404)
    expect(codeOf(await client.request('DELETE', name, path))).toBe('BLOB_UNKNOWN')
  })
})

describe('manifests', () => {
  test('are stored byte for byte, and read by tag and digest', async () => {
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

  test('may be named by SHA-512', async () => {
    const manifest = await client.pushImage(name, 'long')
    const digest = digestOf(manifest, 'sha512')
    const put = await client.pushManifest(name, digest, manifest)
    expect([put.status, put.headers.get('docker-content-digest')]).toEqual([201, digest])
    expect((await client.request('GET', name, `manifests/${digest}`)).bytes.toString()).toBe(manifest)
  })

  test('that name what is not there are refused and not stored', async () => {
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

  test('of another digest than named are refused', async () => {
    const manifest = await client.pushImage(name, 'right')
    const answer = await client.pushManifest(name, digestOf('wrong'), manifest)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'DIGEST_INVALID'])
  })

  test('beyond 4 MiB are refused', async () => {
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

  test('close to 4 MiB are taken', async () => {
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
  ])('with %s are refused', async (_, body, type) => {
    const answer = await client.pushManifest(name, 'invalid', body, type)
    expect([answer.status, codeOf(answer)]).toEqual([400, 'MANIFEST_INVALID'])
  })

  test('lose a tag, or all of them with themselves', async () => {
    const manifest = await client.pushImage(name, 'first')
    await client.pushManifest(name, 'second', manifest)
    expect((await client.request('DELETE', name, 'manifests/first')).status).toBe(202)
    expect((await client.request('GET', name, 'manifests/first')).status).toBe(404)
    expect((await client.request('GET', name, 'manifests/second')).status).toBe(200)
    expect((await client.request('DELETE', name, `manifests/${digestOf(manifest)}`)).status).toBe(202)
    expect((await client.request('GET', name, 'manifests/second')).status).toBe(404)
    expect(codeOf(await client.request('DELETE', name, 'manifests/second'))).toBe('MANIFEST_UNKNOWN')
  })

  test('of an index list images that are there', async () => {
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
})

describe('tags', () => {
  test('are listed in order, in pages', async () => {
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

  test('of no repository are not there', async () => {
    const place = `${project.path_with_namespace}/nowhere`
    const reader = RegistryClient.of(world, await world.member({ project }, 'reporter'))
    const answer = await reader.request('GET', place, 'tags/list')
    expect([answer.status, codeOf(answer)]).toEqual([404, 'NAME_UNKNOWN'])
  })
})

describe('referrers', () => {
  test('are found by their subject, by type too, whichever came first', async () => {
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

  test('without a type of their own have that of their configuration', async () => {
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
