import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

const flag = 'ci_inputs_for_pipelines'
const say = (fields: object, name = flag) => world.root.post(`/features/${name}`, fields)

test('a feature is on for everybody, for some, or for a share, until that is forgotten', async () => {
  const project = await world.project()
  const user = await world.user()
  const { settings } = world.service.services
  expect((await world.root.get('/features/definitions')).body).toContainEqual(
    expect.objectContaining({ name: flag, default_enabled: false }),
  )
  const some = expectStatus(
    await say({ value: true, project: project.path_with_namespace, user: user.username }),
    201,
  )
  expect(some).toMatchObject({
    name: flag,
    state: 'conditional',
    gates: [
      { key: 'boolean', value: false },
      { key: 'actors', value: [`User:${user.id}`, `Project:${project.id}`] },
    ],
    definition: { name: flag },
  })
  expect(settings.isOn(flag, `Project:${project.id}`)).toBe(true)
  expect(settings.isOn(flag, `Project:${project.id + 1}`)).toBe(false)
  await say({ value: 'false', user: user.username })
  expect(settings.isOn(flag, `User:${user.id}`)).toBe(false)

  expect((await say({ value: 30, key: 'percentage_of_actors' })).body.gates).toContainEqual({
    key: 'percentage_of_actors',
    value: 30,
  })
  expect((await say({ value: true })).body.state).toBe('on')
  expect((await world.root.get('/features')).body).toMatchObject([{ name: flag, state: 'on' }])
  expect((await say({ value: false })).body).toMatchObject({ state: 'off' })
  expect((await world.root.delete(`/features/${flag}`)).status).toBe(204)
  expect((await world.root.get('/features')).body).toEqual([])
})

test('what cannot be said is refused', async () => {
  expect((await say({ value: true }, 'no_such_feature')).status).toBe(400)
  expect((await say({ value: true, force: true }, 'no_such_feature')).body).toMatchObject({
    definition: null,
  })
  expect((await say({ value: true, user: 'nobody-at-all' })).body).toEqual({
    message: '400 Bad request - User nobody-at-all is not found!',
  })
  expect((await say({ value: 10, key: 'percentage_of_time', project: 'a/b' })).body).toEqual({
    error: 'key, project are mutually exclusive',
  })
  expect((await say({ value: 101 })).status).toBe(400)
  expect((await say({})).body).toEqual({ error: 'value is missing' })
})

test('the plan is told as a license, and how much there is with separators', async () => {
  expect((await world.root.get('/license')).body).toMatchObject({ plan: 'ultimate', expired: false })
  const free = await world.sibling({ PLAN: 'free' })
  const answer = await fetch(`${free.address}/api/v4/license`, { headers: world.root.headers })
  expect([answer.status, await answer.text()]).toEqual([200, 'null'])
  expect((await world.root.get('/application/statistics')).body).toMatchObject({
    users: expect.stringMatching(/^\d/) as string,
    forks: '0',
  })
})
