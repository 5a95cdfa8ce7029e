// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import { openCloudHost, openServerHost } from '../world/bucket-host.ts'
import type { Person, Reply } from '../world/client.ts'
import { eventually } from '../world/merge-project.ts'
import type { SourceHost } from '../world/source-host.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const stack = new AsyncDisposableStack()
let world: World
let cloud: Awaited<ReturnType<typeof openCloudHost>>
let server: Awaited<ReturnType<typeof openServerHost>>
let home: Made
let ada: Person

beforeAll(async () => {
  cloud = await openCloudHost()
  server = await openServerHost()
  stack.use(cloud.host)
  stack.use(server.host)
  world = stack.use(
    await startWorld({ IMPORT_HOSTS: `bitbucket=${cloud.host.url},github=${cloud.host.url}` }),
  )
  await set(world, {
    import_sources: 'github,bitbucket,bitbucket_server',
    allow_local_requests_from_web_hooks_and_services: true,
  })
  home = await world.group({ visibility: 'public' })
  ada = await world.user({ email: 'ada@example.com', provider: 'bitbucket', extern_uid: 'ada' })
  await world.root.post(`/groups/${home.id}/members`, { user_id: ada.id, access_level: 20 })
})
afterAll(() => stack.disposeAsync())

const asks = {
  bitbucket: (fields: Json, who: Person = world.root): Promise<Reply> =>
    who.post('/import/bitbucket', {
      bitbucket_username: 'somebody',
      bitbucket_app_password: cloud.host.secret,
      repo_path: 'team/app',
      target_namespace: home.full_path,
      new_name: world.unique('app'),
      ...fields,
    }),
  bitbucket_server: (fields: Json, who: Person = world.root): Promise<Reply> =>
    who.post('/import/bitbucket_server', {
      bitbucket_server_url: server.host.url,
      bitbucket_server_username: 'somebody',
      personal_access_token: server.host.secret,
      bitbucket_server_project: 'TM',
      bitbucket_server_repo: 'app',
      target_namespace: home.full_path,
      new_name: world.unique('app'),
      ...fields,
    }),
  github: (fields: Json, who: Person = world.root): Promise<Reply> =>
    who.post('/import/github', {
      personal_access_token: cloud.host.secret,
      repo_id: 42,
      target_namespace: home.full_path,
      new_name: world.unique('app'),
      ...fields,
    }),
}
type Kind = keyof typeof asks

const read = async (path: string, who: Person = world.root): Promise<Json> =>
  expectStatus(await who.get(path), 200)

async function brought(kind: Kind, fields: Json = {}): Promise<{ path: string; state: Json }> {
  const made = expectStatus(await asks[kind](fields), 201)
  const path = `/projects/${made['id'] as number}`
  const state = await eventually(async () => {
    const told = await read(`${path}/import`)
    return !['scheduled', 'started'].includes(told['import_status'] as string) && told
  })
  return { path, state }
}

const threadsOf = async (path: string): Promise<Json[][]> =>
  ((await read(`${path}/discussions`)) as Json[]).map((discussion) => discussion['notes'] as Json[])

