// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Client, Person } from '../world/client.ts'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { SearchCluster } from '../world/search-cluster.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let cluster: SearchCluster
let group: Json
let place: MergeProject
let stranger: Person
beforeAll(async () => {
  cluster = await SearchCluster.open()
  world = await startWorld()
  group = await world.group({ visibility: 'private' })
  place = await new MergeProjects(world).make({ namespace_id: group['id'], name: 'Zebra crossing' })
  stranger = await world.user()
  const values = { elasticsearch_indexing: true, elasticsearch_search: true, elasticsearch_url: cluster.url }
  expectStatus(await world.root.put('/application/settings', { ...values, search_rate_limit: 0 }), 200)
  const { developer, base } = place
  await place.commit(
    'main',
    { 'src/okapi.ts': 'one\ntwo okapi\nthree\n' },
    { commit_message: 'Feed the tapir' },
  )
  expectStatus(await developer.post(`${base}/wikis`, { title: 'Eland', content: 'An eland\n' }), 201)
  const issue = expectStatus(await developer.post(`${base}/issues`, { title: 'Quagga stripes' }), 201)
  const notes = `${base}/issues/${issue['iid'] as number}/notes`
  expectStatus(await developer.post(notes, { body: 'a giraffe passed' }), 201)
  expectStatus(await developer.post(notes, { body: 'a giraffe hid', internal: true }), 201)
  await place.request({ 'q.txt': 'q\n' }, { title: 'Draw the quagga' })
  expectStatus(await developer.post(`${base}/milestones`, { title: 'Quagga week' }), 201)
  await vi.waitFor(
    async () => {
      const { rows } = await sql<{ done: boolean }>`
        select s.serving = s.generation and not exists (select from search_changes)
          and not exists (select from search_repositories r where r.due_at is not null) as done
        from search_state s`.execute(world.service.services.db.reader)
      expect(rows[0]!.done).toBe(true)
    },
    { timeout: 30_000, interval: 50 },
  )
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

const find = (at: 'everywhere' | 'group' | 'project', scope: string, text: string, by: Client) =>
  by.get(
    `${{ everywhere: '', group: `/groups/${group['id'] as number}`, project: place.base }[at]}/search?scope=${scope}&search=${encodeURIComponent(text)}`,
  )

// The second word is one that the database would look for as it is written.
test.each([
  ['projects', 'zebra|hen', 1],
  ['issues', 'quagga|hen', 1],
  ['merge_requests', 'quagga|hen', 1],
  ['milestones', 'quagga|hen', 1],
  ['notes', 'giraffe|hen', 2],
  ['blobs', 'okapi extension:ts', 1],
  ['commits', 'tapir|hen', 1],
  ['wiki_blobs', 'eland|hen', 1],
] as const)('%s are found in the index, by those who may read them', async (scope, words, count) => {
  for (const at of ['everywhere', 'group', 'project'] as const) {
    if (at === 'project' && scope === 'projects') continue
    const reply = await find(at, scope, words, place.developer)
    expect([at, expectStatus(reply, 200)]).toEqual([at, expect.objectContaining({ length: count })])
    expect(reply.headers.get('x-total')).toBe(String(count))
  }
  expect(rowsOf(await find('everywhere', scope, words, stranger))).toEqual([])
  const guest = await world.member({ project: place.project }, 'guest')
  const seen = { projects: 1, issues: 1, milestones: 1, notes: 1, wiki_blobs: 1 } as Record<string, number>
  expect(rowsOf(await find('everywhere', scope, words, guest))).toHaveLength(seen[scope] ?? 0)
})

test('a cluster that is away is done without, or is said not to answer', async () => {
  cluster.before = () => null
  expect(rowsOf(await find('everywhere', 'issues', 'quagga', place.developer))).toHaveLength(1)
  expectStatus(await find('everywhere', 'blobs', 'okapi', place.developer), 408)
  cluster.before = () => ({ status: 200, text: '{"hits":{"hits":[{"_source":null},3]}' })
  expectStatus(await find('everywhere', 'blobs', 'okapi', place.developer), 408)
  cluster.before = () => undefined
  expect(rowsOf(await find('everywhere', 'blobs', 'okapi', place.developer))).toHaveLength(1)
})

test('what a cluster makes up is not shown', async () => {
  const hit = { record_id: 1, project_id: place.id, wiki_id: 1, path: 'src/okapi.ts', sha: 'f'.repeat(40) }
  const text = JSON.stringify({
    timed_out: false,
    _shards: { failed: 0 },
    hits: { hits: [{ _source: hit }] },
  })
  cluster.before = ({ path }) => (path.includes('/_search') ? { status: 200, text } : undefined)
  for (const scope of [
    'projects',
    'issues',
    'merge_requests',
    'milestones',
    'notes',
    'blobs',
    'commits',
    'wiki_blobs',
  ])
    expect(rowsOf(await find('everywhere', scope, 'x', stranger))).toEqual([])
  expect(rowsOf(await find('everywhere', 'commits', 'x', place.developer))).toEqual([])
  cluster.before = () => undefined
})
