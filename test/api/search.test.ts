// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { Client, type Person, type Reply } from '../world/client.ts'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let group: Json
let place: MergeProject
let stranger: Person
beforeAll(async () => {
  world = await startWorld({ TRUSTED_PROXIES: '127.0.0.1,::1' })
  // Tests that count searches set a limit themselves.
  await set({ search_rate_limit: 0, search_rate_limit_unauthenticated: 0 })
  group = await world.group({ visibility: 'private' })
  place = await new MergeProjects(world).make({ namespace_id: group['id'], name: 'Zebra crossing' })
  stranger = await world.user({ name: 'Striped Stranger' })
})
afterAll(() => world[Symbol.asyncDispose]())

const set = async (values: Json): Promise<void> => {
  expectStatus(await world.root.put('/application/settings', values), 200)
}
type At = 'everywhere' | 'group' | 'project'
const find = (at: At, scope: string, text: string, by: Client = world.root, more = ''): Promise<Reply> => {
  const path = { everywhere: '', group: `/groups/${group['id'] as number}`, project: place.base }[at]
  return by.get(`${path}/search?scope=${scope}&search=${encodeURIComponent(text)}${more}`)
}
const found = async (...wanted: Parameters<typeof find>): Promise<Json[]> => {
  const reply = await find(...wanted)
  expectStatus(reply, 200)
  return rowsOf(reply)
}
const ids = (rows: readonly Json[]): unknown[] => rows.map((row) => row['id'])
const post = async (by: Client, path: string, body: Json): Promise<Json> =>
  expectStatus(await by.post(path, body), 201)

describe('things', () => {
  test('are found by words where the caller sees them, as their lists show them', async () => {
    const { developer, base } = place
    const issue = await post(developer, `${base}/issues`, { title: 'Quagga stripes', description: 'faded' })
    const secret = await post(developer, `${base}/issues`, { title: 'Quagga secret', confidential: true })
    const request = await place.request({ 'q.txt': 'q\n' }, { title: 'Draw the quagga' })
    const milestone = await post(world.root, `${base}/milestones`, { title: 'Quagga week' })
    const above = await post(world.root, `/groups/${group['id'] as number}/milestones`, {
      title: 'Quagga year',
    })
    const guest = await world.member({ project: place.project }, 'guest')
    for (const at of ['everywhere', 'group', 'project'] as const) {
      const issues = await found(at, 'issues', 'quagga', developer)
      expect(ids(issues)).toEqual([secret['id'], issue['id']])
      const [shown] = rowsOf(await developer.get(`${base}/issues?iids[]=${issue['iid'] as number}`))
      // References are those from where was searched.
      expect(issues[1]).toEqual({ ...shown, references: issues[1]!['references'] })
      expect(ids(await found(at, 'issues', 'faded quagga', developer))).toEqual([])
      expect(ids(await found(at, 'issues', 'faded', developer))).toEqual([issue['id']])
      expect(ids(await found(at, 'issues', 'quagga', developer, '&confidential=true'))).toEqual([
        secret['id'],
      ])
      expect(ids(await found(at, 'issues', 'quagga', developer, '&state=closed'))).toEqual([])
      expect(ids(await found(at, 'issues', 'quagga', developer, '&sort=asc'))).toEqual([
        issue['id'],
        secret['id'],
      ])
      expect(ids(await found(at, 'merge_requests', 'QUAGGA', developer))).toEqual([request['id']])
      expect(ids(await found(at, 'issues', 'quagga', guest))).toEqual([issue['id']])
      expect(await found(at, 'merge_requests', 'quagga', guest)).toEqual([])
      const milestones = ids(await found(at, 'milestones', 'quagga', developer))
      expect(milestones).toEqual(at === 'project' ? [milestone['id']] : [above['id'], milestone['id']])
    }
    for (const scope of ['projects', 'issues', 'merge_requests', 'milestones'])
      expect(await found('everywhere', scope, scope === 'projects' ? 'zebra' : 'quagga', stranger)).toEqual(
        [],
      )
    expect(ids(await found('everywhere', 'projects', 'zebra', developer))).toEqual([place.id])
    expect(ids(await found('group', 'projects', 'zebra', developer))).toEqual([place.id])
    for (const at of ['group', 'project'] as const)
      expectStatus(await find(at, 'issues', 'quagga', stranger), 404)
  })

  test('are found with a dash after the place, too', async () => {
    for (const at of [place.base, `/groups/${group['id'] as number}`]) {
      const search = 'search?scope=issues&search=quagga'
      const [plain, dashed] = [
        await world.root.get(`${at}/${search}`),
        await world.root.get(`${at}/-/${search}`),
      ]
      expect([dashed.status, dashed.body]).toEqual([200, plain.body])
      expect(rowsOf(plain)).not.toEqual([])
    }
  })

  test('snippets are found by their titles', async () => {
    const own = { title: 'Okapi of mine', files: [{ file_path: 'a', content: 'a' }] }
    const hidden = await post(stranger, '/snippets', { ...own, visibility: 'private' })
    const open = await post(stranger, '/snippets', { ...own, visibility: 'public' })
    const inProject = await post(place.developer, `${place.base}/snippets`, { ...own, visibility: 'private' })
    expect(ids(await found('everywhere', 'snippet_titles', 'okapi', stranger))).toEqual([
      open['id'],
      hidden['id'],
    ])
    expect(ids(await found('everywhere', 'snippet_titles', 'okapi', place.developer))).toEqual([
      inProject['id'],
      open['id'],
    ])
    expect(ids(await found('everywhere', 'snippet_titles', 'okapi'))).toHaveLength(3)
  })

  test('people are found by name and username, in places those who are members', async () => {
    const developer = place.developer
    expect(ids(await found('everywhere', 'users', 'striped', developer))).toEqual([stranger.id])
    expect(ids(await found('everywhere', 'users', `@${stranger.username}`, developer))).toContain(stranger.id)
    for (const at of ['group', 'project'] as const) {
      expect(await found(at, 'users', 'striped', developer)).toEqual([])
      expect(ids(await found(at, 'users', developer.username, developer))).toContain(developer.id)
    }
  })

  test('notes are found where they may be read', async () => {
    const { developer, base } = place
    const guest = await world.member({ project: place.project }, 'guest')
    const issue = await post(developer, `${base}/issues`, { title: 'T' })
    const secret = await post(developer, `${base}/issues`, { title: 'T', confidential: true })
    const say = (on: Json, fields: Json = {}) =>
      post(developer, `${base}/issues/${on['iid'] as number}/notes`, { body: 'a giraffe passed', ...fields })
    const [open, internal, hidden] = [
      await say(issue),
      await say(issue, { internal: true }),
      await say(secret),
    ]
    expect(ids(await found('project', 'notes', 'giraffe', developer))).toEqual([
      hidden['id'],
      internal['id'],
      open['id'],
    ])
    const seen = await found('project', 'notes', 'giraffe', guest)
    expect(ids(seen)).toEqual([open['id']])
    expect(seen[0]).toMatchObject({
      body: 'a giraffe passed',
      noteable_type: 'Issue',
      noteable_iid: issue['iid'],
    })
  })
})

