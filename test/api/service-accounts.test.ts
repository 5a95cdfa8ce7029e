import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client } from '../world/client.ts'
import { Mailbox } from '../world/mailbox.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let mailbox: Mailbox
beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SMTP_URL: mailbox.url })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const as = (token: Json): Client => new Client(world.url, { 'private-token': token['token'] as string })

describe('of the instance', () => {
  test('are made with and without names, listed, changed, and act by tokens with the memberships they are given', async () => {
    const plain = expectStatus(await world.root.post('/service_accounts'), 201)
    expect(plain).toEqual({
      id: plain['id'],
      username: expect.stringMatching(/^service_account_[0-9a-f]{32}$/) as string,
      name: 'Service account user',
      email: `${plain['username'] as string}@noreply.${new URL(world.url).hostname}`,
    })
    const robot = expectStatus(
      await world.root.post('/service_accounts', {
        username: 'robot',
        name: 'Robot',
        email: 'robot@example.com',
      }),
      201,
    )
    const list = async (query: string) =>
      rowsOf(await world.root.get(`/service_accounts?${query}`)).map(({ id }) => id as number)
    expect(await list('')).toEqual([robot['id'], plain['id']])
    expect(await list('order_by=username&sort=asc')).toEqual([robot['id'], plain['id']])
    expect(
      expectStatus(
        await world.root.patch(`/service_accounts/${robot['id'] as number}`, { username: 'robot-2' }),
        200,
      ),
    ).toEqual({ ...robot, username: 'robot-2' })
    expect(
      (await world.root.patch(`/service_accounts/${(await world.user()).id}`, { name: 'x' })).status,
    ).toBe(404)

    const group = await world.group()
    expectStatus(
      await world.root.post(`/groups/${group.id}/members`, { user_id: robot['id'], access_level: 30 }),
      201,
    )
    const token = expectStatus(
      await world.root.post(`/users/${robot['id'] as number}/personal_access_tokens`, {
        name: 't',
        scopes: ['api'],
        expires_at: day(10),
      }),
      201,
    )
    expect(bodyOf(await as(token).get('/user'))).toMatchObject({ username: 'robot-2', bot: true })
    expect((await as(token).get(`/groups/${group.id}`)).status).toBe(200)
    expect((await as(token).post('/groups', { name: 'no', path: 'no-group-of-robots' })).status).toBe(403)
    // It takes no seat.
    expect(rowsOf(await world.root.get(`/groups/${group.id}/billable_members`))).toHaveLength(1)
  })

  test('take no names and addresses of others', async () => {
    const { username } = await world.user()
    for (const [fields, field] of [
      [{ username }, 'username'],
      [{ email: `${username}@example.com` }, 'email'],
      [{ username: '-x' }, 'username'],
      [{ email: 'nowhere' }, 'email'],
    ] as const) {
      const reply = await world.root.post('/service_accounts', fields)
      expect([reply.status, Object.keys(bodyOf(reply)['message'] as Json)]).toEqual([400, [field]])
    }
  })
})