describe('a repository of a server', () => {
  let path: string
  let state: Json
  beforeAll(async () => {
    ;({ path, state } = await brought('bitbucket_server'))
  })

  test('comes with code and pull requests', async () => {
    expect(state).toMatchObject({
      import_status: 'finished',
      import_type: 'bitbucket_server',
      failed_relations: [],
      stats: { imported: { repository: 2, pull_requests: 3, notes: 4 } },
    })
    expect(await read(path)).toMatchObject({
      description: 'On a server',
      visibility: 'public',
      default_branch: 'main',
    })
    const { feature, merged } = server.heads
    expect(await read(`${path}/merge_requests/1`)).toMatchObject({
      title: 'Number 1',
      state: 'opened',
      sha: feature,
      author: { id: ada.id },
      source_branch: 'feature',
      created_at: '2020-01-01T10:00:00.000Z',
      updated_at: '2020-01-06T10:00:00.000Z',
    })
    expect(await read(`${path}/merge_requests/2`)).toMatchObject({
      state: 'merged',
      merge_user: { id: ada.id },
      merged_at: '2020-01-09T10:00:00.000Z',
      merge_commit_sha: merged,
    })
    expect(await read(`${path}/merge_requests/3`)).toMatchObject({
      state: 'closed',
      author: { id: world.root.id },
      description: '*Created by: The grace*\n\nBody of 3',
      closed_at: '2020-01-08T10:00:00.000Z',
    })
  })

  test('comes with what was said, on the lines where that is right', async () => {
    const threads = await threadsOf(`${path}/merge_requests/1`)
    expect(threads).toMatchObject([
      [
        { body: '*Created by: The grace*\n\nComment 10', position: { new_path: 'main.txt', new_line: 2 } },
        { body: 'Comment 11', author: { id: ada.id } },
      ],
      [{ body: '*Commented on `main.txt`*\n\n*Created by: The grace*\n\nComment 12', resolvable: true }],
      [{ body: 'Comment 13', author: { id: ada.id }, resolvable: false }],
    ])
  })

  test('is refused in the words of its own', async () => {
    const stranger = await world.user()
    const permission = { message: { error: "You don't have permissions to import this project" } }
    for (const [fields, who, status, body] of [
      [{}, stranger, 401, permission],
      [{ target_namespace: 'no/such' }, world.root, 401, permission],
      [{ bitbucket_server_url: 'x' }, world.root, 400, { message: { error: 'Invalid URL: x' } }],
      [
        { bitbucket_server_repo: 'none' },
        world.root,
        422,
        { message: { error: 'Project TM/none could not be found' } },
      ],
      [
        { personal_access_token: 'wrong' },
        world.root,
        400,
        { message: { error: 'Import failed due to a BitBucket Server error: The host answers with 401.' } },
      ],
      [{ bitbucket_server_repo: '../x' }, world.root, 400, { error: 'bitbucket_server_repo is invalid' }],
    ] as const) {
      const reply = await asks.bitbucket_server(fields, who)
      expect([fields, reply.status, reply.body]).toEqual([fields, status, body])
    }
    const own = await asks.bitbucket_server({ target_namespace: '' }, stranger)
    expect(expectStatus(own, 201)['full_path']).toMatch(new RegExp(`^/${stranger.username}/`))
  })
})

describe('a repository in the cloud', () => {
  let path: string
  let state: Json
  beforeAll(async () => {
    ;({ path, state } = await brought('bitbucket'))
  })

  test('comes with code, wiki, milestones and issues, by the accounts with which people sign in', async () => {
    expect(state).toMatchObject({
      import_status: 'finished',
      import_type: 'bitbucket',
      failed_relations: [],
      stats: { imported: { issues: 3, pull_requests: 3, notes: 2, request_notes: 2 } },
    })
    expect(await read(path)).toMatchObject({ description: 'In the cloud', visibility: 'private' })
    expect(await read(`${path}/wikis/Home`)).toMatchObject({ content: 'Of the cloud' })
    expect(await read(`${path}/issues/1`)).toMatchObject({
      title: 'Issue 1',
      description: 'Body of 1',
      author: { id: ada.id },
      assignees: [{ id: ada.id }],
      labels: ['bug'],
      milestone: { title: 'First' },
      updated_at: '2020-01-02T10:00:00.000Z',
    })
    expect(await read(`${path}/issues/2`)).toMatchObject({
      state: 'closed',
      labels: ['task'],
      description: '*Created by: grace*\n\nBody of 2',
    })
    const notes = (await read(`${path}/issues/1/notes?sort=asc`)) as Json[]
    expect(notes.map((note) => note['body'] as string)).toEqual([
      '*Created by: grace*\n\nComment 10',
      'Comment 12',
    ])
  })

  test('comes with pull requests, those whose commits are gone with what was merged, or nothing', async () => {
    const { feature, merged } = cloud.heads
    expect(await read(`${path}/merge_requests/1`)).toMatchObject({
      state: 'opened',
      sha: feature,
      assignees: [{ id: ada.id }],
    })
    expect(await read(`${path}/merge_requests/2`)).toMatchObject({
      state: 'merged',
      sha: merged,
      merge_commit_sha: merged,
      merge_user: { id: ada.id },
    })
    expect(await read(`${path}/merge_requests/3`)).toMatchObject({ state: 'closed', source_project_id: null })
    expect(await read(`${path}/merge_requests/3/commits`)).toEqual([])
    const [thread] = await threadsOf(`${path}/merge_requests/1`)
    expect(thread).toMatchObject([
      { position: { new_path: 'main.txt', new_line: 2 } },
      { body: 'Comment 21' },
    ])
  })

  test('is refused in the words of its own', async () => {
    const stranger = await world.user()
    const unable = 'Unable to authorize with Bitbucket. Check your credentials'
    for (const [fields, who, status, body] of [
      [{}, stranger, 401, { message: { error: "You don't have permissions to import this project" } }],
      [{ bitbucket_app_password: 'wrong' }, world.root, 401, { message: { error: unable } }],
      [
        { repo_path: 'team___none' },
        world.root,
        422,
        { message: { error: 'Project team/none could not be found' } },
      ],
      [{ repo_path: '../x' }, world.root, 400, { error: 'repo_path is invalid' }],
    ] as const) {
      const reply = await asks.bitbucket(fields, who)
      expect([fields, reply.status, reply.body]).toEqual([fields, status, body])
    }
  })
})