describe('code', () => {
  test('files, commits and pages are found as they stand', async () => {
    const { developer, base } = place
    await place.commit(
      'main',
      { 'src/zoo.ts': 'one\nGnu two\ngnu three\nfour\ngnu\n' },
      { commit_message: 'Add a Gnu' },
    )
    const files = await found('project', 'blobs', 'gnu', developer)
    expect(files).toEqual([
      {
        basename: 'src/zoo',
        data: 'Gnu two\ngnu three\n',
        path: 'src/zoo.ts',
        filename: 'src/zoo.ts',
        id: null,
        ref: 'main',
        startline: 2,
        project_id: place.id,
      },
      expect.objectContaining({ data: 'gnu\n', startline: 5 }),
    ])
    const page = await find('project', 'blobs', 'gnu', developer, '&per_page=1&page=2')
    expect(rowsOf(page)).toEqual([files[1]])
    expect(page.headers.get('x-total')).toBe('2')
    const commits = await found('project', 'commits', 'a gnu', developer)
    expect(commits).toMatchObject([{ title: 'Add a Gnu' }])
    const [listed] = rowsOf(await developer.get(`${base}/repository/commits?ref_name=main&per_page=1`))
    expect(commits[0]).toMatchObject({ id: listed!['id'], web_url: listed!['web_url'] })
    expect(await found('project', 'commits', '.*', developer)).toEqual([])
    await place.branch({ 'x.txt': 'gnat\n' }, 'insects')
    expect(await found('project', 'blobs', 'gnat', developer)).toEqual([])
    expect(await found('project', 'blobs', 'gnat', developer, '&ref=insects')).toMatchObject([
      { path: 'x.txt' },
    ])
    expectStatus(await find('project', 'blobs', 'gnat', developer, '&ref=nowhere'), 404)
    await post(developer, `${base}/wikis`, { title: 'Animals', content: 'An eland\n' })
    expect(await found('project', 'wiki_blobs', 'eland', developer)).toMatchObject([
      { path: 'Animals.md', project_id: place.id, group_id: null },
    ])
  })

  test('is not shown to who may not read it', async () => {
    const guest = await world.member({ project: place.project }, 'guest')
    for (const scope of ['blobs', 'commits']) expect(await found('project', scope, 'e', guest)).toEqual([])
    const empty = await world.project()
    for (const scope of ['blobs', 'commits', 'wiki_blobs']) {
      const reply = await world.root.get(`/projects/${empty.id}/search?scope=${scope}&search=x`)
      expect(expectStatus(reply, 200)).toEqual([])
    }
  })
})

