import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'
import { codeOf, digestOf, RegistryClient } from './client.ts'

/*
 * The endpoints of blobs and uploads of the OCI Distribution Specification 1.1, each test with the numbers that they have
 * there. Those of manifests, tags and referrers stand in `manifests.test.ts`.
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

const begin = async (): Promise<string> => {
  const answer = await client.request('POST', name, 'blobs/uploads/')
  expect(answer.status).toBe(202)
  return answer.headers.get('location')!
}

describe('the base', () => {
  test('end-1: asks for a token, and is there with one', async () => {
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

  test('end-2, end-3: HEAD of what is not there is 404 without a body', async () => {
    for (const path of [`blobs/${digestOf('nowhere')}`, 'manifests/nothing', `manifests/${digestOf('no')}`]) {
      const head = await client.request('HEAD', name, path)
      expect([head.status, head.bytes.length]).toEqual([404, 0])
      const { errors } = (await client.request('GET', name, path)).body as { errors: Json[] }
      expect(errors).toEqual([
        {
          code: expect.stringMatching(/_UNKNOWN$/) as string,
          message: expect.any(String),
          detail: expect.anything(),
        },
      ])
    }
  })

  test('names that cannot be one are refused', async () => {
    const answer = await client.request('GET', name, '/v2/UPPER/case/manifests/x')
    expect([answer.status, codeOf(answer)]).toEqual([400, 'NAME_INVALID'])
  })
})

describe('blobs', () => {
  test('end-2, end-4b: come whole in one request, and are read again, in parts too', async () => {
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

  test('end-4a, end-6: come by an upload: begun, then put', async () => {
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

  test('end-5, end-13: come in pieces, in their order', async () => {
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

  test('end-5, end-6: a piece whose place is no range, or not the next, is 416; the right one still goes on', async () => {
    const location = await begin()
    const send = (method: string, path: string, body: string, range: string) =>
      client.request(method, name, path, { body, headers: { 'content-range': range } })
    expect((await send('PATCH', location, 'abc', '0-2')).status).toBe(202)
    const digest = digestOf('abcdef')
    for (const range of ['x', '5-3', '-1-4', '0-2', '4-6']) {
      for (const path of [location, `${location}?digest=${digest}`]) {
        const refused = await send(path === location ? 'PATCH' : 'PUT', path, 'def', range)
        expect([range, refused.status, refused.headers.get('range')]).toEqual([range, 416, '0-2'])
      }
    }
    expect((await send('PATCH', location, 'def', '3-5')).status).toBe(202)
    // All is there: the end needs no body.
    expect((await client.request('PUT', name, `${location}?digest=${digest}`)).status).toBe(201)
    expect((await client.request('GET', name, `blobs/${digest}`)).bytes.toString()).toBe('abcdef')
  })

  test('end-5, end-6, end-13: uploads that are not begun are 404, and one without a digest does not end', async () => {
    const nowhere = `/v2/${name}/blobs/uploads/${crypto.randomUUID()}`
    for (const [method, path] of [
      ['PATCH', nowhere],
      ['PUT', `${nowhere}?digest=${digestOf('x')}`],
      ['GET', nowhere],
    ] as const) {
      const answer = await client.request(method, name, path, method === 'GET' ? {} : { body: 'x' })
      expect([method, answer.status, codeOf(answer)]).toEqual([method, 404, 'BLOB_UPLOAD_UNKNOWN'])
    }
    const location = await begin()
    const endless = await client.request('PUT', name, location, { body: 'x' })
    expect([endless.status, codeOf(endless)]).toEqual([400, 'DIGEST_INVALID'])
    expect((await client.request('GET', name, location)).status).toBe(204)
  })

  test('end-6: may have a digest of SHA-512', async () => {
    const content = 'longer'
    const digest = digestOf(content, 'sha512')
    const location = await begin()
    await client.request('PATCH', name, location, { body: content })
    expect((await client.request('PUT', name, `${location}?digest=${digest}`)).status).toBe(201)
    const read = await client.request('GET', name, `blobs/${digest}`)
    expect([read.status, read.bytes.toString()]).toEqual([200, content])
  })

  test('end-6: may be empty', async () => {
    const location = await begin()
    expect((await client.request('PUT', name, `${location}?digest=${digestOf('')}`)).status).toBe(201)
    const read = await client.request('GET', name, `blobs/${digestOf('')}`)
    expect([read.status, read.bytes.length]).toEqual([200, 0])
  })

  test('end-4b, end-6: with another digest than said are refused and not kept', async () => {
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

  test('end-5: of another length than said are refused', async () => {
    const location = await begin()
    const answer = await client.request('PATCH', name, location, {
      body: 'short',
      headers: { 'content-range': '0-99' },
    })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'SIZE_INVALID'])
    expect((await client.request('GET', name, location)).headers.get('range')).toBe('0-0')
  })

  test('end-5, end-13: that break off stay begun, and are gone on with', async () => {
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

  test('end-4b: that break off in a single request leave nothing', async () => {
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

  test('end-11: are taken over from a repository that the caller may read', async () => {
    const content = 'to be mounted'
    const digest = digestOf(content)
    await client.pushBlob(name, content)
    const other = `${project.path_with_namespace}/other`
    const mount = (from: string, scopes: string[]) =>
      client.request('POST', other, `blobs/uploads/?mount=${digest}&from=${from}`, { scopes })
    const fallback = await mount(name, [])
    expect(fallback.status).toBe(202)
    // It is an upload like any other.
    const brought = `${fallback.headers.get('location')!}?digest=${digestOf('brought')}`
    expect((await client.request('PUT', other, brought, { body: 'brought' })).status).toBe(201)
    const nameless = await client.request('POST', other, `blobs/uploads/?mount=${digest}`, {
      scopes: [`repository:${name}:pull`],
    })
    expect(nameless.status).toBe(202)
    expect((await mount(`${project.path_with_namespace}/none`, [])).status).toBe(202)
    const mounted = await mount(name, [`repository:${name}:pull`])
    expect([mounted.status, mounted.headers.get('location')]).toEqual([201, `/v2/${other}/blobs/${digest}`])
    expect((await client.request('GET', other, `blobs/${digest}`)).bytes.toString()).toBe(content)
  })

  test('end-11: are taken over with the token that the registry sends for', async () => {
    const content = 'to be mounted by the challenge'
    const digest = digestOf(content)
    await client.pushBlob(name, content)
    const other = `${project.path_with_namespace}/third`
    const mount = (from: string, token?: string) =>
      fetch(
        `${world.url}/v2/${other}/blobs/uploads/?${new URLSearchParams({ mount: digest, from }).toString()}`,
        {
          method: 'POST',
          headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        },
      )
    const scopeOf = (response: Response) =>
      /,scope="([^"]*)"/.exec(response.headers.get('www-authenticate')!)![1]!
    const sent = await mount(name)
    expect(sent.status).toBe(401)
    expect(scopeOf(sent)).toBe(`repository:${other}:pull,push repository:${name}:pull`)
    expect(scopeOf(await mount(name, await client.token(`repository:${other}:pull`)))).toBe(scopeOf(sent))
    const mounted = await mount(name, await client.token(scopeOf(sent)))
    expect([mounted.status, mounted.headers.get('location')]).toEqual([201, `/v2/${other}/blobs/${digest}`])
    // What is no other repository is not asked for.
    for (const from of ['', other, `${name}",error="x`, `${name}:pull repository:x`]) {
      expect(scopeOf(await mount(from))).toBe(`repository:${other}:pull,push`)
    }
  })

  test('end-10: are deleted from one repository', async () => {
    await client.pushBlob(name, 'to be deleted')
    const path = `blobs/${digestOf('to be deleted')}`
    expect((await client.request('DELETE', name, path)).status).toBe(202)
    expect((await client.request('GET', name, path)).status).toBe(404)
    expect(codeOf(await client.request('DELETE', name, path))).toBe('BLOB_UNKNOWN')
  })
})