describe('of a group', () => {
  test('its Owners make them, give them tokens, rotate and revoke those, and delete them', async () => {
    const owner = await world.user()
    const group = await world.group({}, owner)
    const accounts = `/groups/${group.id}/service_accounts`
    const made = expectStatus(await owner.post(accounts, { name: 'Deployer' }), 201)
    expect(made).toMatchObject({ name: 'Deployer' })
    expect(made['username']).toMatch(new RegExp(`^service_account_group_${group.id}_`))
    expect(rowsOf(await owner.get(accounts))).toEqual([made])
    const one = `${accounts}/${made['id'] as number}`
    expect(expectStatus(await owner.patch(one, { name: 'Robot' }), 200)).toMatchObject({ name: 'Robot' })

    const tokens = `${one}/personal_access_tokens`
    const token = expectStatus(
      await owner.post(tokens, { name: 't', scopes: ['api'], expires_at: day(10) }),
      201,
    )
    // It is no member of the group, and as a machine of it sees internal projects as a member only.
    expect((await as(token).get(`/groups/${group.id}`)).status).toBe(404)
    const internal = await world.project({ visibility: 'internal' })
    expect((await as(token).get(`/projects/${internal.id}`)).status).toBe(404)
    const rotated = expectStatus(await owner.post(`${tokens}/${token['id'] as number}/rotate`), 200)
    expect((await as(token).get('/user')).status).toBe(401)
    const again = expectStatus(
      await owner.post(tokens, { name: 'u', scopes: ['read_api'], expires_at: day(10) }),
      201,
    )
    expect((await as(again).get('/user')).status).toBe(200)
    expect(rowsOf(await owner.get(`${tokens}?state=active`)).map(({ name }) => name as string)).toEqual([
      't',
      'u',
    ])
    expect((await owner.delete(`${tokens}/${again['id'] as number}`)).status).toBe(204)
    expect((await owner.delete(`${tokens}/${again['id'] as number}`)).status).toBe(400)
    expect(rotated).toMatchObject({ name: 't', expires_at: day(7), active: true })

    expect((await owner.delete(one)).status).toBe(204)
    expect((await owner.delete(one)).status).toBe(404)
    expect((await world.root.get(`/users/${made['id'] as number}`)).status).toBe(404)
  })

  test('live in top-level groups, and are nobody else’s', async () => {
    const group = await world.group()
    const below = await world.group({ parent_id: group.id })
    expect((await world.root.post(`/groups/${below.id}/service_accounts`)).status).toBe(400)
    expect((await world.root.get(`/groups/${below.id}/service_accounts`)).status).toBe(400)
    const made = expectStatus(await world.root.post(`/groups/${group.id}/service_accounts`), 201)
    const owner = await world.user()
    const other = await world.group({}, owner)
    const foreign = `/groups/${other.id}/service_accounts/${made['id'] as number}`
    const token = { name: 't', scopes: ['api'], expires_at: day(10) }
    const replies = await Promise.all([
      owner.patch(foreign, { name: 'x' }),
      owner.delete(foreign),
      owner.get(`${foreign}/personal_access_tokens`),
      owner.post(`${foreign}/personal_access_tokens`, token),
      owner.post(`/groups/${other.id}/service_accounts/${owner.id}/personal_access_tokens`, token),
    ])
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  })

  test('go with their group', async () => {
    const group = await world.group()
    const made = expectStatus(await world.root.post(`/groups/${group.id}/service_accounts`), 201)
    const token = expectStatus(
      await world.root.post(
        `/groups/${group.id}/service_accounts/${made['id'] as number}/personal_access_tokens`,
        {
          name: 't',
          scopes: ['api'],
          expires_at: day(10),
        },
      ),
      201,
    )
    await world.end({ group })
    expect((await as(token).get('/user')).status).toBe(401)
  })
})

test('an address that is not the group’s has to be confirmed, and takes up no invitation', async () => {
  const [owner, place] = [await world.user(), await world.group()]
  const group = await world.group({}, owner)
  const email = 'deploy@elsewhere.example'
  expectStatus(await world.root.post(`/groups/${place.id}/invitations`, { email, access_level: 50 }), 201)
  await during(world, { email_confirmation_setting: 'hard' }, async () => {
    const made = expectStatus(await owner.post(`/groups/${group.id}/service_accounts`, { email }), 201)
    expect(made).toMatchObject({ email, unconfirmed_email: email })
    const [, mail] = await mailbox.to(email, 2)
    expect(mail!.text).toContain('/users/confirmation?confirmation_token=')
    expect(rowsOf(await world.root.get(`/groups/${place.id}/members`))).toHaveLength(1)
    expectStatus(
      await world.root.put(`/groups/${group.id}/verified_domains`, { domains: ['own.example'] }),
      200,
    )
    const own = expectStatus(
      await owner.post(`/groups/${group.id}/service_accounts`, { email: 'deploy@own.example' }),
      201,
    )
    expect(own['unconfirmed_email']).toBeUndefined()
  })
})

test('service_access_tokens_expiration_enforced: without it tokens of service accounts need no end', async () => {
  const group = await world.group()
  const made = expectStatus(await world.root.post(`/groups/${group.id}/service_accounts`), 201)
  const tokens = `/groups/${group.id}/service_accounts/${made['id'] as number}/personal_access_tokens`
  const end = async (expires_at?: string) =>
    bodyOf(await world.root.post(tokens, { name: 't', scopes: ['api'], ...(expires_at && { expires_at }) }))
  expect((await end())['expires_at']).toBe(day(365))
  expect((await end(day(400)))['message']).toMatch(/^Expiration date must be before/)
  await during(world, { service_access_tokens_expiration_enforced: false }, async () => {
    expect((await end())['expires_at']).toBeNull()
    expect((await end(day(400)))['expires_at']).toBe(day(400))
    const person = await world.user()
    const own = await world.root.post(`/users/${person.id}/personal_access_tokens`, {
      name: 't',
      scopes: ['api'],
    })
    expect(bodyOf(own)['expires_at']).toBe(day(365))
  })
  expect((await end())['expires_at']).toBe(day(365))
})
