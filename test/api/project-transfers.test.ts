// @module-tag long
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, rootToken, startWorld, type Json, type World } from '../world/world.ts'

const stack = new AsyncDisposableStack()
/** The instance that the project comes from, and the one that it comes to. */
let source: World
let world: World
let from: MergeProject
/** Somebody who is known on both. */
let author: Person

beforeAll(async () => {
  source = stack.use(await startWorld())
  world = stack.use(await startWorld())
  const local = { allow_local_requests_from_web_hooks_and_services: true }
  await source.service.services.settings.change({ bulk_import_enabled: true })
  await world.service.services.settings.change({
    ...local,
    bulk_import_enabled: true,
    import_sources: ['export_file'],
  })
  from = await new MergeProjects(source).make()
  author = from.developer
  await world.user({ username: author.username })
  await fillRequests()
  await fillFiles()
  await fillRest()
})
afterAll(() => stack.disposeAsync())

/** Shas of the requests' heads, by their numbers. */
const heads = new Map<number, string>()

/** An open request that is being talked about, a merged one, and a closed one whose branch is gone. */
async function fillRequests(): Promise<void> {
  const { root } = source
  await root.post(`${from.base}/labels`, { name: 'bug', color: '#ff0000' })
  const milestone = expectStatus(await root.post(`${from.base}/milestones`, { title: 'First' }), 201)
  const talked = await from.request(
    { 'talked.txt': 'one\ntwo\nthree\n' },
    {
      title: 'Talked about',
      source_branch: 'talked',
      description: 'What it is about',
      labels: 'bug',
      milestone_id: milestone['id'],
      assignee_ids: [author.id],
      reviewer_ids: [from.maintainer.id],
      squash: true,
    },
  )
  const refs = talked['diff_refs'] as Json
  const position = { ...refs, position_type: 'text', new_path: 'talked.txt', new_line: 2 }
  const thread = expectStatus(
    await author.post(`${from.one(1)}/discussions`, { body: 'This line?', position }),
    201,
  )
  await root.post(`${from.one(1)}/discussions/${thread['id'] as string}/notes`, { body: 'An answer' })
  const settled = expectStatus(await author.post(`${from.one(1)}/discussions`, { body: 'Settled' }), 201)
  await author.put(`${from.one(1)}/discussions/${settled['id'] as string}`, { resolved: true })
  expectStatus(await root.post(`${from.one(1)}/approve`), 201)

  await from.request({ 'merged.txt': 'merged\n' }, { title: 'Merged', source_branch: 'merged' })
  expectStatus(await eventuallyMerged(2), 200)
  await root.delete(`${from.base}/repository/branches/merged`)

  await from.request({ 'closed.txt': 'one\n' }, { title: 'Closed', source_branch: 'closed' })
  await from.commit('closed', { 'closed.txt': 'two\n' })
  await eventually(async () => (await versionsOf(root, from.one(3))).length === 2)
  await author.put(from.one(3), { state_event: 'close' })
  await root.delete(`${from.base}/repository/branches/closed`)
  await source.settled()
  for (const iid of [1, 2, 3])
    heads.set(iid, expectStatus(await root.get(from.one(iid)), 200)['sha'] as string)
}

async function eventuallyMerged(iid: number) {
  return eventually(async () => {
    const reply = await from.merge(iid)
    return reply.status === 200 && reply
  })
}

const versionsOf = async (who: Person, request: string): Promise<Json[]> =>
  expectStatus(await who.get(`${request}/versions`), 200) as Json[]

const large = 'a large file'
const oid = createHash('sha256').update(large).digest('hex')

/** An upload that texts link to in each way, and a large file. */
async function fillFiles(): Promise<void> {
  const form = new FormData()
  form.set('file', new Blob(['a picture']), 'a picture.png')
  const upload = expectStatus(await source.root.post(`${from.base}/uploads`, form), 201)
  const [url, path] = [upload['url'] as string, upload['full_path'] as string]
  const foreign = `/uploads/${'0'.repeat(32)}/other.png`
  const description = [upload['markdown'] as string, `${source.url}${path}`, path, foreign].join('\n\n')
  await source.root.post(`${from.base}/issues`, { title: 'With a picture', description })
  await source.root.post(`${from.one(1)}/notes`, { body: `See ![it](${url})` })

  const authorization = `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/vnd.git-lfs+json' }
  const objects = [{ oid, size: large.length }]
  const batch = await fetch(`${source.url}/${from.fullPath}.git/info/lfs/objects/batch`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ operation: 'upload', objects }),
  })
  const told = (await batch.json()) as { objects: { actions: { upload: { href: string; header: Json } } }[] }
  const { href, header } = told.objects[0]!.actions.upload
  const put = await fetch(href, {
    method: 'PUT',
    headers: { authorization: header['Authorization'] as string },
    body: large,
  })
  expect(put.status).toBe(200)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${large.length}\n`
  await from.commit('main', { 'large.bin': pointer })
}

