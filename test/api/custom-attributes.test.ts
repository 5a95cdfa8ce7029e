import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
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
