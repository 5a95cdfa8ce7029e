import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

test.each(['users', 'groups', 'projects'] as const)('custom attributes of %s', async (kind) => {
  const made = {
    users: () => world.user(),
    groups: () => world.group(),
    projects: () => world.project(),
  }
  const { id } = await made[kind]()
  const path = `/${kind}/${id}/custom_attributes`
  const { root } = world
  expect(rowsOf(await root.get(path))).toEqual([])
  expect((await root.get(`${path}/cost.centre`)).status).toBe(404)
  expect(bodyOf(await root.put(`${path}/cost.centre`, { value: '17' }))).toEqual({
    key: 'cost.centre',
    value: '17',
  })
  expect(bodyOf(await root.put(`${path}/cost.centre`, { value: '18' }))['value']).toBe('18')
  await root.put(`${path}/team`, { value: 'blue' })
  expect(rowsOf(await root.get(path))).toEqual([
    { key: 'cost.centre', value: '18' },
    { key: 'team', value: 'blue' },
  ])
  expect(bodyOf(await root.get(`${path}/team`))).toEqual({ key: 'team', value: 'blue' })
  expect((await root.put(`${path}/team`)).status).toBe(400)
  expect((await root.delete(`${path}/team`)).status).toBe(204)
  expect((await root.delete(`${path}/team`)).status).toBe(404)
  const nobody = `/${kind}/999999/custom_attributes`
  expect((await root.get(nobody)).status).toBe(404)
  expect((await root.put(`${nobody}/team`, { value: 'x' })).status).toBe(404)
})

test('administrators list users with their custom attributes, and those that have some', async () => {
  const { root } = world
  const [blue, red] = [await world.user(), await world.user()]
  const [key, team] = [world.unique('site'), 'team.name']
  const note = (id: number, name: string, value: string) =>
    root.put(`/users/${id}/custom_attributes/${name}`, { value })
  await note(blue.id, key, 'north')
  await note(red.id, key, 'north')
  await note(blue.id, team, 'blue')
  const idsOf = async (caller: Person, query: string): Promise<unknown[]> =>
    rowsOf(await caller.get(`/users?sort=asc&${query}`)).map(({ id }) => id)
  expect(await idsOf(root, `custom_attributes[${key}]=north`)).toEqual([blue.id, red.id])
  expect(await idsOf(root, `custom_attributes[${key}]=north&custom_attributes[${team}]=blue`)).toEqual([
    blue.id,
  ])
  expect(await idsOf(root, `custom_attributes[${key}]=south`)).toEqual([])
  expect(await idsOf(root, 'custom_attributes=')).toContain(red.id)
  expect((await root.get('/users?custom_attributes=north')).status).toBe(400)
  const long = 'x'.repeat(10_000)
  await note(red.id, 'long', long)
  expect((await root.get(`/users/${red.id}/custom_attributes/long`)).body).toEqual({
    key: 'long',
    value: long,
  })
  const listed = rowsOf(await root.get(`/users?username=${blue.username}&with_custom_attributes=true`))
  expect(listed[0]!['custom_attributes']).toEqual([
    { key, value: 'north' },
    { key: team, value: 'blue' },
  ])
  const plain = rowsOf(await root.get(`/users?username=${blue.username}`))
  expect(plain[0]).not.toHaveProperty('custom_attributes')
  const one = `/users/${red.id}?with_custom_attributes=true`
  expect(bodyOf(await root.get(one))['custom_attributes']).toContainEqual({ key, value: 'north' })
  expect(bodyOf(await root.get(`/users/${red.id}`))).not.toHaveProperty('custom_attributes')
  // Others are told nothing by it.
  expect(bodyOf(await blue.get(one))).not.toHaveProperty('custom_attributes')
  const others = `username=${red.username}&custom_attributes[${key}]=south&with_custom_attributes=true`
  const [shown] = rowsOf(await blue.get(`/users?${others}`))
  expect(shown).toMatchObject({ id: red.id })
  expect(shown).not.toHaveProperty('custom_attributes')
})

test.each(['groups', 'projects'] as const)('administrators filter %s by custom attributes', async (kind) => {
  const { root } = world
  const make = () => (kind === 'groups' ? world.group() : world.project())
  const [north, south] = [await make(), await make()]
  const key = world.unique('site')
  for (const [made, value] of [
    [north, 'north'],
    [south, 'south'],
  ] as const)
    await root.put(`/${kind}/${made.id}/custom_attributes/${key}`, { value })
  const query = `custom_attributes[${key}]=north`
  const [found, ...others] = rowsOf(await root.get(`/${kind}?${query}&with_custom_attributes=true`))
  expect([found!['id'], found!['custom_attributes'], others]).toEqual([
    north.id,
    [{ key, value: 'north' }],
    [],
  ])
  expect(rowsOf(await root.get(`/${kind}?${query}`))[0]).not.toHaveProperty('custom_attributes')
  expect(bodyOf(await root.get(`/${kind}/${north.id}?with_custom_attributes=true`))).toMatchObject({
    custom_attributes: [{ key, value: 'north' }],
  })
  const member = await world.user()
  for (const { id } of [north, south])
    await root.post(`/${kind}/${id}/members`, { user_id: member.id, access_level: 30 })
  const told = rowsOf(await member.get(`/${kind}?order_by=id&sort=asc&${query}&with_custom_attributes=true`))
  expect(told.map(({ id }) => id as number)).toEqual([north.id, south.id])
  expect(told[0]).not.toHaveProperty('custom_attributes')
  const one = bodyOf(await member.get(`/${kind}/${north.id}?with_custom_attributes=true`))
  expect(one).not.toHaveProperty('custom_attributes')
})
