import { afterAll, beforeAll, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** A group, one below it, and a project in each. */
async function tree() {
  const top = await world.group()
  const inner = await world.group({ parent_id: top.id })
  const project = await world.project({ namespace_id: inner.id })
  const owner = await world.member({ group: top }, 'owner')
  return { top, inner, project, owner }
}

const archived = async (by: Person, path: string) => ((await by.get(path)).body as Json)['archived']
const archive = (by: Person, group: Made) => by.post(`/groups/${group.id}/archive`)
const unarchive = (by: Person, group: Made) => by.post(`/groups/${group.id}/unarchive`)
const told = ({ status, body }: { status: number; body: unknown }) => [status, (body as Json)['message']]

test('a group rests with all that lies below it, and comes back with it', async () => {
  const { top, inner, project, owner } = await tree()
  const settled = await world.project({ namespace_id: inner.id })
  expectStatus(await owner.post(`/projects/${settled.id}/archive`), 201)
  const places = [`/groups/${top.id}`, `/groups/${inner.id}`, `/projects/${project.id}`]
  const states = () =>
    Promise.all([...places, `/projects/${settled.id}`].map((path) => archived(owner, path)))

  expect(await states()).toEqual([false, false, false, true])
  expect(expectStatus(await archive(owner, top), 200)).toMatchObject({ id: top.id, archived: true })
  expect(await states()).toEqual([true, true, true, true])
  const ids = async (query: string) =>
    rowsOf(await owner.get(`/groups?all_available=false&archived=${query}`)).map(({ id }) => id as number)
  expect(await ids('true')).toEqual(expect.arrayContaining([top.id, inner.id]))
  expect(await ids('false')).toEqual([])
  expect(rowsOf(await owner.get(`/groups/${top.id}/subgroups?archived=true`))).toHaveLength(1)
  expect(rowsOf(await owner.get(`/groups/${top.id}/projects?include_subgroups=true&archived=false`))).toEqual(
    [],
  )

  expect(expectStatus(await unarchive(owner, top), 200)).toMatchObject({ archived: false })
  expect(await states()).toEqual([false, false, false, true])
  expect(await ids('true')).toEqual([])
})

test('what rests is read, and nothing is written, also by administrators', async () => {
  const { top, inner, project, owner } = await tree()
  const elsewhere = await world.group({}, owner)
  const other = await world.project({ namespace_id: elsewhere.id }, owner)
  const someone = await world.user()
  // Entrances that are remembered are outdated.
  expectStatus(await owner.put(`/groups/${inner.id}`, { description: 'x' }), 200)
  expectStatus(await archive(owner, top), 200)
  const writes = (by: Person) =>
    Promise.all([
      by.put(`/groups/${top.id}`, { description: 'y' }),
      by.put(`/groups/${inner.id}`, { description: 'y' }),
      by.post(`/groups/${inner.id}/members`, { user_id: someone.id, access_level: 30 }),
      by.post(`/groups/${inner.id}/variables`, { key: 'A', value: 'b' }),
      by.post('/groups', { name: 'new', path: 'new', parent_id: inner.id }),
      by.post(`/groups/${inner.id}/transfer`, { group_id: elsewhere.id }),
      by.put(`/projects/${project.id}`, { description: 'y' }),
      by.post(`/projects/${project.id}/issues`, { title: 'x' }),
      by.put(`/projects/${project.id}/transfer`, { namespace: elsewhere.id }),
    ])
  for (const by of [owner, world.root]) {
    expect((await writes(by)).map(({ status }) => status)).toEqual(Array(9).fill(403))
  }
  expect((await owner.post('/projects', { name: 'new', namespace_id: inner.id })).status).toBe(400)
  expect((await owner.put(`/projects/${other.id}/transfer`, { namespace: inner.id })).status).toBe(400)
  expect((await owner.post(`/groups/${elsewhere.id}/transfer`, { group_id: top.id })).status).toBe(400)
  const locations = rowsOf(await owner.get(`/projects/${other.id}/transfer_locations`))
  expect(locations.map(({ id }) => id)).not.toContain(inner.id)
  await expect(pushFiles(world, project, { 'a.txt': 'a' })).rejects.toThrow('archived project')
  for (const path of [`/groups/${inner.id}`, `/groups/${inner.id}/members`, `/projects/${project.id}`]) {
    expect((await owner.get(path)).status).toBe(200)
  }

  expectStatus(await unarchive(owner, top), 200)
  expectStatus(await owner.put(`/groups/${inner.id}`, { description: 'z' }), 200)
  await pushFiles(world, project, { 'a.txt': 'a' })
})

test('who is tired of it leaves, and it can be deleted', async () => {
  const { top, inner, owner } = await tree()
  const guest = await world.member({ group: inner }, 'guest')
  expectStatus(await archive(owner, top), 200)
  expect((await guest.delete(`/groups/${inner.id}/members/${guest.id}`)).status).toBe(204)
  expect((await owner.delete(`/groups/${inner.id}`)).status).toBe(202)
  expect((await owner.post(`/groups/${inner.id}/restore`)).status).toBe(201)
})

test('what can not be archived or brought back by itself is told', async () => {
  const { top, inner, project, owner } = await tree()
  expect(told(await unarchive(owner, top))).toEqual([422, 'Group is already unarchived!'])
  expectStatus(await archive(owner, inner), 200)
  expectStatus(await archive(owner, top), 200)
  expect(told(await archive(owner, top))).toEqual([422, 'Group is already archived!'])
  expect(told(await unarchive(owner, inner))).toEqual([
    422,
    'Cannot unarchive group since one of the ancestor groups is archived!',
  ])
  expect(told(await owner.post(`/projects/${project.id}/unarchive`))).toEqual([
    400,
    'Cannot unarchive project since one of the ancestor groups is archived!',
  ])
  // The group below was archived by itself and stays so, with what lies in it.
  expectStatus(await unarchive(owner, top), 200)
  expect(await archived(owner, `/projects/${project.id}`)).toBe(true)
  const below = await world.group({ parent_id: top.id })
  expectStatus(await unarchive(owner, inner), 200)
  expect(await archived(owner, `/projects/${project.id}`)).toBe(false)
  expectStatus(await archive(owner, top), 200)
  expect(told(await archive(owner, below))).toEqual([
    422,
    'Cannot archive group since one of the ancestor groups is already archived!',
  ])
})

test('is for Owners', async () => {
  const { top } = await tree()
  const maintainer = await world.member({ group: top }, 'maintainer')
  const stranger = await world.user()
  expect([
    (await archive(maintainer, top)).status,
    (await unarchive(maintainer, top)).status,
    (await archive(stranger, top)).status,
    (await world.anonymous.post(`/groups/${top.id}/archive`)).status,
  ]).toEqual([403, 403, 404, 401])
})
