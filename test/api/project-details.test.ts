// @module-tag long
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, rootToken, startWorld, type Json, type World } from '../world/world.ts'

/** What is told of projects, and done with them, besides their settings. */
let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const soon = { timeout: 30_000, interval: 20 }
const run = promisify(execFile)

test('fetches over HTTP are counted by the day, questions for refs are not', async () => {
  const project = await world.project()
  await pushFiles(world, project, { 'a.txt': 'a' })
  const told = async () => bodyOf(await world.root.get(`/projects/${project.id}/statistics`))
  expect(await told()).toEqual({ fetches: { total: 0, days: [] } })
  const address = new URL(`${world.url}/${project['path_with_namespace']}.git`)
  Object.assign(address, { username: 'root', password: rootToken })
  const git = (...args: string[]) =>
    run('git', args, { env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' } })
  await git('ls-remote', address.href)
  await git('clone', '--quiet', address.href, path.join(world.directory, world.unique('clone')))
  const today = new Date().toISOString().slice(0, 10)
  await vi.waitFor(async () => {
    expect(await told()).toEqual({ fetches: { total: 1, days: [{ count: 1, date: today }] } })
  }, soon)
  await sql`
    insert into project_fetches (project_id, day, count)
    select ${project.id}, (now() at time zone 'utc')::date - days, 5 from unnest(array[29, 30]) days`.execute(
    world.service.services.db.writer,
  )
  expect(await told()).toMatchObject({ fetches: { total: 6, days: [{ date: today }, { count: 5 }] } })
})

test('what a project takes is measured when somebody asks', async () => {
  const project = await world.project()
  await pushFiles(world, project, { 'a.txt': 'a'.repeat(1000) })
  const maintainer = await world.member({ project }, 'maintainer')
  const measured = expectStatus(await maintainer.post(`/projects/${project.id}/repository_size`), 201)
  expect(measured).toMatchObject({ commit_count: 1 })
  expect(measured['repository_size']).toBeGreaterThan(0)
  expect(bodyOf(await maintainer.get(`/projects/${project.id}?statistics=true`))['statistics']).toEqual(
    measured,
  )
})

test('administrators list projects by what they take, others in the usual order', async () => {
  const group = await world.group()
  const [large, none, small] = [
    await world.project({ namespace_id: group.id }),
    await world.project({ namespace_id: group.id }),
    await world.project({ namespace_id: group.id }),
  ]
  const file = (project: Json) =>
    `${world.url}/api/v4/projects/${project['id'] as number}/packages/generic/a/1/a`
  for (const [project, size] of [
    [large, 5000],
    [small, 10],
  ] as const) {
    const headers = { 'private-token': rootToken }
    const sent = await fetch(file(project), { method: 'PUT', headers, body: 'x'.repeat(size) })
    expect(sent.status).toBe(201)
    expectStatus(await world.root.post(`/projects/${project.id}/repository_size`), 201)
  }
  const maintainer = await world.member({ group }, 'maintainer')
  const listed = async (by: { get: World['root']['get'] }, path: string) =>
    rowsOf(await by.get(path)).map(({ id }) => id)
  for (const order of ['packages_size', 'storage_size']) {
    for (const path of [
      '/projects?search_namespaces=true&search=' + group['path'],
      `/groups/${group.id}/projects?`,
    ]) {
      const query = `${path}&order_by=${order}`
      expect(await listed(world.root, query)).toEqual([large.id, small.id, none.id])
      expect(await listed(world.root, `${query}&sort=asc`)).toEqual([none.id, small.id, large.id])
      expect(await listed(maintainer, query)).toEqual([small.id, none.id, large.id])
    }
  }
})

test('administrators get a repository as it lies on disk, which git reads', async () => {
  const project = await world.project()
  const at = `/projects/${project.id}/snapshot`
  await pushFiles(world, project, { 'a.txt': 'kept', 'empty.txt': '' })
  const folder = path.join(world.directory, world.unique('snapshot'))
  await mkdir(folder)
  const answer = await fetch(`${world.url}/api/v4${at}`, { headers: { 'private-token': rootToken } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
  const tar = path.join(folder, 'snapshot.tar')
  await writeFile(tar, Buffer.from(await answer.arrayBuffer()))
  const { stdout: names } = await run('tar', ['-tf', tar])
  expect(names).not.toMatch(/^(?:config|hooks)/m)
  await run('tar', ['-xf', tar, '-C', folder])
  const { stdout } = await run('git', ['--git-dir', folder, 'show', 'main:a.txt'])
  expect(stdout).toBe('kept')
  await run('git', ['--git-dir', folder, 'fsck', '--strict'])

  expect((await world.root.get(`${at}?wiki=true`)).status).toBe(404)
  expectStatus(
    await world.root.post(`/projects/${project.id}/wikis`, { title: 'Home', content: 'A page' }),
    201,
  )
  const wiki = await fetch(`${world.url}/api/v4${at}?wiki=true`, { headers: { 'private-token': rootToken } })
  expect([wiki.status, wiki.headers.get('content-disposition')]).toEqual([
    200,
    `attachment; filename="wiki-${project.id}.git.tar"`,
  ])
  expect((await wiki.arrayBuffer()).byteLength).toBeGreaterThan(1000)
})

test('a repository is put in order on demand, once at a time', async () => {
  const project = await world.project()
  for (const name of ['a', 'b', 'c']) await pushFiles(world, project, { [name]: name }, [name])
  const call = (task?: string) =>
    world.root.post(`/projects/${project.id}/housekeeping`, task === undefined ? {} : { task })
  expect(await call('gc')).toMatchObject({ status: 400, body: { error: 'task does not have a valid value' } })
  const { writer } = world.service.services.db
  await sql`
    insert into repository_upkeep (project_id, last_update, asked_at) values (${project.id}, 0, now())`.execute(
    writer,
  )
  expect(await call()).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('already triggered') as string },
  })
  await sql`update repository_upkeep set asked_at = null where project_id = ${project.id}`.execute(writer)
  expect((await call('prune')).status).toBe(201)
  // Done with, it may be asked for again.
  await vi.waitFor(async () => {
    const { rows } = await sql<{ asked: unknown }>`
      select asked_at as asked from repository_upkeep where project_id = ${project.id}`.execute(writer)
    expect(rows).toEqual([{ asked: null }])
  }, soon)
  expect((await call()).status).toBe(201)
  expect(rowsOf(await world.root.get(`/projects/${project.id}/repository/branches`))).toHaveLength(3)
})

describe('members of another project', () => {
  const importInto = (by: { post: World['root']['post'] }, project: Json, source: Json) =>
    by.post(`/projects/${project['id']}/import_project_members/${source['id']}`)
  const levels = async (project: Json) =>
    Object.fromEntries(
      rowsOf(await world.root.get(`/projects/${project['id']}/members?per_page=100`)).map((row) => [
        row['username'],
        [row['access_level'], row['expires_at']],
      ]),
    ) as Record<string, unknown>

  test('become members with their level and end; who is one stays what he is; owners come as Maintainers', async () => {
    const group = await world.group()
    const [source, target] = [await world.project(), await world.project({ namespace_id: group.id })]
    const [owner, developer, both, keeper, ending] = await Promise.all(
      Array.from({ length: 5 }, () => world.user()),
    )
    const add = (project: Json, person: { id: number }, access_level: number, more: Json = {}) =>
      world.root.post(`/projects/${project['id']}/members`, { user_id: person.id, access_level, ...more })
    for (const [person, level] of [
      [owner, 50],
      [developer, 30],
      [both, 30],
      [keeper, 40],
    ] as const)
      expectStatus(await add(source, person!, level), 201)
    expectStatus(await add(source, ending!, 20, { expires_at: '2999-01-01' }), 201)
    expectStatus(await add(target, both!, 10), 201)
    expectStatus(await add(target, keeper!, 40), 201)
    expect(await importInto(keeper!, target, source)).toMatchObject({
      status: 200,
      body: { status: 'success' },
    })
    expect(await levels(target)).toMatchObject({
      [owner!.username]: [40, null],
      [developer!.username]: [30, null],
      [both!.username]: [10, null],
      [ending!.username]: [20, '2999-01-01'],
    })
    expect((await developer!.get(`/projects/${target.id}`)).status).toBe(200)
  })

  test('what is wrong with one is told, and keeps nobody else out', async () => {
    const group = await world.group()
    const [source, target] = [await world.project(), await world.project({ namespace_id: group.id })]
    const above = await world.member({ group }, 'maintainer')
    for (const person of [above, await world.user()])
      await world.root.post(`/projects/${source.id}/members`, { user_id: person.id, access_level: 30 })
    const { body } = await importInto(world.root, target, source)
    expect(body).toEqual({
      status: 'error',
      message: {
        [above.username]: `Access level should be greater than or equal to Maintainer inherited membership from group ${group['name']}`,
      },
      total_members_count: 2,
    })
    // And `root`, who owns what he makes.
    expect(Object.keys(await levels(target))).toHaveLength(1)
  })

  test('come only where members may be, from where the caller looks after them', async () => {
    const group = await world.group()
    const [source, target] = [await world.project(), await world.project({ namespace_id: group.id })]
    const keeper = await world.member({ project: target }, 'maintainer')
    expect(await importInto(keeper, target, source)).toMatchObject({
      status: 404,
      body: { message: '404 Project Not Found' },
    })
    await world.root.post(`/projects/${source.id}/members`, { user_id: keeper.id, access_level: 30 })
    expect((await importInto(keeper, target, source)).status).toBe(403)
    expectStatus(await world.root.put(`/groups/${group.id}`, { membership_lock: true }), 200)
    expect((await importInto(world.root, target, source)).status).toBe(405)
  })
})

test('an archived project is only read: even its settings stay, and who is tired of it leaves', async () => {
  const project = await world.project()
  const owner = await world.member({ project }, 'owner')
  const developer = await world.member({ project }, 'developer')
  const at = `/projects/${project.id}`
  expectStatus(await owner.post(`${at}/archive`), 201)
  const refused = await Promise.all([
    owner.put(at, { description: 'x' }),
    owner.post(`${at}/hooks`, { url: 'https://192.0.2.7/hook' }),
    owner.delete(`${at}/members/${developer.id}`),
    world.root.post(`${at}/housekeeping`),
  ])
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  expect((await (await world.user()).put(at, { description: 'x' })).status).toBe(404)
  expect((await developer.post(`${at}/star`)).status).toBe(201)
  expect((await developer.delete(`${at}/members/${developer.id}`)).status).toBe(204)
  expectStatus(await owner.post(`${at}/unarchive`), 201)
  expect((await owner.put(at, { description: 'x' })).status).toBe(200)
})

test('a project tells of its open issues, the confidential ones to Planners, and how loud it is for the caller', async () => {
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  const [guest, developer] = [
    await world.member({ project }, 'guest'),
    await world.member({ group }, 'developer'),
  ]
  const at = `/projects/${project.id}`
  const issue = async (fields: Json) =>
    expectStatus(await world.root.post(`${at}/issues`, { title: 'one', ...fields }), 201)
  await issue({})
  await issue({ confidential: true })
  const closed = await issue({})
  expectStatus(await world.root.put(`${at}/issues/${closed['iid']}`, { state_event: 'close' }), 200)
  const told = async (by: { get: World['root']['get'] }) => bodyOf(await by.get(at))
  expect((await told(guest))['open_issues_count']).toBe(1)
  expect((await told(developer))['open_issues_count']).toBe(2)
  expect((await told(guest))['permissions']).toEqual({
    project_access: { access_level: 10, notification_level: 3 },
    group_access: null,
  })
  expectStatus(await guest.put(`${at}/notification_settings`, { level: 'watch' }), 200)
  expectStatus(await developer.put(`/groups/${group.id}/notification_settings`, { level: 'disabled' }), 200)
  expect((await told(guest))['permissions']).toMatchObject({ project_access: { notification_level: 2 } })
  expect((await told(developer))['permissions']).toEqual({
    project_access: null,
    group_access: { access_level: 30, notification_level: 0 },
  })
  expectStatus(await world.root.put(at, { issues_access_level: 'disabled' }), 200)
  expect(await told(developer)).not.toHaveProperty('open_issues_count')
})

test('administrators are told what groups take, with all that lies below', async () => {
  const group = await world.group()
  const below = await world.group({ parent_id: group.id })
  const project = await world.project({ namespace_id: below.id })
  const content = 'x'.repeat(1000)
  const file = `${world.url}/api/v4/projects/${project.id}/packages/generic/tool/1.0/file.txt`
  const sent = await fetch(file, { method: 'PUT', headers: { 'private-token': rootToken }, body: content })
  expect(sent.status).toBe(201)
  const measured = expectStatus(await world.root.post(`/projects/${project.id}/repository_size`), 201)
  expect(measured['packages_size']).toBe(1000)
  const listed = async (by: { get: World['root']['get'] }) =>
    rowsOf(await by.get(`/groups?statistics=true&search=${group['path']}`))[0]!
  expect((await listed(world.root))['statistics']).toMatchObject({
    storage_size: measured['storage_size'],
    packages_size: 1000,
  })
  expect(await listed(await world.member({ group }, 'owner'))).not.toHaveProperty('statistics')
})

test('README and license are told of where the default branch has them', async () => {
  const project = await world.project()
  const mit = (await world.root.get('/templates/licenses/mit?fullname=Mira')).body as Json
  await pushFiles(world, project, { 'README.rst': 'Read me', LICENSE: mit['content'] as string })
  const at = `/projects/${project.id}`
  const told = async () => {
    const { readme_url, license_url, license } = bodyOf(await world.root.get(`${at}?license=true`))
    return { readme_url, license_url, license: (license as Json | null)?.['key'] as unknown }
  }
  const blob = `${world.url}/${project['path_with_namespace']}/-/blob`
  await vi.waitFor(async () => {
    expect(await told()).toEqual({
      readme_url: `${blob}/main/README.rst`,
      license_url: `${blob}/main/LICENSE`,
      license: 'mit',
    })
  }, soon)
  expect(bodyOf(await world.root.get(at))).not.toHaveProperty('license')
  const guest = await world.member({ project }, 'guest')
  expect(bodyOf(await guest.get(`${at}?license=true`))).toMatchObject({ readme_url: null, license: null })
  await pushFiles(world, project, { 'README.md': 'Read me', 'COPYING.txt': 'Ask first.' }, ['other'])
  expectStatus(await world.root.put(at, { default_branch: 'other' }), 200)
  expect(await told()).toEqual({
    readme_url: `${blob}/other/README.md`,
    license_url: `${blob}/other/COPYING.txt`,
    license: 'other',
  })
})