/** Nothing comes past this address until it is let through; then it is not found. */
function gate(host: SourceHost, path: string): { waiting: number; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const state = { waiting: 0, open: () => resolve(undefined) }
  host.answers[path] = () => {
    state.waiting += 1
    return promise
  }
  return state
}

describe('imports at once', () => {
  const places: Readonly<Record<string, readonly [Kind, () => SourceHost, string]>> = {
    concurrent_importer_a_import_jobs_limit: ['github', () => cloud.host, '/octo/app.git/info/refs'],
    concurrent_importer_b_import_jobs_limit: ['bitbucket', () => cloud.host, '/team/app.git/info/refs'],
    concurrent_importer_b_server_import_jobs_limit: [
      'bitbucket_server',
      () => server.host,
      '/scm/tm/app.git/info/refs',
    ],
  }

  test.each([
    'concurrent_importer_a_import_jobs_limit',
    'concurrent_importer_b_import_jobs_limit',
    'concurrent_importer_b_server_import_jobs_limit',
  ])('are no more than %s says', async (name) => {
    const [kind, hostOf, path] = places[name]!
    const host = hostOf()
    cloud.host.answers['/api/v3/repositories/42'] = () => ({
      ...{
        id: 42,
        name: 'app',
        full_name: 'octo/app',
        private: true,
        has_wiki: false,
        default_branch: 'main',
      },
    })
    const before = { ...host.answers }
    /** Of two that are asked for: how many come as far as the code at once, and what is being done then. */
    const two = async (most: number) => {
      const door = gate(host, path)
      const made = [await asks[kind]({}), await asks[kind]({})].map((reply) => expectStatus(reply, 201))
      await eventually(async () => door.waiting >= most)
      // The node has looked for more once this is done.
      const { writer } = world.service.services.db
      await sql`select graphile_worker.add_job('host-imports:wake')`.execute(writer)
      await world.settled()
      const { rows } = await sql<{ started: number }>`
        select count(*)::int as started from host_import_steps s where s.state = 'started'`.execute(writer)
      const { waiting } = door
      door.open()
      for (const one of made) {
        await eventually(
          async () => (await read(`/projects/${one['id'] as number}/import`))['import_status'] === 'failed',
        )
      }
      return { waiting, ...rows[0]! }
    }
    await during(world, { [name]: 1 }, async () => {
      expect(await two(1)).toEqual({ waiting: 1, started: 1 })
    })
    expect(await two(2)).toMatchObject({ waiting: 2 })
    host.answers = before
  })
})
