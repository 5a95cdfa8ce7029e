import { pino } from 'pino'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type Service } from '../../src/app/service.ts'
import { readConfig } from '../../src/kernel/config/index.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/**
 * A node remembers who may what, and must never believe it after a change. Here every change is made through one
 * node, and the very next request at another one, which has answered before, must know of it.
 */

let world: World
let other: Service

beforeAll(async () => {
  world = await startWorld()
  const config = readConfig({
    PORT: '0',
    DATA_DIR: world.directory,
    DATABASE_URL: world.databaseUrl,
    DATABASE_POOL: '2',
    ROLES: 'web',
    SHUTDOWN_TIMEOUT: '5',
  })
  other = await startService(config, pino({ level: 'silent' }))
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

interface Scene {
  group: Json
  below: Json
  project: Json
  person: Person
}

async function scene(visibility = 'private'): Promise<Scene> {
  const group = await world.group({ visibility })
  const below = await world.group({ visibility, parent_id: group['id'] })
  const project = await world.project({ visibility, namespace_id: below['id'] })
  return { group, below, project, person: await world.user() }
}

/** The status at the other node; asked twice, so that the second answer comes from what the first one left. */
async function statusAt(path: string, person: Person): Promise<number> {
  const ask = async () => (await person.get(`${other.address}/api/v4${path}`)).status
  const first = await ask()
  expect(await ask()).toBe(first)
  return first
}

type Change = (scene: Scene) => Promise<unknown>
const path = {
  project: ({ project }: Scene) => `/projects/${project['id']}`,
  byPath: ({ project }: Scene) => `/projects/${encodeURIComponent(project['path_with_namespace'] as string)}`,
  variables: ({ project }: Scene) => `/projects/${project['id']}/variables`,
  group: ({ group }: Scene) => `/groups/${group['id']}`,
}
const member =
  (access_level: number, of: 'group' | 'below' | 'project' = 'group'): Change =>
  (made) =>
    world.root.post(`/${of === 'project' ? 'projects' : 'groups'}/${made[of]['id']}/members`, {
      user_id: made.person.id,
      access_level,
    })
const level =
  (access_level: number): Change =>
  ({ group, person }) =>
    world.root.put(`/groups/${group['id']}/members/${person.id}`, { access_level })

const cases: [string, keyof typeof path, Change[], number, Change, number][] = [
  ['a member is removed', 'project', [member(30)], 200, removeMember, 404],
  ['a member is removed, asked by path', 'byPath', [member(30)], 200, removeMember, 404],
  ['a member of the project is removed', 'group', [member(30, 'project')], 200, removeFromProject, 404],
  ['a member is added', 'project', [], 404, member(10), 200],
  ['a second membership is added below', 'variables', [member(30)], 403, member(40, 'below'), 200],
  ['a role is lowered', 'variables', [member(40)], 200, level(30), 403],
  ['a role is raised', 'variables', [member(30)], 403, level(40), 200],
  ['a membership expires', 'project', [member(30)], 200, expire, 404],
  ['the user is blocked', 'project', [member(30)], 200, block, 403],
  ['the user becomes an administrator', 'project', [], 404, promote, 200],
  ['the token is revoked', 'project', [member(30)], 200, revoke, 401],
  ['the project is deleted', 'project', [member(40)], 200, remove, 404],
]

test.each(cases)('%s', async (_, at, before, status, change, after) => {
  const made = await scene()
  for (const step of before) await step(made)
  expect(await statusAt(path[at](made), made.person)).toBe(status)
  await change(made)
  expect(await statusAt(path[at](made), made.person)).toBe(after)
})

test('a custom role gains a permission, and loses it', async () => {
  const made = await scene()
  const role = expectStatus(
    await world.root.post('/member_roles', { name: world.unique('role'), base_access_level: 10 }),
    201,
  )
  await world.root.post(`/groups/${made.group['id']}/members`, {
    user_id: made.person.id,
    access_level: 10,
    member_role_id: role['id'],
  })
  const path = `/projects/${made.project['id']}/variables`
  for (const [admin_cicd_variables, status] of [
    [false, 403],
    [true, 200],
    [false, 403],
  ] as const) {
    expectStatus(await world.root.put(`/member_roles/${role['id']}`, { admin_cicd_variables }), 200)
    expect(await statusAt(path, made.person)).toBe(status)
  }
})

test('a project is made private', async () => {
  const made = await scene('public')
  expect(await statusAt(path.project(made), made.person)).toBe(200)
  await world.root.put(path.project(made), { visibility: 'private' })
  expect(await statusAt(path.project(made), made.person)).toBe(404)
})

test('a project is archived: what only reads stays, what writes ends', async () => {
  const made = await scene()
  await member(40)(made)
  const write = async () =>
    (
      await made.person.post(`${other.address}/api/v4${path.variables(made)}`, {
        key: world.unique('K').replace('-', '_'),
        value: 'value',
      })
    ).status
  expect(await write()).toBe(201)
  expect(await write()).toBe(201)
  const { writer } = world.service.services.db
  await sql`update projects set archived = true where id = ${made.project['id']}`.execute(writer)
  expect(await write()).toBe(403)
})

test('a group above is archived: what only reads stays, what writes ends, until it is back', async () => {
  const made = await scene()
  await member(50)(made)
  const write = async () =>
    (
      await made.person.put(`${other.address}/api/v4/groups/${made.below['id']}`, {
        description: world.unique('x'),
      })
    ).status
  const change = (act: string) => world.root.post(`/groups/${made.group['id']}/${act}`)
  expect([await write(), await write()]).toEqual([200, 200])
  expectStatus(await change('archive'), 200)
  expect([await write(), await statusAt(path.variables(made), made.person)]).toEqual([403, 200])
  expectStatus(await change('unarchive'), 200)
  expect(await write()).toBe(200)
})

test('a token is not kept alive by being known: its days are looked at each time', async () => {
  const made = await scene()
  await member(30)(made)
  expect(await statusAt(path.project(made), made.person)).toBe(200)
  const { writer } = world.service.services.db
  await sql`
    update personal_access_tokens set expires_at = (now() at time zone 'utc')::date
    where user_id = ${made.person.id}`.execute(writer)
  expect(await statusAt(path.project(made), made.person)).toBe(401)
})

test('nobody gets what another one may see', async () => {
  const made = await scene()
  await member(40)(made)
  expect(await statusAt(path.variables(made), made.person)).toBe(200)
  expect(await statusAt(path.variables(made), await world.user())).toBe(404)
  const narrow = await world.token(made.person.id, ['read_user'])
  const asked = await fetch(`${other.address}/api/v4${path.variables(made)}`, {
    headers: { 'private-token': narrow },
  })
  expect(asked.status).toBe(403)
})

function removeMember({ group, person }: Scene): Promise<unknown> {
  return world.root.delete(`/groups/${group['id']}/members/${person.id}`)
}

function removeFromProject({ project, person }: Scene): Promise<unknown> {
  return world.root.delete(`/projects/${project['id']}/members/${person.id}`)
}

/** Nothing is heard of the day of the database. */
function expire({ person }: Scene): Promise<unknown> {
  const { writer } = world.service.services.db
  return sql`update members set expires_at = (now() at time zone 'utc')::date where user_id = ${person.id}`.execute(
    writer,
  )
}

function block({ person }: Scene): Promise<unknown> {
  return world.root.post(`/users/${person.id}/block`, {})
}

function promote({ person }: Scene): Promise<unknown> {
  return world.root.put(`/users/${person.id}`, { admin: true })
}

function revoke({ person }: Scene): Promise<unknown> {
  return person.delete('/personal_access_tokens/self')
}

function remove(made: Scene): Promise<unknown> {
  return world.end(made)
}
