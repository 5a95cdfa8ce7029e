import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { SearchCluster } from '../world/search-cluster.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
let cluster: SearchCluster
let project: Made
beforeAll(async () => {
  cluster = await SearchCluster.open()
  world = await startWorld()
  await set(world, { search_rate_limit: 0 })
  project = await world.project()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const wait = { timeout: 20_000, interval: 20 }
const issue = async (title: string, fields: Json = {}): Promise<Json> =>
  expectStatus(await world.root.post(`/projects/${project.id}/issues`, { title, ...fields }), 201)
const titles = (kind = 'issues') => cluster.documents(kind).map((one) => one['title'] as string)
const one = async <Row>(statement: ReturnType<typeof sql<Row>>): Promise<Row> =>
  (await statement.execute(world.service.services.db.reader)).rows[0]!
const search = (words: string, more = '', at = '') =>
  world.root.get(`${at}/search?scope=issues&search=${encodeURIComponent(words)}${more}`)
const found = async (...wanted: Parameters<typeof search>): Promise<unknown[]> =>
  rowsOf(await search(...wanted)).map((row) => row['title'])

/** Whether all that was changed is in the index, and searches look into it. */
async function isCaughtUp(): Promise<boolean> {
  const { done } = await one(sql<{ done: boolean }>`
    select s.ready and s.serving = s.generation and not exists (select from search_changes)
      and not exists (select from search_repositories r where r.due_at is not null) as done from search_state s`)
  return done
}
const caughtUp = () => vi.waitFor(async () => expect(await isCaughtUp()).toBe(true), wait)
/** What waits to be brought into the index. */
const waiting = async () =>
  (await one(sql<{ count: number }>`select count(*)::int as count from search_changes`)).count

test('elasticsearch_indexing, elasticsearch_url: what there is, and what changes then, is in the index', async () => {
  await issue('before')
  await during(world, { elasticsearch_indexing: true, elasticsearch_url: [cluster.url] }, async () => {
    await expect.poll(() => titles(), wait).toContain('before')
    const { iid } = await issue('afterwards')
    await expect.poll(() => titles(), wait).toContain('afterwards')
    expectStatus(
      await world.root.put(`/projects/${project.id}/issues/${iid as number}`, { title: 'renamed' }),
      200,
    )
    await expect.poll(() => titles(), wait).toContain('renamed')
    expect(titles()).not.toContain('afterwards')
    expectStatus(await world.root.delete(`/projects/${project.id}/issues/${iid as number}`), 204)
    await expect.poll(() => titles(), wait).not.toContain('renamed')
    await caughtUp()
  })
  await issue('too late')
  expect(await waiting()).toBe(0)
  expect(titles()).not.toContain('too late')
})

test('elasticsearch_search: what is searched for is looked up in the index', async () => {
  await set(world, { elasticsearch_indexing: true, elasticsearch_url: cluster.url })
  await issue('a fox and a goose')
  await caughtUp()
  const refused = async () => (await search('fox', '&search_type=advanced')).body
  const unavailable = { message: '400 Bad request - Search type advanced is not available for this request' }
  expect(await refused()).toEqual(unavailable)
  expect(await found('goose|hen')).toEqual([])
  await during(world, { elasticsearch_search: true }, async () => {
    expect(await found('goose|hen')).toEqual(['a fox and a goose'])
    expect(await found('fox -goose')).toEqual([])
    expect(await found('goose|hen', '&search_type=basic')).toEqual([])
    expect(await found('goose', '&search_type=advanced')).toEqual(['a fox and a goose'])
  })
  expect(await refused()).toEqual(unavailable)
  expect(await found('goose|hen')).toEqual([])
})

describe('of an index that is kept and searched', () => {
  beforeAll(async () => {
    await set(world, {
      elasticsearch_indexing: true,
      elasticsearch_search: true,
      elasticsearch_url: cluster.url,
    })
    await caughtUp()
  })

  /** Bulk requests from now on, each with what it brought. */
  const since = () => {
    const first = cluster.asked.length
    return () => cluster.asked.slice(first).filter(({ path }) => path.includes('/_bulk'))
  }
  const milestones = async (count: number, description = 'x'): Promise<void> => {
    await sql`
      insert into milestones (project_id, iid, title, description)
      select ${project.id}, coalesce((select max(m.iid) from milestones m where m.project_id = ${project.id}), 0) + n,
        gen_random_uuid()::text, ${description}::text from generate_series(1, ${count}::int) n`.execute(
      world.service.services.db.writer,
    )
  }

  test('elasticsearch_username, elasticsearch_password: by which it lets us in', async () => {
    await issue('behind a door')
    await caughtUp()
    cluster.login = 'searcher:pass:word'
    const values = { elasticsearch_username: 'searcher', elasticsearch_password: 'pass:word' }
    await during(world, values, async () => {
      expect(await found('door|gate')).toEqual(['behind a door'])
      const shown = expectStatus(await world.root.get('/application/settings'), 200)
      expect(JSON.stringify(shown)).not.toContain('pass:word')
    })
    // Without the index it is what the database finds.
    expect(await found('door|gate')).toEqual([])
    expect(await found('door')).toEqual(['behind a door'])
    cluster.login = undefined
    expect(await found('door|gate')).toEqual(['behind a door'])
  })

  test.each([['elasticsearch_project_ids'], ['elasticsearch_namespace_ids']])(
    'elasticsearch_limit_indexing, %s: only what lies there is indexed, and the rest is searched without',
    async (name) => {
      const group = await world.group()
      const listed = await world.project({ namespace_id: group.id, name: `listed by ${name}` })
      const place = (made: Made) => `/projects/${made.id}`
      for (const made of [listed, project])
        expectStatus(await world.root.post(`${place(made)}/issues`, { title: `limited by ${name}` }), 201)
      const indexed = () => titles().filter((title) => title === `limited by ${name}`).length
      await caughtUp()
      await expect.poll(indexed, wait).toBe(2)
      const limit = { elasticsearch_limit_indexing: true }
      await during(
        world,
        { ...limit, [name]: [name.includes('project') ? listed.id : group.id] },
        async () => {
          await caughtUp()
          await expect.poll(indexed, wait).toBe(1)
          // Projects are there all the same.
          expect(titles('projects')).toEqual(expect.arrayContaining([listed.name, project.name]))
          expect(await found(`${name}|hen`, '', place(listed))).toHaveLength(1)
          expect(await found(`${name}|hen`, '', place(project))).toEqual([])
          expect(await found(name, '', place(project))).toHaveLength(1)
          expect(await found(name)).toHaveLength(2)
          expectStatus(await world.root.get('/search?scope=blobs&search=x'), 400)
        },
      )
      await caughtUp()
      await expect.poll(indexed, wait).toBe(2)
      expect(await found(`${name}|hen`)).toHaveLength(2)
    },
  )

  test('elasticsearch_shards: another number makes another index, which is filled before it is searched', async () => {
    const before = [...cluster.indices.keys()]
    const shards = () => [...cluster.indices.values()].map(({ settings }) => settings['number_of_shards'])
    await during(world, { elasticsearch_shards: 3 }, async () => {
      await expect.poll(shards, wait).toEqual(['3', '3'])
      await caughtUp()
      await expect.poll(shards, wait).toEqual(['3', '3'])
      expect([...cluster.indices.keys()].filter((name) => before.includes(name))).toEqual([])
      expect(await found('fox|hen')).toEqual(['a fox and a goose'])
    })
    await expect.poll(shards, wait).toEqual(['5', '5'])
    await caughtUp()
  })

  test('elasticsearch_replicas: another number changes the index', async () => {
    const before = [...cluster.indices.keys()]
    const replicas = () => [...cluster.indices.values()].map(({ settings }) => settings['number_of_replicas'])
    const seen = async (wanted: string) => {
      await issue('look at the index')
      await expect.poll(replicas, wait).toEqual([wanted, wanted])
    }
    await during(world, { elasticsearch_replicas: 2 }, () => seen('2'))
    await seen('1')
    expect([...cluster.indices.keys()]).toEqual(before)
  })

  test('elasticsearch_pause_indexing: changes wait, and none is lost', async () => {
    await caughtUp()
    const bulks = since()
    await during(world, { elasticsearch_pause_indexing: true }, async () => {
      await issue('meanwhile')
      await world.settled()
      expect(await waiting()).toBeGreaterThan(0)
      expect(bulks()).toEqual([])
    })
    await expect.poll(() => titles(), wait).toContain('meanwhile')
    await caughtUp()
    expect(bulks()).not.toEqual([])
  })

  test('elasticsearch_indexed_field_length_limit: longer texts are cut', async () => {
    const long = 'b'.repeat(40)
    await during(world, { elasticsearch_indexed_field_length_limit: 10 }, async () => {
      await issue(`cut ${long}`)
      await expect.poll(() => titles(), wait).toContain('cut bbbbbb')
    })
    await issue(`whole ${long}`)
    await expect.poll(() => titles(), wait).toContain(`whole ${long}`)
  })

  test('elasticsearch_max_bulk_size_mb: bulk requests are no larger', async () => {
    const sent = async () => {
      await caughtUp()
      const bulks = since()
      await milestones(30, 'y'.repeat(90_000))
      await caughtUp()
      return bulks().map(({ body }) => Buffer.byteLength(body))
    }
    const largest = 1024 * 1024
    await during(
      world,
      { elasticsearch_max_bulk_size_mb: 1, elasticsearch_worker_number_of_shards: 1 },
      async () => {
        const sizes = await sent()
        expect(sizes.length).toBeGreaterThan(2)
        expect(sizes.filter((size) => size > largest)).toEqual([])
      },
    )
    expect((await sent()).some((size) => size > largest)).toBe(true)
  })
})
