import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/kernel/db/index.ts'
import { startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('the list has the own namespace and the groups one is a member of', async () => {
  const group = await world.group({ visibility: 'public' })
  const inner = await world.group({ parent_id: group.id })
  await world.group({ visibility: 'public' })
  const person = await world.member({ group }, 'developer')
  const listed = (await person.get('/namespaces')).body as Json[]
  expect(listed.map(({ kind, full_path }) => [kind, full_path] as unknown)).toEqual([
    ['group', group.full_path],
    ['group', inner.full_path],
    ['user', person.username],
  ])
  expect(listed[0]).not.toHaveProperty('members_count_with_descendants')
  expect((await person.get('/namespaces?owned_only=true')).body).toHaveLength(1)
  expect((await person.get('/namespaces?top_level_only=true')).body).toHaveLength(2)
  expect((await person.get(`/namespaces?search=${inner.path}`)).body).toHaveLength(1)
  expect((await person.get(`/namespaces?search=${group.path}%2F&full_path_search=true`)).body).toHaveLength(1)
  expect((await world.anonymous.get('/namespaces')).status).toBe(401)
})

test('one is found by id or path, by members and administrators', async () => {
  const group = await world.group({ visibility: 'public' })
  const owner = await world.member({ group }, 'owner')
  const found = await owner.get(`/namespaces/${group.path}`)
  expect(found.body).toEqual({
    id: group.id,
    name: group.name,
    path: group.path,
    kind: 'group',
    full_path: group.full_path,
    parent_id: null,
    avatar_url: null,
    web_url: group.web_url,
    members_count_with_descendants: 2,
    billable_members_count: 2,
    max_seats_used: 2,
    seats_in_use: 2,
    plan: 'ultimate',
    trial: false,
    trial_ends_on: null,
  })
  expect((await world.root.get(`/namespaces/${group.id}`)).body).toMatchObject({
    projects_count: 0,
    root_repository_size: 0,
  })
  const inner = await world.group({ parent_id: group.id })
  await world.member({ group: inner }, 'developer')
  await world.member({ group: inner }, 'guest')
  // On the top plan guests are free.
  expect((await owner.get(`/namespaces/${group.id}`)).body).toMatchObject({ billable_members_count: 3 })
  const below = (await world.root.get(`/namespaces/${inner.id}`)).body as Json
  expect([below['billable_members_count'], below['seats_in_use'], below['root_repository_size']]).toEqual([
    // Whoever made it, and the developer.
    2,
    undefined,
    null,
  ])
  const guest = await world.member({ group }, 'guest')
  expect((await guest.get(`/namespaces/${group.id}`)).body).not.toHaveProperty('billable_members_count')
  expect((await owner.get(`/namespaces/${owner.username}`)).body).toMatchObject({
    kind: 'user',
    path: owner.username,
  })
  const stranger = await world.user()
  const hidden = await stranger.get(`/namespaces/${group.id}`)
  expect([hidden.status, hidden.body]).toEqual([404, { message: '404 Namespace Not Found' }])
  expect((await stranger.get('/namespaces/999999')).status).toBe(404)
})

test('whether a path is in use is told twenty times a minute', async () => {
  const person = await world.user()
  const ask = () => person.get('/namespaces/nothing-like-it/exists')
  for (let time = 0; time < 20; time += 1) expect((await ask()).status).toBe(200)
  const refused = await ask()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
})

test('a path in use is told, with one that is free', async () => {
  const group = await world.group()
  await world.group({ path: `${group.path}1` })
  const inner = await world.group({ parent_id: group.id, path: 'inner' })
  const person = await world.user()
  const ask = async (path: string) => (await person.get(`/namespaces/${path}`)).body as unknown
  expect(await ask(`${group.path.toUpperCase()}/exists`)).toEqual({
    exists: true,
    suggests: [`${group.path.toUpperCase()}2`],
  })
  expect(await ask('nothing-like-it/exists')).toEqual({ exists: false, suggests: [] })
  expect(await ask(`${inner.path}/exists`)).toEqual({ exists: false, suggests: [] })
  // What lies in a group that one may not see is not told.
  expect(await ask(`${inner.path}/exists?parent_id=${group.id}`)).toEqual({
    exists: false,
    suggests: [],
  })
  const member = await world.member({ group }, 'guest')
  expect((await member.get(`/namespaces/inner/exists?parent_id=${group.id}`)).body).toEqual({
    exists: true,
    suggests: ['inner1'],
  })
  expect((await person.get('/namespaces/x/exists?parent_id=x')).body).toEqual({
    error: 'parent_id is invalid',
  })
})

test('the most seats that were in use are remembered', async () => {
  const group = await world.group()
  const developer = await world.member({ group }, 'developer')
  const seats = async (): Promise<unknown[]> => {
    const { max_seats_used, seats_in_use } = (await world.root.get(`/namespaces/${group.id}`)).body as Json
    return [max_seats_used, seats_in_use]
  }
  expect(await seats()).toEqual([2, 2])
  await sql`select graphile_worker.add_job('namespaces:count-seats')`.execute(
    world.service.services.db.writer,
  )
  await world.settled()
  expect((await world.root.delete(`/groups/${group.id}/members/${developer.id}`)).status).toBe(204)
  expect(await seats()).toEqual([2, 1])
  await world.member({ group }, 'developer')
  await world.member({ group }, 'developer')
  expect(await seats()).toEqual([3, 3])
})
