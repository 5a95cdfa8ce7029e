import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { newSshKey } from '../world/ssh-key.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies } from '../git/copies.ts'

let world: World
let copies: Copies
let project: Made
let developer: Person
beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  project = await world.project({ initialize_with_readme: true })
  developer = await world.member({ project }, 'developer')
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const give = (name: string, project_id: unknown = project.id) =>
  world.root.post('/project_aliases', { name, project_id })

describe('aliases', () => {
  test('are given, listed, read and taken back', async () => {
    const made = expectStatus(await give('platform'), 201)
    expect(made).toEqual({ id: made['id'], project_id: project.id, name: 'platform' })
    expect((await world.root.get('/project_aliases/platform')).body).toEqual(made)
    expect(expectStatus(await give('dotted.name_1', project.path_with_namespace), 201)['project_id']).toBe(
      project.id,
    )
    expect((await world.root.get('/project_aliases/dotted.name_1')).status).toBe(200)
    expect(
      ((await world.root.get('/project_aliases')).body as Json[]).map(({ name }) => name as string),
    ).toEqual(['platform', 'dotted.name_1'])
    const page = await world.root.get('/project_aliases?per_page=1&page=2')
    expect([page.headers.get('x-total'), (page.body as Json[])[0]!['name']]).toEqual(['2', 'dotted.name_1'])
    expect((await world.root.delete('/project_aliases/platform')).status).toBe(204)
    const gone = { message: '404 Not found' }
    expect((await world.root.get('/project_aliases/platform')).body).toEqual(gone)
    expect((await world.root.delete('/project_aliases/platform')).body).toEqual(gone)
  })

  test('are refused in the words of the API', async () => {
    expectStatus(await give('taken'), 201)
    const wrong =
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"
    const cases: [unknown, number, unknown][] = [
      [{ project_id: project.id }, 400, { error: 'name is missing' }],
      [{ name: 'x' }, 400, { error: 'project_id is missing' }],
      [{ name: 'x', project_id: 999_999 }, 404, { message: '404 Project Not Found' }],
      [{ name: 'x', project_id: 'no/such' }, 404, { message: '404 Project Not Found' }],
      [{ name: 'taken', project_id: project.id }, 400, { message: { name: ['has already been taken'] } }],
      [{ name: '', project_id: project.id }, 400, { message: { name: ["can't be blank"] } }],
      ...['-a', 'a/b', 'a.git', 'a.atom', 'a b', 'ü'].map((name): [unknown, number, unknown] => [
        { name, project_id: project.id },
        400,
        { message: { name: [wrong] } },
      ]),
    ]
    for (const [body, status, answer] of cases) {
      const reply = await world.root.post('/project_aliases', body)
      expect([body, reply.status, reply.body]).toEqual([body, status, answer])
    }
    // Upper and lower case differ.
    expectStatus(await give('Taken'), 201)
    const long = await give('a'.repeat(256))
    expect(long.body).toEqual({ message: { name: ['is too long (maximum is 255 characters)'] } })
  })

  test('are for administrators', async () => {
    for (const [by, status] of [
      [world.anonymous, 401],
      [developer, 403],
    ] as const) {
      expect((await by.get('/project_aliases')).status).toBe(status)
      expect((await by.post('/project_aliases', {})).status).toBe(status)
      expect((await by.delete('/project_aliases/taken')).status).toBe(status)
    }
  })

  test('name no project to the API', async () => {
    expectStatus(await give('api-name'), 201)
    expect((await world.root.get('/projects/api-name')).status).toBe(404)
  })
})

test('without a plan there are none, for anybody', async () => {
  const free = await world.sibling({ PLAN: 'free' })
  const reply = await fetch(`${free.address}/api/v4/project_aliases`)
  expect([reply.status, await reply.json()]).toEqual([403, { message: '403 Forbidden' }])
})

describe('git', () => {
  let ssh: string
  beforeAll(async () => {
    const { publicKey, privateKey } = newSshKey()
    const file = path.join(copies.folder, 'key')
    await writeFile(file, privateKey)
    await chmod(file, 0o600)
    expectStatus(await developer.post('/user/keys', { title: 'key', key: publicKey }), 201)
    ssh = `ssh -F /dev/null -i ${file} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR`
  })

  const over = {
    SSH: (name: string) => `ssh://git@127.0.0.1:${world.service.sshPort!}/${name}.git`,
    HTTP: (name: string) => copies.url(name, { username: 'x', token: developer.token }),
  }
  test.each(Object.entries(over))(
    'fetches and pushes by an alias over %s, also when the project has moved',
    async (_, url) => {
      const name = world.unique('alias')
      expectStatus(await give(name), 201)
      const run = (folder: string, ...args: string[]) => copies.try(folder, args, { GIT_SSH_COMMAND: ssh })
      const folder = path.join(copies.folder, name)
      expect(await run(copies.folder, 'clone', '--quiet', url(name), folder)).toMatchObject({ code: 0 })
      await copies.commit(folder, 'by-alias')
      expect(await run(folder, 'push', '--quiet', 'origin', `HEAD:refs/heads/${name}`)).toMatchObject({
        code: 0,
      })
      const other = await world.group()
      expectStatus(
        await world.root.post(`/groups/${other.id}/members`, { user_id: developer.id, access_level: 30 }),
        201,
      )
      expectStatus(await world.root.put(`/projects/${project.id}/transfer`, { namespace: other.id }), 200)
      expect(await run(folder, 'fetch', '--quiet', 'origin')).toMatchObject({ code: 0 })
      expect((await run(copies.folder, 'ls-remote', url('no-such-alias'))).code).not.toBe(0)
      // An id is no name.
      expect((await run(copies.folder, 'ls-remote', url(String(project.id)))).code).not.toBe(0)
    },
  )

  test('lets nobody in who has no right', async () => {
    expectStatus(await give('closed'), 201)
    const stranger = await world.user()
    const told = await copies.try(copies.folder, [
      'ls-remote',
      copies.url('closed', { username: 'x', token: stranger.token }),
    ])
    expect(told.stderr).toContain('not found')
  })
})
