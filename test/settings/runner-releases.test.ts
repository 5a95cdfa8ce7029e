import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
let feed: Server
let project: Made
/** Pages of the feed, each as its text; those that were asked for. */
let pages: string[]
let asked: string[]
let status: number

beforeAll(async () => {
  feed = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://feed')
    asked.push(`${url.pathname}${url.search}`)
    const page = Number(url.searchParams.get('page'))
    const next = page < pages.length ? String(page + 1) : ''
    response.writeHead(status, { 'x-next-page': next }).end(pages[page - 1])
  })
  feed.listen(0, '127.0.0.1')
  await once(feed, 'listening')
  const { port } = feed.address() as AddressInfo
  world = await startWorld({ RUNNER_RELEASES_URL: `http://127.0.0.1:${port}/releases?order_by=released_at` })
  project = await world.project()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  feed.closeAllConnections()
  feed.close()
})
beforeEach(() => {
  pages = [released('v17.2.0', 'v17.1.2', 'v17.1.0'), released('v17.0.1', 'v17.3.0-rc1', 'nightly')]
  asked = []
  status = 200
})

const released = (...tags: string[]): string =>
  JSON.stringify(tags.map((tag_name) => ({ tag_name, name: `Release ${tag_name}` })))
const comparing = {
  update_runner_versions_enabled: true,
  allow_local_requests_from_web_hooks_and_services: true,
}

/** As every day does it. */
async function fetchReleases(): Promise<void> {
  await enqueue(world.service.services.db.writer, 'runners:releases', {})
  await world.settled()
}

async function runner(version: string | null, of: Made = project): Promise<RawRunner> {
  const made = await RawRunner.forProject(world, of)
  expectStatus(await made.ask({ info: { version }, last_update: '' }), 204)
  return made
}

const shown = async ({ id }: { readonly id: number }): Promise<Json> =>
  expectStatus(await world.root.get(`/runners/${id}`), 200)
const standing = async (of: { readonly id: number }): Promise<unknown> => (await shown(of))['upgrade_status']

describe('releases of the runner', () => {
  test('update_runner_versions_enabled: they are fetched, and runners tell how they stand beside them', async () => {
    const old = await runner('17.1.1')
    await during(world, comparing, async () => {
      // Until they are known nothing is told.
      expect(await shown(old)).not.toHaveProperty('upgrade_status')
      await fetchReleases()
      expect(asked).toEqual([1, 2].map((page) => `/releases?order_by=released_at&per_page=100&page=${page}`))
      expect(await standing(old)).toBe('recommended')
    })
    await during(world, { ...comparing, update_runner_versions_enabled: false }, async () => {
      asked = []
      expect(await shown(old)).not.toHaveProperty('upgrade_status')
      await fetchReleases()
      expect(asked).toEqual([])
    })
    await during(world, comparing, async () => expect(await shown(old)).not.toHaveProperty('upgrade_status'))
  })

  test.each([
    ['17.1.1', 'recommended'],
    ['v17.1.0', 'recommended'],
    ['17.1.2', 'available'],
    ['17.1.2-rc1', 'recommended'],
    ['17.1.2~pre.12.gabcdef', 'recommended'],
    ['17.1.3', 'available'],
    ['16.9.0', 'available'],
    ['17.2.0', 'not_available'],
    ['17.3.0', 'not_available'],
    ['18.0.0+build', 'not_available'],
    ['development', 'invalid'],
    ['17.1', 'invalid'],
    ['99999999999.1.1', 'invalid'],
    [null, undefined],
  ])('a runner of version %s: %s', async (version, expected) => {
    const made = await runner(version)
    await during(world, comparing, async () => {
      await fetchReleases()
      expect(await standing(made)).toBe(expected)
    })
  })

  test('lists tell it, too, and are filtered by it', async () => {
    const here = await world.project()
    const member: Person = await world.member({ project: here }, 'maintainer')
    const made = await Promise.all(
      ['17.1.1', '17.2.0', 'development'].map((version) => runner(version, here)),
    )
    const of = `/projects/${here.id}/runners?type=project_type`
    const list = async (path = of) =>
      rowsOf(await member.get(path)).map((row) => [row['id'], row['upgrade_status']] as const)
    const [old, current, odd] = made.map(({ id }) => id) as [number, number, number]
    const filtered = (wanted: string) => list(`/runners?upgrade_status=${wanted}`)
    await during(world, comparing, async () => {
      await fetchReleases()
      expect(new Map(await list())).toEqual(
        new Map([
          [old, 'recommended'],
          [current, 'not_available'],
          [odd, 'invalid'],
        ]),
      )
      expect(await filtered('recommended')).toEqual([[old, 'recommended']])
      expect(await filtered('available')).toEqual([])
      const changed = expectStatus(await member.put(`/runners/${old}`, { description: 'old' }), 200)
      expect(changed).toMatchObject({ upgrade_status: 'recommended' })
      const refused = await member.get('/runners?upgrade_status=odd')
      expect([refused.status, refused.body]).toEqual([
        400,
        { error: 'upgrade_status does not have a valid value' },
      ])
    })
    await set(world, { update_runner_versions_enabled: false })
    expect((await list()).map(([, told]) => told)).toEqual([undefined, undefined, undefined])
    expect(await filtered('recommended')).toEqual([])
    await set(world, { update_runner_versions_enabled: true })
  })

  test('what was known stays when the feed is out of order', async () => {
    const old = await runner('17.1.1')
    await during(world, comparing, async () => {
      await fetchReleases()
      const broken: (() => void)[] = [
        () => (status = 500),
        () => (pages = ['{"message": "no list"}']),
        () => (pages = [released('v17.2.0'), 'no page']),
        () => (pages = [released()]),
        () => (pages = ['[null, 1, {"tag_name": 7}, "v1.0.0"]']),
      ]
      for (const breaks of broken) {
        breaks()
        asked = []
        await fetchReleases()
        expect(asked).not.toEqual([])
        expect(await standing(old)).toBe('recommended')
        status = 200
      }
      // Another list takes its place.
      pages = [released('17.1.1', '17.1.0')]
      await fetchReleases()
      expect(await standing(old)).toBe('not_available')
      // Where nothing local may be asked it is not asked.
      await set(world, { allow_local_requests_from_web_hooks_and_services: false })
      pages = [released('17.1.2')]
      await fetchReleases()
      expect(await standing(old)).toBe('not_available')
    })
  })
})