test('what cannot be searched for is refused', async () => {
  for (const [at, query] of [
    ['everywhere', 'scope=blobs&search=x'],
    ['everywhere', 'scope=issues'],
    ['everywhere', 'search=x'],
    ['everywhere', 'scope=issues&search='],
    ['group', 'scope=snippet_titles&search=x'],
    ['project', 'scope=projects&search=x'],
    ['project', 'scope=issues&search=x&state=open'],
  ] as const) {
    const path = { everywhere: '', group: `/groups/${group['id'] as number}`, project: place.base }[at]
    expectStatus(await world.root.get(`${path}/search?${query}`), 400)
  }
  expectStatus(await find('everywhere', 'issues', 'x'.repeat(4097)), 400)
  expectStatus(await find('everywhere', 'issues', 'x '.repeat(65)), 400)
  expectStatus(await find('everywhere', 'issues', 'x '.repeat(64)), 200)
  for (const at of ['everywhere', 'group', 'project'] as const)
    expectStatus(await find(at, 'issues', 'x', new Client(world.url)), 401)
})

test('search_rate_limit holds for who is signed in, but for those of search_rate_limit_allowlist_raw', async () => {
  const [person, other] = [await world.user(), await world.user()]
  const status = async (by: Client) => (await find('everywhere', 'issues', 'x', by)).status
  await set({ search_rate_limit: 2, search_rate_limit_allowlist_raw: other.username })
  expect([await status(person), await status(person), await status(person)]).toEqual([200, 200, 429])
  expectStatus(await find('project', 'issues', 'x', person), 429)
  expect([await status(other), await status(other), await status(other)]).toEqual([200, 200, 200])
  await set({ search_rate_limit_allowlist_raw: '' })
  expect(await status(other)).toBe(200)
  await set({ search_rate_limit: 0 })
  expect(await status(person)).toBe(200)
})

test('search_rate_limit_unauthenticated counts who is not let in', async () => {
  const nobody = new Client(world.url, { 'x-forwarded-for': '203.0.113.77' })
  const status = async () => (await find('everywhere', 'issues', 'x', nobody)).status
  await set({ search_rate_limit_unauthenticated: 2 })
  expect([await status(), await status(), await status()]).toEqual([401, 401, 429])
  await set({ search_rate_limit_unauthenticated: 0 })
  expect(await status()).toBe(401)
})

describe('names are completed', () => {
  const complete = (query: string, by: Client = place.developer, path = '/-/autocomplete/users') =>
    by.get(`${world.url}${path}?${query}`)
  const nobody = () => new Client(world.url, { 'x-forwarded-for': '203.0.113.80' })

  test('of people everywhere, in a group and in a project', async () => {
    const all = rowsOf(await complete('search=striped'))
    expect(all).toEqual([
      {
        id: stranger.id,
        username: stranger.username,
        name: 'Striped Stranger',
        avatar_url: expect.anything(),
      },
    ])
    expect(rowsOf(await complete('search=striped', place.developer, '/autocomplete/users'))).toEqual(all)
    for (const of of [`project_id=${place.id}`, `group_id=${group['id'] as number}`]) {
      expect(rowsOf(await complete(`search=striped&${of}`))).toEqual([])
      expect(rowsOf(await complete(of, stranger))).toEqual([])
    }
    expect(ids(rowsOf(await complete(`project_id=${place.id}`)))).toContain(place.developer.id)
    expect(rowsOf(await complete('search=striped', nobody()))).toEqual([])
    const open = await world.project({ visibility: 'public' })
    const member = await world.member({ project: open }, 'developer')
    expect(ids(rowsOf(await complete(`project_id=${open.id}`, nobody())))).toContain(member.id)
  })

  test('as often as autocomplete_users and autocomplete_users_unauthenticated say', async () => {
    const [person, visitor] = [
      await world.user(),
      new Client(world.url, { 'x-forwarded-for': '203.0.113.7' }),
    ]
    await set({ autocomplete_users: 2, autocomplete_users_unauthenticated: 1 })
    const statuses = async (by: Client, count: number) => {
      const all: number[] = []
      for (let at = 0; at < count; at += 1) all.push((await complete('', by)).status)
      return all
    }
    expect(await statuses(person, 3)).toEqual([200, 200, 429])
    const refused = await complete('', person)
    expect([refused.headers.get('content-type'), refused.text]).toEqual([
      'text/plain',
      'This endpoint has been requested too many times. Try again later.',
    ])
    expect(await statuses(visitor, 2)).toEqual([200, 429])
    await set({ autocomplete_users: 300, autocomplete_users_unauthenticated: 100 })
    expect([...(await statuses(person, 1)), ...(await statuses(visitor, 1))]).toEqual([200, 200])
  })
})
