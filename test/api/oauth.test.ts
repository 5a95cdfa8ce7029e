// @module-tag long
import { createHash, randomBytes } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Browser } from '../settings/browser.ts'
import { during } from '../settings/effects.ts'
import { Client, type Person, type Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let person: Person
const password = 'correct horse battery staple'
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  person = await newPerson()
})

const newPerson = (fields: Json = {}) => world.user({ force_random_password: undefined, password, ...fields })
const callback = 'https://client.example/callback'

const register = async (fields: Json = {}): Promise<Json> =>
  expectStatus(
    await world.root.post('/applications', {
      name: 'Planner',
      redirect_uri: callback,
      scopes: 'api read_user',
      ...fields,
    }),
    201,
  )

/** A call of an address that is not of the REST API, with a form. */
const form = (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  new Client(world.url).post(world.url + address, new URLSearchParams(fields), headers)
const token = (fields: Record<string, string>, headers?: Record<string, string>) =>
  form('/oauth/token', fields, headers)

const signedIn = async (who: Person): Promise<Browser> => {
  const browser = new Browser(world)
  await browser.signIn(who.username, password)
  return browser
}

const authorizePath = (application: Json, more: Record<string, string> = {}): string =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: application['application_id'] as string,
    redirect_uri: callback,
    response_type: 'code',
    ...more,
  })}`

/** The hidden fields of a form, as a browser sends them back. */
const fieldsOf = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name!,
      value!.replaceAll('&amp;', '&'),
    ]),
  )

/** What the application is sent when somebody decides. */
const decide = async (browser: Browser, path: string, decision = 'allow'): Promise<URL> => {
  const page = await browser.get(path)
  expect(page.status).toBe(200)
  const answer = await browser.post('/oauth/authorize', { ...fieldsOf(page.text), decision })
  expect(answer.status).toBe(302)
  return new URL(answer.location!)
}

const codeOf = async (who: Person, application: Json, more: Record<string, string> = {}): Promise<string> =>
  (await decide(await signedIn(who), authorizePath(application, more))).searchParams.get('code')!

const credentials = (application: Json) => ({
  client_id: application['application_id'] as string,
  client_secret: application['secret'] as string,
})
const exchange = (application: Json, code: string, more: Record<string, string> = {}) =>
  token({
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    ...credentials(application),
    ...more,
  })

const asBearer = (secret: string) => new Client(world.url, { authorization: `Bearer ${secret}` })
const statusWith = async (secret: string) => (await asBearer(secret).get('/user')).status
const refusal = ({ status, body }: Reply) => [status, (body as Json)['error']]

const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, sent: { code_challenge: challenge, code_challenge_method: 'S256' } }
}

describe('applications', () => {
  test('are registered, listed without their secret, renewed and removed with their tokens', async () => {
    const made = await register({
      redirect_uri: `${callback}\nhttp://localhost:7171/back`,
      confidential: 'true',
    })
    expect(made).toEqual({
      id: expect.any(Number) as number,
      application_id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      application_name: 'Planner',
      callback_url: `${callback}\nhttp://localhost:7171/back`,
      confidential: true,
      secret: expect.stringMatching(/^gloas-[0-9a-f]{64}$/) as string,
    })
    const { secret, ...shown } = made
    expect((await world.root.get('/applications?per_page=100')).body).toContainEqual(shown)
    expect((await world.root.get(`/applications/${made['id']}`)).body).toEqual(shown)
    const renewed = await world.root.post(`/applications/${made['id']}/renew-secret`)
    expect(renewed.status).toBe(201)
    expect((renewed.body as Json)['secret']).not.toBe(secret)
    const { access_token: access } = expectStatus(
      await exchange(renewed.body as Json, await codeOf(person, made)),
      200,
    )
    expect(refusal(await exchange(made, 'x'))).toEqual([401, 'invalid_client'])
    expect(await statusWith(access as string)).toBe(200)
    expect((await world.root.delete(`/applications/${made['id']}`)).status).toBe(204)
    expect(await statusWith(access as string)).toBe(401)
    const gone = await world.root.delete(`/applications/${made['id']}`)
    expect([gone.status, gone.body]).toEqual([404, { message: '404 Application Not Found' }])
    expect((await person.get('/applications')).status).toBe(403)
  })

  test.each([
    [{ scopes: 'api everything' }, { scopes: ["doesn't match configured on the server."] }],
    [{ redirect_uri: '/callback' }, { redirect_uri: ['must be an absolute URI.'] }],
    [{ redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
    [{ redirect_uri: `${callback}#part` }, { redirect_uri: ['cannot contain a fragment.'] }],
    [{ redirect_uri: 'http://' }, { redirect_uri: ['must be a valid URI.'] }],
  ])('%o is refused', async (fields, message) => {
    const sent = { name: 'x', redirect_uri: callback, scopes: 'api', ...fields }
    const { status, body } = await world.root.post('/applications', sent)
    expect([status, body]).toEqual([400, { message }])
  })
})

