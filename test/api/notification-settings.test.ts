import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

test('the account has a level and an address, places inherit until they are told otherwise', async () => {
  const person = await world.user()
  const email = `${person.username}@example.com`
  expect(bodyOf(await person.get('/notification_settings'))).toEqual({
    level: 'participating',
    notification_email: email,
  })
  const project = await world.project({ visibility: 'public' })
  const group = await world.group({ visibility: 'public' })
  for (const place of [`/projects/${project.id}`, `/groups/${group.id}`]) {
    const path = `${place}/notification_settings`
    expect(bodyOf(await person.get(path))).toEqual({ level: 'global' })
    expect(expectStatus(await person.put(path, { level: 'watch' }), 200)).toEqual({ level: 'watch' })
    expect(bodyOf(await person.get(path))).toEqual({ level: 'watch' })
  }
  // Everybody has his own.
  expect(bodyOf(await world.root.get(`/projects/${project.id}/notification_settings`))).toEqual({
    level: 'global',
  })
})

test('custom chooses single events, and remembers them', async () => {
  const person = await world.user()
  const custom = expectStatus(
    await person.put('/notification_settings', { level: 'custom', new_note: true }),
    200,
  )
  expect(custom).toMatchObject({
    level: 'custom',
    events: { new_note: true, close_issue: false, failed_pipeline: true },
  })
  expectStatus(await person.put('/notification_settings', { level: 'mention' }), 200)
  expect(bodyOf(await person.get('/notification_settings'))).not.toHaveProperty('events')
  const again = expectStatus(await person.put('/notification_settings', { level: 'custom' }), 200)
  expect(again).toMatchObject({ events: { new_note: true } })
})

test('what cannot be is refused', async () => {
  const person = await world.user()
  const other = await world.user()
  const path = '/notification_settings'
  for (const body of [
    {},
    { level: 'global' },
    { level: 'loud' },
    { new_note: 'perhaps' },
    { notification_email: `${other.username}@example.com` },
  ]) {
    expect((await person.put(path, body)).status).toBe(400)
  }
  const project = await world.project()
  expect((await person.get(`/projects/${project.id}/notification_settings`)).status).toBe(404)
})
