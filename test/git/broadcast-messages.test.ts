import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Copies } from './copies.ts'

let world: World
let copies: Copies
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  copies = await Copies.open(world)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const say = async (fields: Json): Promise<Json> =>
  expectStatus(await world.root.post('/broadcast_messages', fields), 201)

test('messages are said, changed, shown to everybody and taken back', async () => {
  const made = await say({ message: 'Back at **noon**', color: '#E75E40', target_access_levels: [30, 40] })
  expect(Object.keys(made).slice(-3)).toEqual(['dismissable', 'active', 'theme'])
  expect(made).toMatchObject({ active: true, broadcast_type: 'banner', dismissable: false, theme: 'indigo' })
  const path = `/broadcast_messages/${made['id'] as number}`
  expect((await world.anonymous.get(path)).body).toEqual(made)
  expect((await world.anonymous.get('/broadcast_messages')).body).toEqual([made])
  const later = { starts_at: '2100-01-01T00:00:00Z', ends_at: '2100-01-02T00:00:00Z' }
  expect((await world.root.put(path, later)).body).toMatchObject({
    active: false,
    message: 'Back at **noon**',
  })
  const wrong = await world.root.put(path, { color: 'red', broadcast_type: 'shout' })
  expect([wrong.status, wrong.body]).toEqual([
    400,
    { error: 'color is invalid, broadcast_type does not have a valid value' },
  ])
  expect((await world.root.delete(path)).status).toBe(204)
  const gone = await world.anonymous.get(path)
  expect([gone.status, gone.body]).toEqual([404, { message: '404 Broadcast Message Not Found' }])
})

test('who pushes is told the banners that are for him', async () => {
  const project = await world.project()
  const messages = [
    { message: 'For all' },
    { message: 'For guests', target_access_levels: [10] },
    { message: 'For this one', target_path: `/${project.path_with_namespace.slice(0, 4)}*` },
    { message: 'For another', target_path: 'another/*' },
    { message: 'No banner', broadcast_type: 'notification' },
    { message: 'No longer', ends_at: '2020-01-01T00:00:00Z' },
  ]
  const made = await Promise.all(messages.map(say))
  const folder = await copies.clone(project, world.root)
  await copies.commit(folder, 'a.txt')
  const { stderr } = await copies.try(folder, ['push', 'origin', 'HEAD:refs/heads/main'])
  expect(messages.map(({ message }) => message).filter((text) => stderr.includes(text))).toEqual([
    'For all',
    'For this one',
  ])
  for (const { id } of made) await world.root.delete(`/broadcast_messages/${id as number}`)
})