describe('authorization', () => {
  test('asks who is signed in, and sends the application what came of it', async () => {
    const application = await register({ name: '<b>Planner</b>' })
    const path = authorizePath(application, { scope: 'read_user', state: 'a b&c' })
    const stranger = await new Browser(world).get(path)
    expect(stranger).toMatchObject({
      status: 302,
      location: `/users/sign_in?return_to=${encodeURIComponent(path)}`,
    })
    const browser = await signedIn(person)
    const { text } = await browser.get(path)
    expect(text).toContain('&lt;b&gt;Planner&lt;/b&gt;')
    expect(text).toContain('Read your profile')
    expect(text).not.toContain('Do everything')
    const denied = await decide(browser, path, 'deny')
    expect(Object.fromEntries(denied.searchParams)).toMatchObject({ error: 'access_denied', state: 'a b&c' })
    const allowed = await decide(browser, path)
    expect(`${allowed.origin}${allowed.pathname}`).toBe(callback)
    expect(allowed.searchParams.get('state')).toBe('a b&c')
    const answer = await exchange(application, allowed.searchParams.get('code')!)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      token_type: 'Bearer',
      expires_in: 7200,
      refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      scope: 'read_user',
      created_at: expect.any(Number) as number,
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const secret = (answer.body as Json)['access_token'] as string
    expect((await asBearer(secret).get('/user')).body).toMatchObject({ username: person.username })
    expect((await asBearer(secret).get('/projects/1/issues')).status).toBe(403)
    expect((await new Client(world.url).get(`/user?access_token=${secret}`)).status).toBe(200)
  })

  test('is for pages of ours, live sessions and addresses that are registered', async () => {
    const application = await register()
    const browser = await signedIn(person)
    const path = authorizePath(application)
    const fields = { ...fieldsOf((await browser.get(path)).text), decision: 'allow' }
    expect((await browser.post('/oauth/authorize', { ...fields, authenticity_token: 'x' })).status).toBe(403)
    expect((await browser.post('/oauth/authorize', fields, { origin: 'https://e.example' })).status).toBe(403)
    expect((await new Browser(world).post('/oauth/authorize', fields)).status).toBe(403)
    const elsewhere = await browser.get(authorizePath(application, { redirect_uri: `${callback}/more` }))
    expect([elsewhere.status, elsewhere.text]).toEqual([
      400,
      expect.stringContaining('redirect URI') as string,
    ])
    expect(
      (await browser.post('/oauth/authorize', { ...fields, redirect_uri: 'https://e.example' })).status,
    ).toBe(400)
    expect((await browser.get(authorizePath({ application_id: 'nobody' }))).status).toBe(400)
    for (const [more, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'sudo' }, 'invalid_scope'],
      [{ code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request'],
      [{ code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    ] as const) {
      const { location } = await browser.get(authorizePath(application, more))
      expect(new URL(location!).searchParams.get('error')).toBe(error)
    }
  })

  test('a program on the own machine proves itself by PKCE, on any port', async () => {
    const application = await register({ confidential: false, redirect_uri: 'http://127.0.0.1/back' })
    const { client_id } = credentials(application)
    const browser = await signedIn(person)
    const redirect_uri = 'http://127.0.0.1:4711/back'
    const { location } = await browser.get(authorizePath(application, { redirect_uri }))
    expect(new URL(location!).searchParams.get('error_description')).toBe('Code challenge is required.')
    const { verifier, sent } = pkce()
    const fields = { grant_type: 'authorization_code', client_id, redirect_uri }
    const askedBy = async () =>
      (await decide(browser, authorizePath(application, { redirect_uri, ...sent }))).searchParams.get('code')!
    const code = await askedBy()
    expect(refusal(await token({ ...fields, code }))).toEqual([400, 'invalid_grant'])
    expect(refusal(await token({ ...fields, code, code_verifier: pkce().verifier }))).toEqual([
      400,
      'invalid_grant',
    ])
    const made = expectStatus(await token({ ...fields, code, code_verifier: verifier }), 200)
    expect(await statusWith(made['access_token'] as string)).toBe(200)
    // Nobody is asked twice, unless the application cannot prove what it is.
    expect((await browser.get(authorizePath(application, { redirect_uri, ...sent }))).status).toBe(200)
  })

  test('who has allowed as much before is not asked again, and trusted applications never ask', async () => {
    const application = await register()
    const browser = await signedIn(person)
    const path = authorizePath(application, { scope: 'read_user' })
    expectStatus(await exchange(application, (await decide(browser, path)).searchParams.get('code')!), 200)
    expect((await browser.get(path)).location).toContain('code=')
    expect((await browser.get(authorizePath(application, { scope: 'api' }))).status).toBe(200)
    const trusted = await register({ trusted: true })
    expect((await browser.get(authorizePath(trusted))).location).toContain('code=')
  })
})

describe('tokens', () => {
  test('a code is good once; used again it ends what came of it', async () => {
    const application = await register()
    const other = await register()
    const code = await codeOf(person, application)
    expect(refusal(await exchange(other, code))).toEqual([400, 'invalid_grant'])
    expect(refusal(await exchange(application, code, { redirect_uri: 'https://e.example' }))).toEqual([
      400,
      'invalid_grant',
    ])
    expect(refusal(await exchange(application, code, { client_secret: 'x' }))).toEqual([
      401,
      'invalid_client',
    ])
    const { access_token: access } = expectStatus(await exchange(application, code), 200)
    expect(await statusWith(access as string)).toBe(200)
    expect(refusal(await exchange(application, code))).toEqual([400, 'invalid_grant'])
    expect(await statusWith(access as string)).toBe(401)
    const late = await codeOf(person, application)
    await sql`update oauth_codes set expires_at = now() where used_at is null`.execute(
      world.service.services.db.writer,
    )
    expect(refusal(await exchange(application, late))).toEqual([400, 'invalid_grant'])
  })

  test('a refresh token gives new ones in the place of both, and tells when somebody else has it', async () => {
    const application = await register()
    const first = expectStatus(await exchange(application, await codeOf(person, application)), 200)
    const basic = `Basic ${btoa(Object.values(credentials(application)).join(':'))}`
    const refresh = (secret: unknown, more: Record<string, string> = {}) =>
      token({ grant_type: 'refresh_token', refresh_token: String(secret), ...more }, { authorization: basic })
    expect(refusal(await refresh(first['refresh_token'], { scope: 'sudo' }))).toEqual([400, 'invalid_scope'])
    const second = expectStatus(await refresh(first['refresh_token'], { scope: 'read_user' }), 200)
    expect(second['scope']).toBe('read_user')
    expect(await statusWith(first['access_token'] as string)).toBe(401)
    expect(await statusWith(second['access_token'] as string)).toBe(200)
    expect(refusal(await refresh(first['refresh_token']))).toEqual([400, 'invalid_grant'])
    expect(await statusWith(second['access_token'] as string)).toBe(401)
    expect(
      refusal(await token({ grant_type: 'refresh_token', refresh_token: String(second['refresh_token']) })),
    ).toEqual([401, 'invalid_client'])
  })

  test('an access token ends after two hours', async () => {
    const application = await register()
    const { access_token: access } = expectStatus(
      await exchange(application, await codeOf(person, application)),
      200,
    )
    const client = asBearer(access as string)
    expect((await client.get('/user')).status).toBe(200)
    await sql`update oauth_access_tokens set expires_at = expires_at - interval '2 hours'`.execute(
      world.service.services.db.writer,
    )
    const { status, body } = await client.get('/user')
    expect([status, (body as Json)['error']]).toEqual([401, 'invalid_token'])
  })

  test('a password gives a token, but not where there is a second factor', async () => {
    const fields = { grant_type: 'password', username: person.username, password }
    const made = expectStatus(await token(fields), 200)
    expect(made['scope']).toBe('api')
    expect(await statusWith(made['access_token'] as string)).toBe(200)
    expectStatus(
      await token({ grant_type: 'refresh_token', refresh_token: made['refresh_token'] as string }),
      200,
    )
    expect(refusal(await token({ ...fields, password: 'wrong' }))).toEqual([400, 'invalid_grant'])
    expect(refusal(await token({ ...fields, scope: 'sudo' }))).toEqual([400, 'invalid_scope'])
    await during(world, { password_authentication_enabled_for_web: false }, async () => {
      expect(refusal(await token(fields))).toEqual([400, 'invalid_grant'])
    })
    await sql`update users set two_factor_at = now() where id = ${person.id}`.execute(
      world.service.services.db.writer,
    )
    expect(refusal(await token(fields))).toEqual([400, 'invalid_grant'])
  })

  test('bad requests are told apart', async () => {
    expect(refusal(await token({}))).toEqual([400, 'invalid_request'])
    expect(refusal(await token({ grant_type: 'constructor' }))).toEqual([400, 'unsupported_grant_type'])
    expect(refusal(await token({ grant_type: 'authorization_code', code: 'x' }))).toEqual([
      401,
      'invalid_client',
    ])
    const odd = await new Client(world.url).post(`${world.url}/oauth/token`, 'x', {
      'content-type': 'text/plain',
    })
    expect(refusal(odd)).toEqual([400, 'invalid_request'])
  })

  test('tokens work for git, and end with who granted them', async () => {
    const application = await register({ scopes: 'read_repository' })
    const project = await world.project({ visibility: 'private' })
    const path = `/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`
    await world.root.post(`/projects/${project.id}/members`, { user_id: person.id, access_level: 30 })
    const { access_token: access } = expectStatus(
      await exchange(application, await codeOf(person, application)),
      200,
    )
    const fetched = async () =>
      (
        await fetch(world.url + path, {
          headers: { authorization: `Basic ${btoa(`oauth2:${access as string}`)}` },
        })
      ).status
    expect(await fetched()).toBe(200)
    await world.root.post(`/users/${person.id}/block`)
    expect(await fetched()).toBe(403)
  })

  test('are described to who presents them, introspected and revoked by their application', async () => {
    const [application, other] = [await register(), await register()]
    const made = expectStatus(await exchange(application, await codeOf(person, application)), 200)
    const access = made['access_token'] as string
    const info = await asBearer(access).get(`${world.url}/oauth/token/info`)
    expect(info.body).toMatchObject({
      resource_owner_id: person.id,
      scope: ['api', 'read_user'],
      application: { uid: application['application_id'] as string },
    })
    const inspect = (by: Json, fields: Json = {}) =>
      form('/oauth/introspect', { token: access, ...credentials(by), ...fields })
    expect((await inspect(application)).body).toMatchObject({
      active: true,
      scope: 'api read_user',
      username: person.username,
      exp: (made['created_at'] as number) + 7200,
    })
    expect((await inspect(other)).body).toEqual({ active: false })
    expect(refusal(await inspect(application, { client_secret: '' }))).toEqual([401, 'invalid_client'])
    const revoke = (by: Json) => form('/oauth/revoke', { token: access, ...credentials(by) })
    expect(refusal(await revoke(other))).toEqual([403, 'unauthorized_client'])
    expect([(await revoke(application)).status, (await revoke(application)).body]).toEqual([200, {}])
    expect(await statusWith(access)).toBe(401)
    expect((await inspect(application)).body).toEqual({ active: false })
    expect((await asBearer(access).get(`${world.url}/oauth/token/info`)).status).toBe(401)
  })
})

test('OpenID Connect: tells an application who its user is, signed', async () => {
  const application = await register({ scopes: 'openid email read_user' })
  const code = await codeOf(person, application, { scope: 'openid email', nonce: 'once' })
  const made = expectStatus(await exchange(application, code), 200)
  const found = (await new Client(world.url).get(`${world.url}/.well-known/openid-configuration`))
    .body as Json
  const keys = createRemoteJWKSet(new URL(found['jwks_uri'] as string))
  const { payload } = await jwtVerify(made['id_token'] as string, keys, {
    issuer: world.url,
    audience: application['application_id'] as string,
  })
  const told = {
    sub: String(person.id),
    preferred_username: person.username,
    email: `${person.username}@example.com`,
    email_verified: true,
  }
  expect(payload).toMatchObject({ ...told, nonce: 'once' })
  const info = await asBearer(made['access_token'] as string).get(found['userinfo_endpoint'] as string)
  expect(info.body).toMatchObject(told)
  const plain = expectStatus(
    await exchange(application, await codeOf(person, application, { scope: 'read_user' })),
    200,
  )
  const refused = await asBearer(plain['access_token'] as string).get(`${world.url}/oauth/userinfo`)
  expect(refusal(refused)).toEqual([403, 'insufficient_scope'])
  expect(refusal(await person.get(`${world.url}/oauth/userinfo`))).toEqual([401, 'invalid_token'])
})

test('a device without a browser gets its tokens when its user has typed in the code', async () => {
  const application = await register({ confidential: false })
  const { client_id } = credentials(application)
  const begun = expectStatus(await form('/oauth/authorize_device', { client_id, scope: 'read_user' }), 200)
  expect(begun).toMatchObject({ expires_in: 300, interval: 5, verification_uri: `${world.url}/oauth/device` })
  const poll = () =>
    token({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id,
      device_code: begun['device_code'] as string,
    })
  expect(refusal(await poll())).toEqual([400, 'authorization_pending'])
  expect(refusal(await poll())).toEqual([400, 'slow_down'])
  const browser = await signedIn(person)
  const page = await browser.get('/oauth/device')
  const fields = fieldsOf(page.text)
  expect((await browser.post('/oauth/device', { ...fields, user_code: 'NOSUCHCO' })).status).toBe(422)
  const user_code = (begun['user_code'] as string).toLowerCase().replace(/^(.{4})/, '$1-')
  const question = await browser.post('/oauth/device', { ...fields, user_code })
  expect(question.text).toContain('Read your profile')
  expect((await browser.post('/oauth/device', { ...fields, user_code, decision: 'allow' })).status).toBe(200)
  const made = expectStatus(await poll(), 200)
  expect(await statusWith(made['access_token'] as string)).toBe(200)
  expect(refusal(await poll())).toEqual([400, 'invalid_grant'])
})

describe('settings', () => {
  test('user_oauth_applications: whether people register applications of their own', async () => {
    const path = '/-/user_settings/applications'
    const browser = await signedIn(person)
    const wanted = { name: 'Mine', redirect_uri: callback, scopes: 'read_user', confidential: '1' }
    const begin = async () => fieldsOf((await browser.get(path)).text)['authenticity_token'] ?? ''
    const authenticity_token = await begin()
    const made = await browser.post(path, { ...wanted, authenticity_token })
    expect([made.status, made.text]).toEqual([201, expect.stringContaining('gloas-') as string])
    expect((await browser.post(path, { ...wanted, scopes: 'x', authenticity_token })).text).toContain(
      'Scopes doesn&#39;t match',
    )
    await during(world, { user_oauth_applications: false }, async () => {
      const page = await browser.get(path)
      expect(page.text).not.toContain('Register an application')
      expect(page.text).toContain('Mine')
      const refused = await browser.post(path, { ...wanted, name: 'Other', authenticity_token })
      expect([refused.status, refused.location]).toEqual([302, '/'])
    })
    expect((await browser.get(path)).text).not.toContain('Other')
    expect((await browser.get(path)).text).toContain('Register an application')
    const id = /applications\/(\d+)\/remove/.exec((await browser.get(path)).text)![1]!
    const stranger = await signedIn(await newPerson())
    const theirs = fieldsOf((await stranger.get(path)).text)
    await stranger.post(`${path}/${id}/remove`, theirs)
    expect((await browser.get(path)).text).toContain('Mine')
    await browser.post(`${path}/${id}/remove`, { authenticity_token })
    expect((await browser.get(path)).text).not.toContain('Mine')
  })

  test('people take back what they granted', async () => {
    const path = '/-/user_settings/applications'
    const application = await register({ name: 'Granted' })
    const made = expectStatus(await exchange(application, await codeOf(person, application)), 200)
    const browser = await signedIn(person)
    const page = await browser.get(path)
    expect(page.text).toContain('Granted')
    await browser.post(`${path}/${application['id'] as number}/revoke`, fieldsOf(page.text))
    expect(await statusWith(made['access_token'] as string)).toBe(401)
    expect((await browser.get(path)).text).not.toContain('Granted')
  })

  test('disable_admin_oauth_scopes: administrators grant nothing wide but to trusted applications', async () => {
    const administrator = await newPerson({ admin: true })
    const [application, trusted] = [await register(), await register({ trusted: true })]
    const [wide, narrow] = [authorizePath(application), authorizePath(application, { scope: 'read_user' })]
    const browser = await signedIn(administrator)
    const fields = { ...fieldsOf((await browser.get(wide)).text), decision: 'allow' }
    await during(world, { disable_admin_oauth_scopes: true }, async () => {
      expect((await browser.get(wide)).status).toBe(403)
      expect((await browser.post('/oauth/authorize', fields)).status).toBe(403)
      expect((await browser.get(narrow)).status).toBe(200)
      expect((await browser.get(authorizePath(trusted))).location).toContain('code=')
      expect((await (await signedIn(person)).get(wide)).status).toBe(200)
      const byPassword = { grant_type: 'password', username: administrator.username, password }
      expect(refusal(await token(byPassword))).toEqual([400, 'invalid_grant'])
    })
    expect((await browser.get(wide)).status).toBe(200)
  })

  test('disable_personal_access_tokens ends the tokens of people, and not those of applications', async () => {
    const application = await register()
    const made = expectStatus(await exchange(application, await codeOf(person, application)), 200)
    const { settings } = world.service.services
    await settings.change({ disable_personal_access_tokens: true })
    try {
      expect((await person.get('/user')).status).toBe(401)
      expect(await statusWith(made['access_token'] as string)).toBe(200)
    } finally {
      await settings.change({ disable_personal_access_tokens: false })
    }
  })

  test('throttle_unauthenticated_api counts what applications ask, too', async () => {
    const values = {
      throttle_unauthenticated_api_enabled: true,
      throttle_unauthenticated_api_requests_per_period: 1,
      throttle_unauthenticated_api_period_in_seconds: 3600,
    }
    await during(world, values, async () => {
      await token({})
      expect((await token({})).status).toBe(429)
    })
    expect((await token({})).status).toBe(400)
  })
})
