// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Browser } from './browser.ts'
import { during, set } from './effects.ts'
import { publicKeyOf, type KeyKind } from './keys.ts'

let world: World
let user: Person
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  user = await world.user()
})
afterAll(() => world[Symbol.asyncDispose]())

const newUser = (fields: Json) => {
  const username = world.unique('new')
  return world.root.post('/users', {
    username,
    name: username,
    email: `${username}@example.com`,
    force_random_password: true,
    ...fields,
  })
}

describe('passwords', () => {
  test.each([
    ['password_number_required', 'number', 'long-enough-Words', 'long-enough-Words1'],
    ['password_symbol_required', 'symbol', 'longEnoughWords1', 'longEnoughWords1!'],
    ['password_uppercase_required', 'uppercase letter', 'long-enough-words1', 'long-Enough-words1'],
    ['password_lowercase_required', 'lowercase letter', 'LONG-ENOUGH-WORDS1', 'LONG-eNOUGH-WORDS1'],
  ])('%s asks for one %s', async (setting, kind, without, having) => {
    const withPassword = (password: string) => newUser({ password, force_random_password: false })
    await during(world, { [setting]: true }, async () => {
      const refused = await withPassword(without)
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: { password: [`requires at least one ${kind}`] } },
      ])
      expectStatus(await withPassword(having), 201)
    })
    expectStatus(await withPassword(without), 201)
  })

  test('password_authentication_enabled_for_git: without it git over HTTP takes tokens only', async () => {
    const password = 'a-Password-of-42-people'
    const made = expectStatus(await newUser({ password, force_random_password: false }), 201)
    const project = await world.project({ visibility: 'private' })
    await world.root.post(`/projects/${project.id}/members`, { user_id: made['id'], access_level: 30 })
    const fetchWith = async (secret: string) => {
      const address = `${world.url}/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`
      const authorization = `Basic ${Buffer.from(`${made['username'] as string}:${secret}`).toString('base64')}`
      return (await fetch(address, { headers: { authorization } })).status
    }
    const token = await world.token(made['id'] as number, ['read_repository'])
    await during(world, { password_authentication_enabled_for_git: false }, async () => {
      expect(await fetchWith(password)).toBe(401)
      expect(await fetchWith(token)).toBe(200)
    })
    expect(await fetchWith(password)).toBe(200)
  })
})

describe('tokens', () => {
  test('disable_personal_access_tokens ends those of people, and no call with one takes it back', async () => {
    const password = 'correct horse battery staple'
    const { username } = await world.user({ admin: true, force_random_password: undefined, password })
    const browser = new Browser(world)
    const { body } = await browser.signIn(username, password)
    const headers = { cookie: browser.cookie, 'x-csrf-token': body['csrf_token'] as string }
    const administrator = new Client(world.url, headers)
    await during(world, { disable_personal_access_tokens: true }, async () => {
      expect((await user.get('/user')).body).toEqual({ message: '401 Unauthorized' })
      expect((await world.root.put('/application/settings', { first_day_of_week: 1 })).status).toBe(401)
      // Who is signed in as an administrator still reads and changes them.
      expect((await administrator.get('/application/settings')).status).toBe(200)
      const back = await administrator.put('/application/settings', { disable_personal_access_tokens: false })
      expect(back.status).toBe(200)
      expect((await user.get('/user')).status).toBe(200)
    })
    expect((await user.get('/user')).status).toBe(200)
  })

  test('max_personal_access_token_lifetime is the longest life of a new one, and gives each an end', async () => {
    const make = (fields: Json) =>
      world.root.post(`/users/${user.id}/personal_access_tokens`, {
        name: 'x',
        scopes: ['api'],
        ...fields,
      })
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const values = { max_personal_access_token_lifetime: 10, require_personal_access_token_expiry: false }
    await during(world, values, async () => {
      expect((await make({ expires_at: day(12) })).body).toEqual({
        message: `Expiration date must be before ${day(10)}`,
      })
      expect(expectStatus(await make({}), 201)['expires_at']).toBe(day(10))
    })
    expectStatus(await make({ expires_at: day(12) }), 201)
  })

  test('personal_access_token_prefix begins new tokens; tokens there are go on', async () => {
    await during(world, { personal_access_token_prefix: 'own-' }, async () => {
      expect(await world.token(user.id, ['api'])).toMatch(/^own-/)
      expect((await user.get('/user')).status).toBe(200)
    })
    expect(await world.token(user.id, ['api'])).not.toMatch(/^own-/)
  })

  test('require_personal_access_token_expiry off: a token without an end', async () => {
    const make = async () =>
      expectStatus(
        await world.root.post(`/users/${user.id}/personal_access_tokens`, { name: 'x', scopes: ['api'] }),
        201,
      )['expires_at'] as unknown
    await during(world, { require_personal_access_token_expiry: false }, async () => {
      expect(await make()).toBeNull()
    })
    expect(await make()).toMatch(/^\d{4}-/)
  })
})