async function fillRest(): Promise<void> {
  const { root } = source
  for (const [on, of] of [
    [author, from.one(1)],
    [root, `${from.base}/issues/1`],
  ] as const) {
    expectStatus(await on.post(`${of}/add_spent_time`, { duration: '1h', summary: 'Reading' }), 201)
  }
  const release = {
    ...{ tag_name: 'v1', ref: 'main', name: 'One', description: 'The first', milestones: ['First'] },
    assets: { links: [{ name: 'Site', url: 'https://example.com/', link_type: 'package' }] },
  }
  expectStatus(await root.post(`${from.base}/releases`, release), 201)
  const badge = {
    link_url: 'https://example.com/%{project_id}',
    image_url: 'https://example.com/x.svg',
    name: 'B',
  }
  expectStatus(await root.post(`${from.base}/badges`, badge), 201)
  expectStatus(await root.post(`${from.base}/protected_tags`, { name: 'v*', create_access_level: 40 }), 201)
}

/** Of the project that it has become. */
async function byArchive(): Promise<string> {
  expectStatus(await source.root.post(`${from.base}/export`), 202)
  const status = await eventually(async () => {
    const body = expectStatus(await source.root.get(`${from.base}/export`), 200)
    return ['finished', 'failed'].includes(body['export_status'] as string) && body
  })
  const answer = await fetch((status['_links'] as Json)['api_url'] as string, {
    headers: source.root.headers,
  })
  const form = new FormData()
  form.set('path', world.unique('imported'))
  form.set('file', new Blob([await answer.arrayBuffer()]), 'archive.tar.gz')
  const made = expectStatus(await world.root.post('/projects/import', form), 201)
  const base = `/projects/${made['id'] as number}`
  const ended = await eventually(async () => {
    const body = expectStatus(await world.root.get(`${base}/import`), 200)
    return ['finished', 'failed'].includes(body['import_status'] as string) && body
  })
  expect(ended).toMatchObject({ import_status: 'finished', failed_relations: [], import_error: null })
  return base
}

async function byDirectTransfer(): Promise<string> {
  const home = await world.group()
  const entity = {
    source_type: 'project_entity',
    source_full_path: from.fullPath,
    destination_slug: world.unique('app'),
    destination_namespace: home.full_path,
  }
  const configuration = { url: source.url, access_token: rootToken }
  const made = expectStatus(
    await world.root.post('/bulk_imports', { configuration, entities: [entity] }),
    201,
  )
  const [ended] = await eventually(async () => {
    const path = `/bulk_imports/${made['id'] as number}/entities`
    const entities = expectStatus(await world.root.get(path), 200) as Json[]
    return !['created', 'started'].includes(entities[0]!['status'] as string) && entities
  })
  expect(ended).toMatchObject({ status: 'finished', failures: [] })
  return `/projects/${ended!['project_id'] as number}`
}

