// @module-tag long
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { Client } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const make = (): Promise<CiProject> => projects.make({ test: { script: ['x'] } })
const pathOf = ({ id }: CiProject): string => `/projects/${id}/releases`

test('a release makes its tag, and shows its code to whoever reads that', async () => {
  const ci = await make()
  const url = `${world.url}/${ci.project['path_with_namespace'] as string}`
  const made = expectStatus(
    await world.root.post(pathOf(ci), {
      tag_name: 'v1.0',
      ref: 'main',
      tag_message: 'First',
      name: 'One',
      description: 'Notes',
      released_at: '2030-01-01T00:00:00Z',
      assets: {
        links: [
          { name: 'bin', url: 'https://example.com/bin', direct_asset_path: '/bin/x', link_type: 'package' },
        ],
      },
    }),
    201,
  )
  expect(Object.keys(made)).toEqual([
    'name',
    'tag_name',
    'description',
    'created_at',
    'released_at',
    'upcoming_release',
    'author',
    'commit',
    'commit_path',
    'tag_path',
    'assets',
    'evidences',
    '_links',
  ])
  expect(made).toMatchObject({
    name: 'One',
    tag_name: 'v1.0',
    description: 'Notes',
    released_at: '2030-01-01T00:00:00.000Z',
    upcoming_release: true,
    author: { username: 'root' },
    commit: { id: ci.sha, title: 'Add configuration' },
    assets: {
      count: 5,
      links: [
        {
          name: 'bin',
          url: 'https://example.com/bin',
          direct_asset_url: `${url}/-/releases/v1.0/downloads/bin/x`,
          link_type: 'package',
        },
      ],
    },
  })
  const listed = (kind: string, state: string): string =>
    `${url}/-/${kind}?release_tag=v1.0&scope=all&state=${state}`
  expect(Object.entries(made['_links'])).toEqual([
    ['self', `${url}/-/releases/v1.0`],
    ['edit_url', `${url}/-/releases/v1.0/edit`],
    ['closed_issues_url', listed('issues', 'closed')],
    ['closed_merge_requests_url', listed('merge_requests', 'closed')],
    ['merged_merge_requests_url', listed('merge_requests', 'merged')],
    ['opened_issues_url', listed('issues', 'opened')],
    ['opened_merge_requests_url', listed('merge_requests', 'opened')],
  ])
  const tag = (await world.root.get(`/projects/${ci.id}/repository/tags/v1.0`)).body as Json
  expect(tag).toMatchObject({ message: 'First', commit: { id: ci.sha } })
  expect((await world.root.get(`${pathOf(ci)}/v1.0`)).body).toEqual(made)

  const guest = await world.member(ci, 'guest')
  const seen = (await guest.get(`${pathOf(ci)}/v1.0`)).body as Json
  expect(seen).toMatchObject({ name: 'One', assets: { count: 1 } })
  expect(Object.keys(seen)).not.toContain('commit')
  expect(Object.keys(seen['_links'] as Json)).toEqual(['self', 'closed_issues_url', 'opened_issues_url'])
})

test('a release of a protected tag is of those who might make the tag', async () => {
  const ci = await make()
  const developer = await world.member(ci, 'developer')
  const at = `/projects/${ci.id}`
  expectStatus(await developer.post(`${at}/repository/tags`, { tag_name: 'v0', ref: 'main' }), 201)
  expectStatus(await world.root.post(`${at}/protected_tags`, { name: 'v*', create_access_level: 40 }), 201)
  for (const tag_name of ['v0', 'v1']) {
    expect((await developer.post(pathOf(ci), { tag_name, ref: 'main' })).body).toEqual({
      message: 'You are not allowed to create this tag as it is protected.',
    })
    expectStatus(await world.root.post(pathOf(ci), { tag_name, ref: 'main' }), 201)
  }
  const one = `${pathOf(ci)}/v1`
  const link = { name: 'a', url: 'https://example.com/a' }
  const { id } = expectStatus(await world.root.post(`${one}/assets/links`, link), 201)
  const refused = [
    await developer.put(one, { name: 'n' }),
    await developer.delete(one),
    await developer.post(`${one}/assets/links`, { ...link, name: 'b' }),
    await developer.put(`${one}/assets/links/${id}`, { name: 'b' }),
    await developer.delete(`${one}/assets/links/${id}`),
  ]
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expectStatus(await world.root.put(one, { name: 'n' }), 200)
})