describe('new users', () => {
  const made = async (fields: Json = {}) => expectStatus(await newUser(fields), 201)

  test.each<[setting: string, value: unknown, field: string, usual: unknown]>([
    ['default_projects_limit', 3, 'projects_limit', 100_000],
    ['can_create_group', false, 'can_create_group', true],
    ['user_default_external', true, 'external', false],
    ['user_defaults_to_private_profile', true, 'private_profile', false],
  ])('%s: a user made meanwhile has it, and keeps it', async (setting, value, field, usual) => {
    let id = 0
    await during(world, { [setting]: value }, async () => {
      const during = await made()
      id = during['id'] as number
      expect(during[field]).toBe(value)
    })
    expect((await world.root.get(`/users/${id}`)).body[field]).toBe(value)
    expect((await made())[field]).toBe(usual)
  })

  test('user_default_internal_regex: a matching address makes the user internal', async () => {
    const values = { user_default_external: true, user_default_internal_regex: '@inside\\.example$' }
    await during(world, values, async () => {
      expect((await made({ email: `${world.unique('x')}@INSIDE.example` }))['external']).toBe(false)
      expect((await made())['external']).toBe(true)
      await set(world, { user_default_internal_regex: '' })
      expect((await made({ email: `${world.unique('x')}@inside.example` }))['external']).toBe(true)
    })
  })

  test('allow_project_creation_for_guest_and_below: without it guests make no groups or projects of their own', async () => {
    const guest = await world.user()
    const developer = await world.member({ group: await world.group() }, 'developer')
    const make = (who: Person) => {
      const name = world.unique('made')
      return Promise.all([who.post('/groups', { name, path: name }), who.post('/projects', { name })])
    }
    await during(world, { allow_project_creation_for_guest_and_below: false }, async () => {
      expect((await make(guest)).map(({ status }) => status)).toEqual([403, 403])
      expect((await make(developer)).map(({ status }) => status)).toEqual([201, 201])
    })
    expect((await make(guest)).map(({ status }) => status)).toEqual([201, 201])
  })
})

describe('keys', () => {
  test.each([
    ['rsa_key_restriction', 4096, 'rsa', ['must be at least 4096 bits']],
    ['ed25519_key_restriction', -1, 'ed25519', [expect.stringMatching(/^type is forbidden. Must be RSA, /)]],
    ['ecdsa_key_restriction', 521, 'ecdsa', ['must be at least 521 bits']],
    ['dsa_key_restriction', 2048, 'dsa', ['must be at least 2048 bits']],
    [
      'ecdsa_sk_key_restriction',
      -1,
      'ecdsa_sk',
      [expect.stringMatching(/^type is forbidden. Must be RSA, /)],
    ],
    ['ed25519_sk_key_restriction', -1, 'ed25519_sk', [expect.stringMatching(/^type is forbidden. Must be /)]],
  ] as [setting: string, value: number, type: KeyKind, texts: unknown[]][])(
    '%s %d refuses a new one that breaks it',
    async (setting, value, type, texts) => {
      const add = async () => user.post('/user/keys', { title: world.unique('key'), key: publicKeyOf(type) })
      await during(world, { [setting]: value }, async () => {
        const refused = await add()
        expect([refused.status, refused.body]).toEqual([400, { message: { key: texts } }])
      })
      expectStatus(await add(), 201)
    },
  )

  test.each([
    [['dsa', 'ecdsa', 'ecdsa_sk', 'ed25519_sk'], 'RSA'],
    [['dsa', 'ecdsa_sk', 'ed25519_sk'], 'RSA or ECDSA'],
    [['dsa', 'ecdsa', 'ecdsa_sk'], 'RSA or ED25519_SK'],
    [['dsa', 'ecdsa_sk'], 'RSA, ECDSA, or ED25519_SK'],
  ])('with %j forbidden besides, a forbidden one is told which are not: %s', async (forbidden, others) => {
    const values = Object.fromEntries(
      ['ed25519', ...forbidden].map((type) => [`${type}_key_restriction`, -1]),
    )
    await during(world, values, async () => {
      const { body } = await user.post('/user/keys', { title: 'key', key: publicKeyOf('ed25519') })
      expect(body).toEqual({ message: { key: [`type is forbidden. Must be ${others}`] } })
    })
  })

  test('max_ssh_key_lifetime gives each new key an end', async () => {
    const add = async () =>
      expectStatus(
        await user.post('/user/keys', { title: world.unique('key'), key: publicKeyOf('ed25519') }),
        201,
      )['expires_at'] as unknown
    await during(world, { max_ssh_key_lifetime: 3 }, async () => expect(await add()).not.toBeNull())
    expect(await add()).toBeNull()
  })
})

test('deactivate_dormant_users_period tells who was inactive for long enough', async () => {
  const person = await world.user()
  const { db } = world.service.services
  const seen = (days: number) =>
    db.writer
      .updateTable('users')
      .set({ last_activity_on: new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10) })
      .where('id', '=', person.id)
      .execute()
  await seen(100)
  await during(world, { deactivate_dormant_users_period: 120 }, async () => {
    expect((await world.root.post(`/users/${person.id}/deactivate`)).status).toBe(403)
  })
  expect((await world.root.post(`/users/${person.id}/deactivate`)).status).toBe(201)
})
