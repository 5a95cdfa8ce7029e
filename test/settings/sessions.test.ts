// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { startWorld, type Json, type World } from '../world/world.ts'
import { Browser } from './browser.ts'
import { during, set } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

const password = 'correct horse battery staple'
const person = (fields: Json = {}) => world.user({ force_random_password: undefined, password, ...fields })
const signedIn = async (browser: Browser) =>
  (await new Client(world.url, { cookie: browser.cookie }).get('/user')).status === 200

/** As if so many minutes had gone by since people signed in and had their accounts locked. */
async function pass(minutes: number): Promise<void> {
  const { writer } = world.service.services.db
  await sql`
    update user_sessions set expires_at = expires_at - make_interval(mins => ${minutes}),
      remembered_until = remembered_until - make_interval(mins => ${minutes}),
      enrol_by = enrol_by - make_interval(mins => ${minutes})`.execute(writer)
  await sql`update users set locked_until = locked_until - make_interval(mins => ${minutes})`.execute(writer)
}

test('session_expire_delay: an idle session ends after so many minutes', async () => {
  const { username } = await person()
  const [short, usual] = [new Browser(world), new Browser(world)]
  await during(world, { session_expire_delay: 5 }, async () => {
    await short.signIn(username, password)
    await pass(4)
    expect(await signedIn(short)).toBe(true)
    // That use was noted; the next is not, for a minute.
    await expect.poll(async () => (await pass(1), signedIn(short))).toBe(false)
  })
  await usual.signIn(username, password)
  await pass(600)
  expect(await signedIn(usual)).toBe(true)
})

test('session_expire_from_init: a session ends so many minutes after signing in, used or not', async () => {
  const { id, username } = await person()
  const { reader } = world.service.services.db
  const ends = async () => {
    const { rows } = await sql<{ minutes: number }>`
      select round(extract(epoch from max(s.expires_at) - now()) / 60)::int as minutes
      from user_sessions s where s.user_id = ${id}`.execute(reader)
    return rows[0]!.minutes
  }
  const [fixed, free] = [new Browser(world), new Browser(world)]
  await during(world, { session_expire_delay: 5, session_expire_from_init: true }, async () => {
    await fixed.signIn(username, password)
    await pass(4)
    expect(await signedIn(fixed)).toBe(true)
    await pass(2)
    expect(await signedIn(fixed)).toBe(false)
    await set(world, { session_expire_from_init: false })
    await free.signIn(username, password)
    await pass(4)
    expect(await signedIn(free)).toBe(true)
    await expect.poll(ends).toBe(5)
    await pass(2)
    expect(await signedIn(free)).toBe(true)
  })
})

test('remember_me_enabled: who wants to be remembered is, and no longer once it is off', async () => {
  const { username } = await person()
  const browser = new Browser(world)
  const { body } = await browser.signIn(username, password, { remember_me: '1' })
  expect(body['username']).toBe(username)
  await pass(3 * 24 * 60)
  expect(await signedIn(browser)).toBe(true)
  await during(world, { remember_me_enabled: false }, async () => {
    await pass(8 * 24 * 60)
    expect(await signedIn(browser)).toBe(false)
    const other = new Browser(world)
    await other.signIn(username, password, { remember_me: '1' })
    await pass(8 * 24 * 60)
    expect(await signedIn(other)).toBe(false)
  })
  const again = new Browser(world)
  await again.signIn(username, password, { remember_me: '1' })
  await pass(8 * 24 * 60)
  expect(await signedIn(again)).toBe(true)
})

test('after_sign_out_path: where people are sent who sign out', async () => {
  const { username } = await person()
  const out = async () => {
    const browser = new Browser(world)
    const { body } = await browser.signIn(username, password)
    const headers = { 'x-csrf-token': body['csrf_token'] as string }
    return (JSON.parse((await browser.post('/users/sign_out', {}, headers)).text) as Json)[
      'location'
    ] as string
  }
  await during(world, { after_sign_out_path: 'https://portal.example/bye' }, async () => {
    expect(await out()).toBe('https://portal.example/bye')
  })
  expect(await out()).toBe(`${world.url}/users/sign_in`)
})

test('require_admin_two_factor_authentication: administrators must set up a second factor in time', async () => {
  const [administrator, other] = [await person({ admin: true }), await person()]
  const values = { require_admin_two_factor_authentication: true, two_factor_grace_period: 1 }
  const browser = new Browser(world)
  await during(world, values, async () => {
    const { body } = await browser.signIn(administrator.username, password)
    expect(body['two_factor_setup_required']).toBe(true)
    expect(await signedIn(browser)).toBe(true)
    await pass(61)
    expect(await signedIn(browser)).toBe(false)
    expect(
      (await new Browser(world).signIn(other.username, password)).body['two_factor_setup_required'],
    ).toBe(false)
  })
  const { body } = await browser.signIn(administrator.username, password)
  expect(body['two_factor_setup_required']).toBe(false)
})

describe('failed_login_attempts_unlock_period_in_minutes', () => {
  const lock = async (username: string) => {
    for (const wrong of ['one', 'two', 'three']) await new Browser(world).signIn(username, wrong)
  }
  const opens = async (username: string) =>
    (await new Browser(world).signIn(username, password)).status === 200

  test.each([
    [2, true],
    [20, false],
  ])('%d: an account that was locked opens after 3 minutes: %s', async (minutes, open) => {
    const { username } = await person()
    const values = { max_login_attempts: 3, failed_login_attempts_unlock_period_in_minutes: minutes }
    await during(world, values, async () => {
      await lock(username)
      expect(await opens(username)).toBe(false)
      await pass(3)
      expect(await opens(username)).toBe(open)
    })
  })
})