test('lists, changes and deletes; the tag stays', async () => {
  const ci = await make()
  for (const tag_name of ['v1', 'v2']) {
    expectStatus(await world.root.post(pathOf(ci), { tag_name, ref: 'main' }), 201)
  }
  const tags = async (query: string): Promise<unknown[]> =>
    ((await world.root.get(`${pathOf(ci)}?${query}`)).body as Json[]).map(({ tag_name }) => tag_name)
  expect(await tags('')).toEqual(['v2', 'v1'])
  expect(await tags('sort=asc&order_by=created_at')).toEqual(['v1', 'v2'])
  const changed = await world.root.put(`${pathOf(ci)}/v1`, {
    name: 'New',
    released_at: '2031-01-01T00:00:00Z',
  })
  expect(changed.body).toMatchObject({ name: 'New', upcoming_release: true })
  expect(await tags('')).toEqual(['v1', 'v2'])
  expect((await world.root.put(`${pathOf(ci)}/v1`, {})).status).toBe(400)
  const gone = await world.root.delete(`${pathOf(ci)}/v1`)
  expect([gone.status, gone.body.name]).toEqual([200, 'New'])
  expect((await world.root.get(`${pathOf(ci)}/v1`)).status).toBe(404)
  expect((await world.root.get(`/projects/${ci.id}/repository/tags/v1`)).status).toBe(200)
})