describe.each([
  ['an archive', byArchive],
  ['a direct transfer', byDirectTransfer],
])('%s', (_, bring) => {
  let base: string
  const read = async (path: string) => expectStatus(await world.root.get(base + path), 200)
  const list = async (path: string) => (await read(path)) as Json[]

  beforeAll(async () => {
    base = await bring()
  })

  test('brings merge requests with what was said where in the code, and who approved', async () => {
    const request = await read('/merge_requests/1')
    expect(request).toMatchObject({
      title: 'Talked about',
      description: 'What it is about',
      state: 'opened',
      source_branch: 'talked',
      target_branch: 'main',
      author: { username: author.username },
      labels: ['bug'],
      milestone: { title: 'First' },
      assignees: [{ username: author.username }],
      squash: true,
      sha: heads.get(1),
      user_notes_count: 4,
      changes_count: '1',
      prepared_at: expect.any(String),
    })
    const approvals = await read('/merge_requests/1/approvals')
    expect(approvals['approved_by']).toMatchObject([{ user: { username: 'root' } }])
    const discussions = await list('/merge_requests/1/discussions')
    const threads = discussions.filter(({ individual_note: alone }) => alone === false)
    expect(threads).toMatchObject([
      {
        notes: [
          {
            body: 'This line?',
            author: { username: author.username },
            type: 'DiffNote',
            resolvable: true,
            resolved: false,
            position: { new_path: 'talked.txt', new_line: 2, head_sha: heads.get(1) },
          },
          { body: 'An answer' },
        ],
      },
      { notes: [{ body: 'Settled', resolved: true, resolved_by: { username: author.username } }] },
    ])
  })

  test('brings commits of requests that are on no branch any more', async () => {
    const merged = await read('/merge_requests/2')
    const before = expectStatus(await source.root.get(from.one(2)), 200)
    expect(merged).toMatchObject({
      state: 'merged',
      sha: heads.get(2),
      merged_at: before['merged_at'],
      merge_commit_sha: before['merge_commit_sha'],
    })
    expect(await read('/merge_requests/3')).toMatchObject({ state: 'closed', sha: heads.get(3) })
    const versions = await list('/merge_requests/3/versions')
    const theirs = await versionsOf(source.root, from.one(3))
    const shas = (one: Json) =>
      ['head_commit_sha', 'base_commit_sha', 'start_commit_sha'].map((name) => one[name])
    expect(versions.map(shas)).toEqual(theirs.map(shas))
    expect(await list('/merge_requests/3/commits')).toHaveLength(2)
    const [change] = await list('/merge_requests/3/diffs')
    expect(change).toMatchObject({ new_path: 'closed.txt', new_file: true })
    expect(await read(`/repository/commits/${versions[1]!['head_commit_sha'] as string}`)).toMatchObject({
      message: expect.stringContaining('closed.txt'),
    })
  })

  test('brings uploads, with links to them wherever they are, and large files', async () => {
    const [upload] = await list('/uploads')
    expect(upload).toMatchObject({ filename: 'a_picture.png', size: 9, uploaded_by: { username: 'root' } })
    const { description } = await read('/issues/1')
    const links = [...(description as string).matchAll(/\/uploads\/([0-9a-f]{32})\//g)].map(
      ([, secret]) => secret!,
    )
    const [secret] = links
    expect(links).toEqual([secret, secret, secret, '0'.repeat(32)])
    expect(description).toBe(
      [
        `![a_picture](/uploads/${secret!}/a_picture.png)`,
        `/uploads/${secret!}/a_picture.png`,
        `/uploads/${secret!}/a_picture.png`,
        `/uploads/${'0'.repeat(32)}/other.png`,
      ].join('\n\n'),
    )
    expect((await world.root.get(`${base}/uploads/${secret!}/a_picture.png`)).text).toBe('a picture')
    const notes = await list('/merge_requests/1/notes')
    expect(notes.map(({ body }) => body as string)).toContain(`See ![it](/uploads/${secret!}/a_picture.png)`)
    const file = await world.root.get(`${base}/repository/files/large.bin/raw?ref=main&lfs=true`)
    expect(file.text).toBe(large)
  })

  test('brings what happened to issues and requests, and the time that was spent', async () => {
    for (const path of ['/merge_requests/1', '/issues/1'])
      expect(await read(`${path}/time_stats`)).toMatchObject({ total_time_spent: 3600 })
    const states = await list('/merge_requests/3/resource_state_events')
    expect(states).toMatchObject([{ state: 'closed', user: { username: author.username } }])
    const before = expectStatus(await source.root.get(`${from.one(3)}/resource_state_events`), 200) as Json[]
    expect(states.map(({ created_at: at }) => at as string)).toEqual(
      before.map(({ created_at: at }) => at as string),
    )
    expect(await list('/merge_requests/1/resource_milestone_events')).toMatchObject([
      { action: 'add', milestone: { title: 'First' } },
    ])
    expect(await list('/merge_requests/1/resource_label_events')).toMatchObject([
      { action: 'add', label: { name: 'bug' } },
    ])
  })

  test('brings releases, badges, and rules for tags', async () => {
    expect(await list('/releases')).toMatchObject([
      {
        ...{ tag_name: 'v1', name: 'One', description: 'The first', author: { username: 'root' } },
        commit: { id: expect.stringMatching(/^[0-9a-f]{40}$/) },
        milestones: [{ title: 'First' }],
        assets: { links: [{ name: 'Site', url: 'https://example.com/', link_type: 'package' }] },
      },
    ])
    const badges = (await list('/badges')).filter(({ kind }) => kind === 'project')
    expect(badges).toMatchObject([{ name: 'B', link_url: 'https://example.com/%{project_id}' }])
    expect(await list('/protected_tags')).toMatchObject([
      { name: 'v*', create_access_levels: [{ access_level: 40 }] },
    ])
  })

  test('brings requests that go on: numbers, threads, merges', async () => {
    const branch = { branch: 'next', ref: 'main' }
    expectStatus(await world.root.post(`${base}/repository/branches`, branch), 201)
    const next = { source_branch: 'next', target_branch: 'main', title: 'Next' }
    expect(expectStatus(await world.root.post(`${base}/merge_requests`, next), 201)['iid']).toBe(4)
    const [thread] = (await list('/merge_requests/1/discussions')).filter(
      ({ individual_note: alone }) => alone === false,
    )
    const at = `${base}/merge_requests/1/discussions/${thread!['id'] as string}`
    expectStatus(await world.root.put(at, { resolved: true }), 200)
    const merged = await eventually(async () => {
      const reply = await world.root.put(`${base}/merge_requests/1/merge`)
      return reply.status === 200 && (reply.body as Json)
    })
    expect(merged).toMatchObject({ state: 'merged' })
  })
})
