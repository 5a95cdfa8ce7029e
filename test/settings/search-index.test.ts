// @module-tag long
import { createHash, createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { SearchCluster, type ClusterRequest } from '../world/search-cluster.ts'
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
    await during(world, { elasticsearch_max_bulk_size_mb: 1 }, async () => {
      const sizes = await sent()
      expect(sizes.length).toBeGreaterThan(2)
      expect(sizes.filter((size) => size > largest)).toEqual([])
    })
    expect((await sent()).some((size) => size > largest)).toBe(true)
  })

  /** How many requests with this in their paths the cluster has at once at most, while it is slow with them. */
  async function atOnce(part: RegExp, act: () => Promise<unknown>): Promise<number> {
    let now = 0
    let most = 0
    cluster.before = async ({ path }) => {
      if (!part.test(path)) return undefined
      most = Math.max(most, (now += 1))
      await sleep(200)
      now -= 1
      return undefined
    }
    await act()
    await caughtUp()
    cluster.before = () => undefined
    return most
  }

  test('elasticsearch_max_bulk_concurrency: bulk requests are sent at once, so many', async () => {
    const many = () => atOnce(/_bulk/, () => milestones(30, 'y'.repeat(90_000)))
    await during(world, { elasticsearch_max_bulk_size_mb: 1 }, async () => {
      await caughtUp()
      await during(world, { elasticsearch_max_bulk_concurrency: 1 }, async () => {
        expect(await many()).toBe(1)
      })
      expect(await many()).toBeGreaterThan(1)
    })
  })

  test('elasticsearch_worker_number_of_shards: so many take changes side by side', async () => {
    const requests = async (): Promise<number> => {
      await caughtUp()
      const bulks = since()
      await milestones(30, 'side by side')
      await caughtUp()
      return bulks().filter(({ body }) => body.includes('side by side')).length
    }
    await during(world, { elasticsearch_worker_number_of_shards: 1 }, async () => {
      // Who has begun by then goes on as one of two.
      await expect.poll(requests, wait).toBe(1)
    })
    await expect.poll(requests, wait).toBe(2)
  })

  test('elasticsearch_requeue_workers: who was given as much as it takes goes on at once', async () => {
    /** Whether a lane rests while more waits for it. */
    const rests = async (): Promise<boolean> => {
      await caughtUp()
      await sql`
        insert into search_changes (kind, record_id)
        select 'milestones', 1000000 + number from generate_series(1, 3000) number`.execute(
        world.service.services.db.writer,
      )
      await sql`select pg_notify('search_changes', '')`.execute(world.service.services.db.writer)
      let seen = { waits: true, rests: false }
      await vi.waitFor(async () => {
        seen = await one(sql<typeof seen>`
          select exists (select from search_changes) as waits,
            exists (select from search_lanes l where l.due_at > now() + interval '5 seconds') as rests`)
        expect(seen.rests || !seen.waits).toBe(true)
      }, wait)
      return seen.rests
    }
    await during(world, { elasticsearch_requeue_workers: true }, async () => {
      expect(await rests()).toBe(false)
    })
    expect(await rests()).toBe(true)
    await caughtUp()
  })

  test('elasticsearch_max_code_indexing_concurrency: so many repositories are indexed at once', async () => {
    const projects = async (): Promise<void> => {
      await during(world, { elasticsearch_pause_indexing: true }, async () => {
        for (let made = 0; made < 3; made += 1) await world.project({ initialize_with_readme: true })
      })
    }
    await during(world, { elasticsearch_max_code_indexing_concurrency: 1 }, async () => {
      expect(await atOnce(/-code-\d+\/_bulk/, projects)).toBe(1)
    })
    expect(await atOnce(/-code-\d+\/_bulk/, projects)).toBeGreaterThan(1)
  })

  test('elasticsearch_aws, elasticsearch_aws_region, elasticsearch_aws_access_key, elasticsearch_aws_secret_access_key: requests are signed', async () => {
    const searches = () => cluster.requests(/_search/).length
    const signature = async (): Promise<string | undefined> => {
      const before = searches()
      await found('fox|hen')
      const { headers } = cluster.requests(/_search/)[before]!
      return headers.authorization
    }
    const values = {
      elasticsearch_aws: true,
      elasticsearch_aws_region: 'eu-west-7',
      elasticsearch_aws_access_key: 'AKIAEXAMPLE',
      elasticsearch_aws_secret_access_key: 'of-the-hosted-cluster',
    }
    await during(world, values, async () => {
      expect(await signature()).toMatch(
        /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/\d{8}\/eu-west-7\/es\/aws4_request, SignedHeaders=/,
      )
      const request = cluster.requests(/_search/).at(-1)!
      expect(request.headers.authorization).toContain(
        `Signature=${awsSignature(request, 'of-the-hosted-cluster')}`,
      )
    })
    expect(await signature()).toBeUndefined()
  })

  test('elasticsearch_retry_on_failure: a search that fails is tried again', async () => {
    let failures = 0
    cluster.before = ({ path }) =>
      path.includes('_search') && (failures += 1) < 3 ? { status: 503, text: '{}' } : undefined
    await during(world, { elasticsearch_retry_on_failure: 2 }, async () => {
      expect(await found('goose|hen')).toEqual(['a fox and a goose'])
    })
    failures = 0
    expect(await found('goose|hen')).toEqual([])
    cluster.before = () => undefined
  })

  test('elasticsearch_client_request_timeout: a search that takes longer is a basic one', async () => {
    cluster.before = async ({ path }) => {
      if (path.includes('_search')) await sleep(1500)
      return undefined
    }
    await during(world, { elasticsearch_client_request_timeout: 1 }, async () => {
      expect(await found('goose|hen')).toEqual([])
    })
    expect(await found('goose|hen')).toEqual(['a fox and a goose'])
    cluster.before = () => undefined
  })

  test('elasticsearch_indexed_file_size_limit_kb: of larger files the name alone is indexed', async () => {
    const write = async (file: string): Promise<void> => {
      const content = `heliotrope ${'z'.repeat(2000)}`
      const body = { branch: 'main', commit_message: 'write', content }
      expectStatus(await world.root.post(`/projects/${project.id}/repository/files/${file}`, body), 201)
      await caughtUp()
    }
    const files = async (words: string) =>
      rowsOf(await world.root.get(`/search?scope=blobs&search=${words}`)).map((row) => row['path'])
    await during(world, { elasticsearch_indexed_file_size_limit_kb: 1 }, async () => {
      await write('large.txt')
      await expect.poll(() => files('large'), wait).toEqual(['large.txt'])
      expect(await files('heliotrope')).toEqual([])
    })
    await write('other.txt')
    await expect.poll(() => files('heliotrope'), wait).toContain('other.txt')
  })
})

