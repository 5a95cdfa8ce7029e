import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { StaticCache } from '../world/static-cache.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** Raw files and archives as browsers link to them, and a cache in front of them. */
let world: World
let open: Made
let closed: Made
let developer: Person
let cache: StaticCache

const secret = 'token of the cache'

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate' })
  open = await world.project({ visibility: 'public', initialize_with_readme: true })
  closed = await world.project({ visibility: 'private', initialize_with_readme: true })
  developer = await world.member({ project: closed }, 'developer')
  cache = await StaticCache.open(world.url, secret)
})
afterAll(async () => {
  await cache[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const raw = ({ path_with_namespace }: Made): string => `/${path_with_namespace}/-/raw/main/README.md`
const archive = ({ path_with_namespace, path }: Made, name = `${path}-main.tar`): string =>
  `/${path_with_namespace}/-/archive/main/${name}`

function look(path: string, by?: { token: string }, headers: Record<string, string> = {}): Promise<Response> {
  const own = by === undefined ? {} : { 'private-token': by.token }
  return fetch(new URL(path, world.url), { redirect: 'manual', headers: { ...own, ...headers } })
}

/** Where one is sent. */
async function sentTo(path: string, by?: { token: string }): Promise<URL> {
  const answer = await look(path, by)
  expect(answer.status).toBe(302)
  return new URL(answer.headers.get('location')!)
}

async function readme(of: Made): Promise<string> {
  const { body } = await world.root.get(`/projects/${of.id}/repository/files/README.md?ref=main`)
  return Buffer.from((body as Json)['content'] as string, 'base64').toString()
}

const caching = (): Json => ({
  static_objects_external_storage_url: cache.url,
  static_objects_external_storage_auth_token: secret,
})

describe('archives at the addresses of browsers', () => {
  test('are named as they are asked for', async () => {
    const nameOf = async (path: string) => {
      const answer = await look(path)
      expect(answer.status).toBe(200)
      await answer.arrayBuffer()
      return /filename="([^"]+)"/.exec(answer.headers.get('content-disposition')!)![1]!
    }
    const plain = `${open.path}-main`
    const { id: sha } = expectStatus(
      await world.root.get(`/projects/${open.id}/repository/commits/main`),
      200,
    )
    expect(await nameOf(archive(open))).toBe(`${plain}.tar`)
    expect(await nameOf(archive(open, 'other.zip'))).toBe(`${plain}-${sha as string}.zip`)
    expect(await nameOf(`${archive(open, 'other.tgz')}?append_sha=false`)).toBe(`${plain}.tar.gz`)
    expect(await nameOf(`${archive(open)}?append_sha=true`)).toBe(`${plain}-${sha as string}.tar`)
    expect(await nameOf(`${archive(open)}?path=README.md`)).toBe(`${plain}-README.md.tar`)
    expect(await nameOf(`/${open.path_with_namespace}/-/archive/main.tar.gz`)).toContain(sha as string)
  })

  test('are where releases say that the code of their tag is', async () => {
    const release = { tag_name: 'v/1.0', ref: 'main' }
    const { assets } = expectStatus(await world.root.post(`/projects/${open.id}/releases`, release), 201)
    for (const { url, format } of (assets as { sources: { url: string; format: string }[] }).sources) {
      const answer = await fetch(url)
      expect([format, answer.status]).toEqual([format, 200])
      await answer.arrayBuffer()
    }
  })

  test('are for those who may read the code, and of what there is', async () => {
    expect((await look(archive(closed), developer)).status).toBe(200)
    expect((await look(archive(closed), await world.user())).status).toBe(404)
    expect((await sentTo(archive(closed))).pathname).toBe('/users/sign_in')
    const missing = [
      `/${open.path_with_namespace}/-/archive/nothing/x.zip`,
      `${archive(open)}?path=nothing`,
      `/${open.path_with_namespace}/-/archive/main/x.exe`,
    ]
    for (const path of missing) expect((await look(path)).status).toBe(404)
    expect((await look(`${archive(open)}?path=..%2F..`)).status).toBe(400)
  })

  test('are looked at before they are fetched', async () => {
    for (const path of [raw(open), archive(open)]) {
      const head = await fetch(world.url + path, { method: 'HEAD' })
      expect([path, head.status]).toEqual([path, 200])
      expect(head.headers.get('content-disposition')).not.toBeNull()
    }
    expect((await fetch(world.url + raw(closed), { method: 'HEAD', redirect: 'manual' })).status).toBe(302)
  })

  test('are not sent twice to who has them', async () => {
    const first = await look(archive(open))
    await first.arrayBuffer()
    const again = await look(archive(open), undefined, { 'if-none-match': first.headers.get('etag')! })
    expect(again.status).toBe(304)
    const other = await look(archive(open, 'a.zip'), undefined, {
      'if-none-match': first.headers.get('etag')!,
    })
    expect(other.status).toBe(200)
    await other.arrayBuffer()
  })
})

test('nobody comes from an address that the group does not admit, or with a token that is off', async () => {
  const group = await world.group({ visibility: 'public' })
  const inside = await world.project({
    namespace_id: group.id,
    visibility: 'public',
    initialize_with_readme: true,
  })
  const member = await world.member({ project: inside }, 'developer')
  const paths = [raw(inside), archive(inside)]
  const seen = async (): Promise<number[]> => {
    const answers = await Promise.all(paths.map((path) => look(path, member)))
    return answers.map(({ status }) => status)
  }
  expect(await seen()).toEqual([200, 200])
  const admit = (ip_restriction_ranges: string) =>
    world.root.put(`/groups/${group.id}`, { ip_restriction_ranges })
  expectStatus(await admit('192.0.2.0/24'), 200)
  expect(await seen()).toEqual([404, 404])
  expectStatus(await admit(''), 200)
  expect(await seen()).toEqual([200, 200])
  await world.service.services.settings.change({ disable_personal_access_tokens: true })
  try {
    expect(await seen()).toEqual([404, 404])
  } finally {
    await world.service.services.settings.change({ disable_personal_access_tokens: false })
  }
})

describe('with static_objects_external_storage_url and its token', () => {
  test('who asks is sent to the cache, which asks here whether what it has is still good', async () => {
    await during(world, caching(), async () => {
      for (const path of [raw(open), archive(open)]) {
        const there = await sentTo(path, developer)
        expect(there.href).toBe(cache.url + path)
        const [first, second] = [await fetch(there), await fetch(there)]
        const bytes = Buffer.from(await first.arrayBuffer())
        expect([first.status, second.status]).toEqual([200, 200])
        expect(bytes.equals(Buffer.from(await second.arrayBuffer()))).toBe(true)
        expect(bytes.includes(await readme(open))).toBe(true)
        const cacheControl = 'max-age=60, public, must-revalidate'
        expect(cache.answers.splice(0)).toEqual([
          { path, status: 200, cacheControl },
          { path, status: 304, cacheControl },
        ])
      }
    })
    for (const path of [raw(open), archive(open)]) expect((await look(path)).status).toBe(200)
  })

  test('what is not for everybody is got in the name of who may have it', async () => {
    await during(world, caching(), async () => {
      for (const path of [raw(closed), archive(closed)]) {
        const there = await sentTo(path, developer)
        expect(there.origin + there.pathname).toBe(cache.url + path)
        const answer = await fetch(there)
        expect(answer.status).toBe(200)
        expect(Buffer.from(await answer.arrayBuffer()).includes(await readme(closed))).toBe(true)
        const [{ cacheControl }] = cache.answers.splice(0) as [(typeof cache.answers)[number]]
        expect(cacheControl).toBe('max-age=0, private, must-revalidate')
        // Without the token, and with one that is none, the cache gets nothing, though it has it.
        const token = there.searchParams.get('token')!
        there.searchParams.delete('token')
        expect((await fetch(there, { redirect: 'manual' })).status).toBe(302)
        for (const bad of [`${token}0`, token.replace(/-\d+-/, '-1-'), 'x']) {
          there.searchParams.set('token', bad)
          expect((await fetch(there)).status).toBe(401)
        }
        // It opens this project alone, and nothing without the cache.
        const elsewhere = new URL(cache.url + raw(await world.project({ initialize_with_readme: true })))
        elsewhere.searchParams.set('token', token)
        expect((await fetch(elsewhere)).status).toBe(401)
        expect((await sentTo(`${path}?token=${token}`)).pathname).toBe('/users/sign_in')
      }
      const there = await sentTo(raw(closed), developer)
      expectStatus(await world.root.post(`/users/${developer.id}/block`), 201)
      expect((await fetch(there, { redirect: 'manual' })).status).toBe(404)
      expectStatus(await world.root.post(`/users/${developer.id}/unblock`), 201)
      expect((await fetch(there)).status).toBe(200)
    })
    expect((await look(raw(closed), developer)).status).toBe(200)
    expect((await look(`${raw(closed)}?token=x`)).status).toBe(302)
  })

  test('the cache is known by its token, and is not counted', async () => {
    const asking = (token: string) => look(raw(open), undefined, { 'x-gitlab-external-storage-token': token })
    await during(world, { ...caching(), raw_blob_request_limit: 1 }, async () => {
      expect((await asking('another')).status).toBe(403)
      expect([(await asking(secret)).status, (await asking(secret)).status]).toEqual([200, 200])
      expect((await look(raw(open))).status).toBe(302)
      expect((await look(raw(open))).status).toBe(429)
      await set(world, { static_objects_external_storage_auth_token: 'another' })
      expect([(await asking('another')).status, (await asking(secret)).status]).toEqual([200, 403])
    })
    expect((await asking('anything')).status).toBe(200)
  })

  test('only what says which bytes are meant is handed on', async () => {
    await during(
      world,
      { ...caching(), static_objects_external_storage_url: `${cache.url}/own/` },
      async () => {
        const { href } = await sentTo(`${archive(open)}?path=README.md&private_token=x&append_sha=true`)
        expect(href).toBe(`${cache.url}/own${archive(open)}?append_sha=true&path=README.md`)
      },
    )
    const refused = await world.root.put('/application/settings', {
      static_objects_external_storage_url: 'javascript:alert(1)',
    })
    expect(refused.status).toBe(400)
    expect((await look(archive(open))).status).toBe(200)
  })
})