describe('refuses', () => {
  test.each([
    [{ tag_name: 'v9' }, 422, { message: 'Ref is not specified' }],
    [{ tag_name: 'v9', ref: 'nowhere' }, 400, { message: 'Target nowhere is invalid' }],
    [{ tag_name: 'a b', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{ tag_name: '--all', ref: 'main' }, 400, { message: 'Tag name invalid' }],
    [{ tag_name: 'v9', ref: 'main', milestones: ['m'] }, 400, { message: 'Milestone(s) not found: m' }],
    [
      { tag_name: 'v9', ref: 'main', assets: { links: [{ name: 'x', url: 'javascript:x' }] } },
      400,
      { message: { url: ['is blocked: Only allowed schemes are http, https, ftp'] } },
    ],
    [{ ref: 'main' }, 400, { error: 'tag_name is missing' }],
  ])('%j', async (body, status, answer) => {
    const ci = await make()
    const reply = await world.root.post(pathOf(ci), body)
    expect([reply.status, reply.body]).toEqual([status, answer])
    expect((await world.root.get(pathOf(ci))).body).toEqual([])
  })

  test('a second release of a tag', async () => {
    const ci = await make()
    await world.root.post(pathOf(ci), { tag_name: 'v1', ref: 'main' })
    const reply = await world.root.post(pathOf(ci), { tag_name: 'v1' })
    expect([reply.status, reply.body]).toEqual([409, { message: 'Release already exists' }])
  })

  test('all but one of those that are made of a new tag at the same time', async () => {
    const ci = await make()
    const messages = [undefined, 'annotated', undefined, 'annotated', undefined]
    const replies = await Promise.all(
      messages.map((tag_message) =>
        world.root.post(pathOf(ci), { tag_name: 'v1', ref: 'main', tag_message }),
      ),
    )
    const [made, ...others] = replies.toSorted((one, other) => one.status - other.status)
    expect(made!.status).toBe(201)
    for (const { status, body } of others) {
      expect([status, body]).toEqual([409, { message: 'Release already exists' }])
    }
  })
})

test('links are added, changed and removed', async () => {
  const ci = await make()
  await world.root.post(pathOf(ci), { tag_name: 'v1', ref: 'main' })
  const path = `${pathOf(ci)}/v1/assets/links`
  const made = expectStatus(await world.root.post(path, { name: 'a', url: 'https://example.com/a' }), 201)
  expect(made).toMatchObject({ direct_asset_url: 'https://example.com/a', link_type: 'other' })
  expect((await world.root.post(path, { name: 'a', url: 'https://example.com/b' })).body).toEqual({
    message: { name: ['has already been taken'] },
  })
  const one = `${path}/${made['id'] as number}`
  expect((await world.root.put(one, { name: 'b', link_type: 'image' })).body).toMatchObject({
    name: 'b',
    url: 'https://example.com/a',
    link_type: 'image',
  })
  expect((await world.root.get(path)).body).toHaveLength(1)
  expect((await world.root.delete(one)).body.name).toBe('b')
  expect((await world.root.get(one)).body).toEqual({ message: '404 Not found' })
})

test('a job makes the release of its keyword with its token', async () => {
  const ci = await projects.make({
    publish: { script: ['x'], release: { tag_name: 'v$CI_PIPELINE_IID', description: 'Made by a job' } },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  const job = await runner.take()
  const steps = job.payload['steps'] as Json[]
  expect(steps.map(({ name }) => name)).toEqual(['script', 'release'])
  const asJob = new Client(world.url, { 'job-token': job.token })
  const body = { tag_name: 'v1', ref: ci.sha, description: 'Made by a job' }
  expect(expectStatus(await asJob.post(pathOf(ci), body), 201)).toMatchObject({ commit: { id: ci.sha } })
  const other = await world.project()
  expect((await asJob.post(`/projects/${other.id}/releases`, body)).status).toBe(404)
})

describe('milestones', () => {
  test('are those of the project and of the groups above it, shown with their issues', async () => {
    const group = await world.group()
    const ci = await projects.make({ test: { script: ['x'] } }, { namespace_id: group.id })
    const own = expectStatus(await world.root.post(`/projects/${ci.id}/milestones`, { title: 'one' }), 201)
    expectStatus(await world.root.post(`/groups/${group.id}/milestones`, { title: 'of the group' }), 201)
    const issue = { title: 'x', milestone_id: own['id'] as number }
    const { iid } = expectStatus(await world.root.post(`/projects/${ci.id}/issues`, issue), 201)
    expectStatus(await world.root.put(`/projects/${ci.id}/issues/${iid}`, { state_event: 'close' }), 200)
    const fields = { tag_name: 'v1', ref: 'main', milestones: ['one', 'of the group'] }
    const made = expectStatus(await world.root.post(pathOf(ci), fields), 201)
    expect(made['milestones']).toMatchObject([
      { title: 'one', issue_stats: { total: 1, closed: 1 } },
      { title: 'of the group', group_id: group.id, issue_stats: { total: 0, closed: 0 } },
    ])
    const one = `${pathOf(ci)}/v1`
    expect(await world.root.put(one, { milestones: ['one', 'none', 'nor this'] })).toMatchObject({
      status: 400,
      body: { message: 'Milestone(s) not found: none, nor this' },
    })
    const fewer = expectStatus(await world.root.put(one, { milestones: ['one'] }), 200)
    expect(fewer['milestones']).toMatchObject([{ title: 'one' }])
    expect(expectStatus(await world.root.put(one, { name: 'n' }), 200)['milestones']).toHaveLength(1)
    expect(expectStatus(await world.root.put(one, { milestones: [''] }), 200)).not.toHaveProperty(
      'milestones',
    )
  })
})

describe('addresses', () => {
  const address = async (ci: CiProject, path: string): Promise<[number, string | null]> => {
    const headers = { 'private-token': world.root.token }
    const { status, headers: answered } = await fetch(`${world.url}/api/v4${pathOf(ci)}/${path}`, {
      headers,
      redirect: 'manual',
    })
    return [status, answered.get('location')]
  }

  test('lead to the latest release, and to what it offers', async () => {
    const ci = await make()
    expect((await address(ci, 'permalink/latest'))[0]).toBe(404)
    const links = [{ name: 'bin', url: 'https://example.com/bin', direct_asset_path: '/bin/x' }]
    for (const [tag_name, released_at] of [
      ['v1', '2020-01-01T00:00:00Z'],
      ['v/2', '2021-01-01T00:00:00Z'],
      ['v3', '2999-01-01T00:00:00Z'],
    ] as const) {
      const fields = { tag_name, ref: 'main', released_at, assets: { links } }
      expectStatus(await world.root.post(pathOf(ci), fields), 201)
    }
    const base = `${world.url}/api/v4${pathOf(ci)}/v%2F2`
    expect(await address(ci, 'permalink/latest')).toEqual([302, base])
    const html = '?include_html_description=true'
    expect(await address(ci, `permalink/latest${html}`)).toEqual([302, `${base}${html}`])
    expect(await address(ci, 'permalink/latest/downloads/bin/x')).toEqual([302, `${base}/downloads/bin/x`])
    expect(await address(ci, 'v%2F2/downloads/bin/x')).toEqual([302, 'https://example.com/bin'])
    expect((await address(ci, 'v%2F2/downloads/bin/y'))[0]).toBe(404)
  })
})

test('evidence is collected when a release comes out, and when it is asked for; not of the past', async () => {
  const ci = await make()
  const evidences = async (tag: string): Promise<Json[]> =>
    expectStatus(await world.root.get(`${pathOf(ci)}/${tag}`), 200)['evidences'] as Json[]
  expectStatus(await world.root.post(pathOf(ci), { tag_name: 'v1', ref: 'main', description: 'all' }), 201)
  const [found] = await evidences('v1')
  const text = (await world.root.get((found!['filepath'] as string).replace(`${world.url}/api/v4`, ''))).text
  expect(createHash('sha256').update(text).digest('hex')).toBe(found!['sha'])
  expect(JSON.parse(text)).toMatchObject({
    release: { tag_name: 'v1', description: 'all', project: { id: ci.id }, milestones: [] },
  })
  const past = { tag_name: 'v0', ref: 'main', released_at: '2020-01-01T00:00:00Z' }
  expectStatus(await world.root.post(pathOf(ci), past), 201)
  expect(await evidences('v0')).toEqual([])
  expect((await world.root.post(`${pathOf(ci)}/v0/evidence`)).status).toBe(202)
  expect(await evidences('v0')).toHaveLength(1)
  expect((await world.root.get(`${pathOf(ci)}/v0/evidences/99999999`)).status).toBe(404)
})

test('of a group: those of all its projects that the caller may see them of', async () => {
  const group = await world.group({ visibility: 'public' })
  const below = await world.group({ parent_id: group.id, visibility: 'public' })
  const made = await Promise.all(
    [
      { namespace_id: group.id, visibility: 'public' },
      { namespace_id: below.id, visibility: 'public' },
      { namespace_id: below.id, visibility: 'public', releases_access_level: 'disabled' },
      { namespace_id: below.id, visibility: 'private' },
    ].map((fields) => projects.make({ test: { script: ['x'] } }, fields)),
  )
  for (const [index, ci] of made.entries()) {
    const closed = index === 2
    if (closed)
      expectStatus(await world.root.put(`/projects/${ci.id}`, { releases_access_level: 'enabled' }), 200)
    const released_at = `2020-01-0${index + 1}T00:00:00Z`
    expectStatus(await world.root.post(pathOf(ci), { tag_name: `v${index}`, ref: 'main', released_at }), 201)
    if (closed)
      expectStatus(await world.root.put(`/projects/${ci.id}`, { releases_access_level: 'disabled' }), 200)
  }
  const tagsFor = async (person: { get: World['root']['get'] }, query = ''): Promise<unknown[]> =>
    ((await person.get(`/groups/${group.id}/releases${query}`)).body as Json[]).map(
      ({ tag_name }) => tag_name,
    )
  expect(await tagsFor(world.anonymous)).toEqual(['v1', 'v0'])
  expect(await tagsFor(world.anonymous, '?sort=asc&per_page=1')).toEqual(['v0'])
  expect(await tagsFor(await world.member({ group }, 'reporter'))).toEqual(['v3', 'v1', 'v0'])

  const [newest] = (await world.anonymous.get(`/groups/${group.id}/releases`)).body as Json[]
  expect(newest).toEqual((await world.anonymous.get(`${pathOf(made[1]!)}/v1`)).body)
  const simple = (await world.anonymous.get(`/groups/${group.id}/releases?simple=true`)).body as Json[]
  expect(Object.keys(simple[0]!)).toEqual([
    ...['name', 'tag_name', 'description', 'created_at', 'released_at', 'upcoming_release'],
  ])
})

test('a text is shown as HTML too, to whoever asks for that', async () => {
  const ci = await make()
  const description = '**Notes**'
  expectStatus(await world.root.post(pathOf(ci), { tag_name: 'v1', ref: 'main', description }), 201)
  const plain = expectStatus(await world.root.get(`${pathOf(ci)}/v1`), 200)
  expect(plain).not.toHaveProperty('description_html')

  const query = '?include_html_description=true'
  const one = expectStatus(await world.root.get(`${pathOf(ci)}/v1${query}`), 200)
  expect(one['description_html']).toBe('<p><strong>Notes</strong></p>\n')
  expect(Object.keys(one).slice(5, 8)).toEqual(['upcoming_release', 'description_html', 'author'])
  expect((await world.root.get(`${pathOf(ci)}${query}`)).body).toEqual([one])
})
