import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSingleSignOn } from '../../src/areas/single-sign-on/index.ts'
import { Client } from '../world/client.ts'
import { client, IdentityProvider, type Identity } from '../world/identity-provider.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Browser, type Page } from './browser.ts'
import { during, set } from './effects.ts'

let world: World
let provider: IdentityProvider
let folder: string

beforeAll(async () => {
  provider = await IdentityProvider.start()
  folder = await mkdtemp(path.join(tmpdir(), 'guildhall-oidc-'))
  const common = { issuer: provider.url, client_id: client.id, client_secret: client.secret }
  const file = path.join(folder, 'providers.json')
  const providers = [
    { ...common, name: 'company', label: 'Company & Co', block_auto_created_users: false },
    { ...common, name: 'linking', link_by_email: true, create_users: false },
    { ...common, name: 'strict' },
  ]
  await writeFile(file, JSON.stringify({ providers }))
  world = await startWorld({ ROLES: 'web', OIDC_CONFIG: file })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const person = (more: Partial<Identity> = {}): Identity => {
  const sub = world.unique('subject')
  return {
    sub,
    email: `${sub}@example.com`,
    email_verified: true,
    name: 'Ada',
    preferred_username: sub,
    ...more,
  }
}

/** To the provider and back, as a browser goes; gives the page of the callback. */
async function signIn(
  who: Identity,
  { by = 'company', browser = new Browser(world), path = '' } = {},
): Promise<Page> {
  provider.identity = who
  const callback = await toProvider(by, browser, path)
  return browser.get(callback)
}

/** Where the provider sends the browser back to. */
async function toProvider(by: string, browser: Browser, more = ''): Promise<string> {
  const started = await browser.get(`/users/auth/${by}${more}`)
  expect([started.status, started.location]).toEqual([302, expect.stringContaining(provider.url)])
  const sent = await fetch(started.location!, { redirect: 'manual' })
  return sent.headers.get('location')!.replace(world.url, '')
}

const meOf = async ({ cookie }: Browser): Promise<Json> =>
  (await new Client(world.url, { cookie }).get('/user')).body as Json
const notice = async (page: Page): Promise<string> => (await new Browser(world).get(page.location!)).text

describe('sign-in at a provider', () => {
  test('makes an account at the first time, and finds it again', async () => {
    const page = await new Browser(world).get('/users/sign_in')
    expect(page.text).toContain('<a href="auth/company">Sign in with Company &amp; Co</a>')
    const who = person()
    const browser = new Browser(world)
    expect(await signIn(who, { browser, path: '?return_to=/-/api' })).toMatchObject({
      status: 303,
      location: '/-/api',
    })
    const me = await meOf(browser)
    expect(me).toMatchObject({ username: who.preferred_username, name: 'Ada', email: who.email })
    expect(me['identities']).toEqual([{ provider: 'company', extern_uid: who.sub, saml_provider_id: null }])
    const again = new Browser(world)
    expect((await signIn({ ...who, name: 'Another' }, { browser: again })).location).toBe('/')
    expect((await meOf(again))['id']).toBe(me['id'])
    const token = await browser.get('/users/csrf_token', { 'sec-fetch-site': 'same-origin' })
    const { csrf_token } = JSON.parse(token.text) as Json
    const writing = new Client(world.url, { cookie: browser.cookie, 'x-csrf-token': csrf_token as string })
    expect((await writing.put('/user/status', { message: 'in' })).status).toBe(200)
    expect((await browser.get('/users/csrf_token', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  test('takes a free name, and never the account of another', async () => {
    const taken = await world.user()
    const browser = new Browser(world)
    await signIn(person({ preferred_username: taken.username }), { browser })
    expect((await meOf(browser))['username']).toBe(`${taken.username}1`)
    const who = person()
    await signIn(who)
    const refused = async (identity: Identity) => {
      const answer = await signIn(identity)
      expect(answer.status).toBe(403)
      return answer.text
    }
    expect(await refused({ ...who, sub: who.sub.toUpperCase() })).toContain('differs in its letters only')
    expect(await refused(person({ email: `${taken.username}@example.com` }))).toContain('not linked')
    expect(await refused(person({ email: 'no address' }))).toContain('cannot be taken: email')
    expect(await refused(person({ sub: 'x'.repeat(256) }))).toContain('too long a name')
    expect(await refused(person({ email_verified: false }))).toContain('has not verified')
    await during(world, { domain_allowlist: ['elsewhere.example'] }, async () => {
      expect(await refused(person())).toContain('not allowed for sign-up')
    })
  })

  test('links by address, makes no account, and has new ones wait, where the provider is configured so', async () => {
    const known = await world.user()
    const browser = new Browser(world)
    await signIn(person({ email: `${known.username}@example.com` }), { by: 'linking', browser })
    expect((await meOf(browser))['id']).toBe(known.id)
    expect((await signIn(person(), { by: 'linking' })).text).toContain('There is no account for you here.')
    expect((await signIn(person(), { by: 'strict' })).text).toContain('pending approval')
  })

  test('keeps out who is blocked, and asks for the second factor', async () => {
    const who = person()
    const browser = new Browser(world)
    await signIn(who, { browser })
    const { id } = await meOf(browser)
    expectStatus(await world.root.post(`/users/${id as number}/block`), 201)
    expect(await signIn(who)).toMatchObject({ status: 403, text: expect.stringContaining('blocked') })
    expectStatus(await world.root.post(`/users/${id as number}/unblock`), 201)

    const other = await world.user({
      force_random_password: undefined,
      password: 'correct horse battery staple',
    })
    const { secret } = expectStatus(
      await other.post('/user/two_factor', { password: 'correct horse battery staple' }),
      201,
    )
    const totp = new TOTP({ secret: Secret.fromBase32(secret as string) })
    const codes = expectStatus(await other.post('/user/two_factor/confirm', { code: totp.generate() }), 200)
    const asked = new Browser(world)
    const page = await signIn(person({ email: `${other.username}@example.com` }), {
      by: 'linking',
      browser: asked,
    })
    expect([page.status, asked.cookie]).toEqual([200, ''])
    const ticket = /name="ticket" value="([^"]+)"/.exec(page.text)![1]!
    const send = (otp_attempt: string, at = 'linking') =>
      asked.post(`/users/auth/${at}/code`, { otp_attempt, ticket })
    expect((await send('000000')).status).toBe(401)
    expect(await notice(await send('000000', 'company'))).toContain('could not tell who you are')
    expect((await send((codes['recovery_codes'] as string[])[0]!)).status).toBe(303)
    expect((await meOf(asked))['id']).toBe(other.id)
  })

  test('believes nobody else: another browser, another state, a forged token, a foreign page', async () => {
    provider.identity = person()
    const mine = new Browser(world)
    const callback = await toProvider('company', mine)
    const failing = async (page: Page) => expect(await notice(page)).toContain('could not tell who you are')
    await failing(await new Browser(world).get(callback))
    await failing(await mine.get(callback.replace(/state=[^&]+/, 'state=other')))
    await failing(await mine.get(callback))
    await failing(await mine.get('/users/auth/strict/callback?code=x&state=y'))
    provider.forged = { nonce: 'other' }
    await failing(await signIn(person()))
    provider.forged = {}
    await failing(await mine.get('/users/auth/company', { 'sec-fetch-site': 'cross-site' }))
    expect(await signIn(person(), { path: '?return_to=//elsewhere.example' })).toMatchObject({
      location: '/',
    })
    expect((await mine.get('/users/auth/unknown')).status).toBe(404)
  })
})

test('disabled_oauth_sign_in_sources: a provider is not offered, and who comes back from it is refused', async () => {
  const offered = async () => (await new Browser(world).get('/users/sign_in')).text.includes('auth/company')
  const who = person()
  const browser = new Browser(world)
  provider.identity = who
  const callback = await toProvider('company', browser)
  await during(world, { disabled_oauth_sign_in_sources: 'company, unheard_of' }, async () => {
    const shown = expectStatus(await world.root.get('/application/settings'), 200)
    expect(shown['disabled_oauth_sign_in_sources']).toEqual(['company'])
    expect(await offered()).toBe(false)
    for (const address of ['/users/auth/company', callback]) {
      expect(await notice(await browser.get(address))).toContain('Signing in with this provider is disabled.')
    }
    expect((await signIn(person(), { by: 'strict' })).status).toBe(403)
  })
  expect(await offered()).toBe(true)
  expect((await signIn(who)).status).toBe(303)
  expect(
    (await set(world, { disabled_oauth_sign_in_sources: null }))['disabled_oauth_sign_in_sources'],
  ).toEqual([])
})

test('disable_password_authentication_for_users_with_sso_identities: who is known at a provider signs in there', async () => {
  const password = 'correct horse battery staple'
  const [linked, other] = [
    await world.user({ force_random_password: undefined, password }),
    await world.user({ force_random_password: undefined, password }),
  ]
  const who = person({ email: `${linked.username}@example.com` })
  expect((await signIn(who, { by: 'linking' })).status).toBe(303)
  const byPassword = async ({ username }: { username: string }) => {
    const { status, body } = await new Browser(world).signIn(username, password)
    return [status, body['message']]
  }
  const refused = [401, 'Invalid login or password.']
  expect(await byPassword(linked)).toEqual([200, undefined])
  const name = 'disable_password_authentication_for_users_with_sso_identities'
  await during(world, { [name]: true }, async () => {
    expect(await byPassword(linked)).toEqual(refused)
    expect(await byPassword(other)).toEqual([200, undefined])
    expect((await signIn(who, { by: 'linking' })).status).toBe(303)
    await set(world, { sign_in_restrictions: {} })
    expect(await byPassword(linked)).toEqual([200, undefined])
    await set(world, { sign_in_restrictions: { [name]: true } })
    expect(await byPassword(linked)).toEqual(refused)
  })
  expect(await byPassword(linked)).toEqual([200, undefined])
})

test('a file of providers with a fault is refused, and says where it is', async () => {
  const file = path.join(folder, 'faulty.yml')
  const read = async (text: string) => {
    await writeFile(file, text)
    return () => readSingleSignOn(file, { SECRET: 'hidden' })
  }
  const one = 'name: a\n    issuer: https://a.example\n    client_id: a\n    client_secret_env: SECRET'
  expect((await read(`providers:\n  - ${one}`))()).toMatchObject([{ label: 'a', clientSecret: 'hidden' }])
  const faults: [text: string, problem: string][] = [
    ['providers: 1', 'no list called "providers"'],
    ['providers: []\nmore: 1', 'the unknown key "more"'],
    [`providers:\n  - ${one}\n  - ${one}`, 'names the provider "a" twice'],
    [`providers:\n  - ${one.replace('name: a', 'name: ldapmain')}`, 'provider 1 has a name'],
    [`providers:\n  - ${one.replace('https:', 'ftp:')}`, 'an issuer that is no URL'],
    [`providers:\n  - ${one.replace('SECRET', 'OTHER')}`, 'a secret that the environment does not have'],
    [`providers:\n  - ${one}\n    colour: red`, 'the unknown key "colour"'],
    [`providers:\n  - ${one}\n    link_by_email: 1`, 'true or false for "link_by_email"'],
    [': [', 'is no YAML'],
  ]
  for (const [text, problem] of faults) expect(await read(text)).toThrow(problem)
  expect(() => readSingleSignOn(path.join(folder, 'missing'), {})).toThrow('cannot be read (ENOENT)')
})