/** Version 4 of the hosted cluster's signatures, as its maker writes it down. */
function awsSignature({ method, path, headers, body }: ClusterRequest, secret: string): string {
  const [, day, region, names] =
    /Credential=[^/]+\/(\d{8})\/([^/]+)\/.*SignedHeaders=([^,]+)/.exec(headers.authorization!) ?? []
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
  const mac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const [place = '', query = ''] = path.split('?')
  const escaped = (text: string): string => encodeURIComponent(text).replaceAll('*', '%2A')
  const canonical = [
    method,
    // Twice: what is sent is escaped already.
    place
      .split('/')
      .map((part) => escaped(escaped(part)))
      .join('/'),
    [...new URLSearchParams(query)]
      .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
      .sort()
      .join('&'),
    ...names!.split(';').map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    hash(body),
  ].join('\n')
  const scope = `${day}/${region}/es/aws4_request`
  const key = [day!, region!, 'es', 'aws4_request'].reduce<string | Buffer>(mac, `AWS4${secret}`)
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n')
  return mac(key, text).toString('hex')
}

test('no other instance on the same cluster calls its indices the same', async () => {
  await using other = await startWorld()
  const nameOf = async ({ service }: World): Promise<string> => {
    const { rows } = await sql<{ name: string }>`select s.name from search_state s`.execute(
      service.services.db.reader,
    )
    return rows[0]!.name
  }
  const [here, there] = await Promise.all([nameOf(world), nameOf(other)])
  expect(here).toMatch(/^guildhall-[0-9a-f]{8}$/)
  expect(there).not.toBe(here)
})
