// @module-tag long
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Service } from '../../src/app/service.ts'
import { during, set } from '../settings/effects.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

const run = promisify(execFile)

let world: World
let other: Service
beforeAll(async () => {
  world = await startWorld()
  other = await world.sibling({})
})
afterAll(() => world[Symbol.asyncDispose]())

const password = 'correct horse battery staple'

interface Answer {
  readonly status: number
  readonly body: Json
  readonly cookie: string
}

/** Sends the form of the page, as browsers do. */
async function signIn(fields: Json, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${world.url}/users/sign_in`, {
    method: 'POST',
    body: new URLSearchParams(
      Object.entries(fields).map(([name, value]) => [`user[${name}]`, String(value)]),
    ),
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
  })
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]!
  return { status: answer.status, body: (await answer.json()) as Json, cookie }
}

const person = (fields: Json = {}): Promise<Person> =>
  world.user({ force_random_password: undefined, password, ...fields })

/** A browser with the cookie, and with the token that its page sends when it writes. */
function browser({ cookie, body }: Answer, at = world.url): Client {
  return new Client(at, { cookie, 'x-csrf-token': body['csrf_token'] as string })
}

async function signedIn(who: Person): Promise<Answer> {
  const answer = await signIn({ login: who.username, password })
  expect([answer.status, answer.body['message']]).toEqual([200, undefined])
  return answer
}

async function git(path: string, username: string, secret: string): Promise<string> {
  const address = new URL(`${world.url}/${path}.git`)
  address.username = username
  address.password = secret
  try {
    await run('git', ['ls-remote', address.href], {
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' },
    })
    return 'read'
  } catch (error) {
    return (error as { stderr: string }).stderr
  }
}

describe('a session', () => {
  test('opens with the password, for the name and the address, and is told by its cookie on every node', async () => {
    const who = await person()
    for (const login of [who.username, who.username.toUpperCase(), `${who.username}@example.com`]) {
      const answer = await signIn({ login, password })
      expect([answer.status, answer.body['username']]).toEqual([200, who.username])
      for (const at of [world.url, other.address]) {
        expect(bodyOf(await browser(answer, at).get('/user'))['id']).toBe(who.id)
      }
    }
    const set = await fetch(`${world.url}/users/sign_in`, {
      method: 'POST',
      body: JSON.stringify({ login: who.username, password }),
      headers: { 'content-type': 'application/json' },
    })
    expect(set.headers.getSetCookie()[0]).toMatch(
      /^_gitlab_session=[\w-]{20}; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const seen = bodyOf(await world.root.get(`/users/${who.id}`))
    expect(seen).toMatchObject({ sign_in_count: 4, current_sign_in_ip: '127.0.0.1' })
    expect((await fetch(`${world.url}/users/sign_in`)).headers.get('content-type')).toMatch(/^text\/html/)
  })

  test('writes only with its CSRF token, and is not made from pages of others', async () => {
    const who = await person()
    const answer = await signedIn(who)
    const { id } = await world.group()
    await world.root.post(`/groups/${id}/members`, { user_id: who.id, access_level: 50 })
    const write = (headers: Record<string, string>) =>
      new Client(world.url, { cookie: answer.cookie, ...headers }).put(`/groups/${id}`, { description: 'x' })
    expect((await write({})).status).toBe(401)
    expect((await write({ 'x-csrf-token': 'guessed' })).status).toBe(401)
    expect((await write({ 'x-csrf-token': answer.body['csrf_token'] as string })).status).toBe(200)
    const login = { login: who.username, password }
    expect((await signIn(login, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await signIn(login, { origin: 'https://elsewhere.example' })).status).toBe(403)
  })

  test('ends when its user signs out, everywhere or there only', async () => {
    const who = await person()
    const answers = [await signedIn(who), await signedIn(who), await signedIn(who)]
    const [first, second, third] = answers.map((answer) => browser(answer, other.address)) as [
      Client,
      Client,
      Client,
    ]
    const listed = rowsOf(await second.get('/user/sessions'))
    expect(listed.map(({ current }) => current as boolean)).toEqual([false, true, false])
    const out = await fetch(`${world.url}/users/sign_out`, {
      method: 'POST',
      headers: { cookie: answers[0]!.cookie, 'x-csrf-token': answers[0]!.body['csrf_token'] as string },
    })
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      200,
      expect.stringMatching(/^_gitlab_session=; .*Max-Age=0$/),
    ])
    expect((await first.get('/user')).status).toBe(401)
    expect((await second.delete(`/user/sessions/${listed[2]!['id'] as number}`)).status).toBe(204)
    expect((await third.get('/user')).status).toBe(401)
    expect((await second.delete('/user/sessions')).status).toBe(204)
    expect((await second.get('/user')).status).toBe(401)
    expect((await who.get('/user')).status).toBe(200)
  })

  test('ends when it is not used, when the user is blocked, and when the password changes', async () => {
    const who = await person()
    const idle = browser(await signedIn(who))
    const { writer } = world.service.services.db
    expect((await idle.get('/user')).status).toBe(200)
    const afterItsTime = async (): Promise<number> => {
      await sql`update user_sessions set expires_at = now() where user_id = ${who.id}`.execute(writer)
      return (await idle.get('/user')).status
    }
    // That it was used is noted behind the answer, perhaps only now.
    await expect.poll(afterItsTime).toBe(401)

    const open = browser(await signedIn(who), other.address)
    expect((await open.get('/user')).status).toBe(200)
    expectStatus(await world.root.post(`/users/${who.id}/block`), 201)
    expect((await open.get('/user')).status).toBe(403)
    expect((await signIn({ login: who.username, password })).body['message']).toBe(
      'Your account has been blocked.',
    )
    expectStatus(await world.root.post(`/users/${who.id}/unblock`), 201)
    expect((await open.get('/user')).status).toBe(200)

    const current = browser(await signedIn(who))
    const change = (current_password: string, chosen: string) =>
      current.put('/user/password', { current_password, password: chosen })
    expect((await change('wrong', 'another long one')).status).toBe(403)
    expect((await change(password, 'short')).body).toEqual({
      message: { password: ['is too short (minimum is 8 characters)'] },
    })
    expect((await change(password, 'another long one')).status).toBe(204)
    expect([(await current.get('/user')).status, (await open.get('/user')).status]).toEqual([200, 401])
    expect((await signIn({ login: who.username, password: 'another long one' })).status).toBe(200)
  })

  test('has the rights of its user, who loses them with the membership on every node at once', async () => {
    const who = await person()
    const project = await world.project()
    await pushFiles(world, project, { 'a.txt': 'a' })
    const members = `/projects/${project.id}/members`
    await world.root.post(members, { user_id: who.id, access_level: 40 })
    const there = browser(await signedIn(who), other.address)
    const rest = new Client(other.address, { 'private-token': who.token })
    const registry = async () => {
      const basic = Buffer.from(`${who.username}:${who.token}`).toString('base64')
      const scope = `repository:${project.path_with_namespace}:pull,push`
      const answer = await fetch(`${other.address}/jwt/auth?service=container_registry&scope=${scope}`, {
        headers: { authorization: `Basic ${basic}` },
      })
      const { token } = (await answer.json()) as { token: string }
      const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as {
        access: Json[]
      }
      return claims.access.flatMap(({ actions }) => actions as string[])
    }
    const all = async () => [
      (await there.get(`/projects/${project.id}/variables`)).status,
      (await rest.get(`/projects/${project.id}/variables`)).status,
      await git(project.path_with_namespace, who.username, who.token),
      await registry(),
    ]
    expect(await all()).toEqual([200, 200, 'read', ['pull', 'push']])
    expect(await all()).toEqual([200, 200, 'read', ['pull', 'push']])
    await world.root.put(`${members}/${who.id}`, { access_level: 20 })
    expect(await all()).toEqual([403, 403, 'read', ['pull']])
    await world.root.delete(`${members}/${who.id}`)
    expect(await all()).toEqual([404, 404, expect.stringMatching(/not found/), []])
  })
})

describe('sign-in', () => {
  test('refuses alike who is not there and who has another password', async () => {
    const who = await person()
    for (const fields of [
      { login: 'nobody at all', password },
      { login: who.username, password: 'wrong' },
      { login: who.username, password: '' },
      {},
    ]) {
      expect(await signIn(fields)).toMatchObject({
        status: 401,
        body: { message: 'Invalid login or password.' },
      })
    }
    const enters = async () => (await signIn({ login: who.username, password })).status
    await during(world, { password_authentication_enabled_for_web: false }, async () => {
      expect(await enters()).toBe(401)
      // By its old names.
      await set(world, { signin_enabled: true })
      expect(await enters()).toBe(200)
      await set(world, { signin_enabled: false })
      expect(await enters()).toBe(401)
    })
    expect(await enters()).toBe(200)
  })

  test('locks an account after too many wrong passwords, its tokens too, for a while', async () => {
    const who = await person()
    const { settings, db } = world.service.services
    await settings.change({ max_login_attempts: 3 })
    const tried = (secret: string) => signIn({ login: who.username, password: secret })
    await tried('wrong')
    await tried('wrong')
    expect((await tried(password)).status).toBe(200)
    for (let attempt = 0; attempt < 3; attempt += 1) await tried('wrong')
    expect(await tried(password)).toMatchObject({
      status: 401,
      body: { message: 'Invalid login or password.' },
    })
    expect((await who.get('/user')).status).toBe(403)
    expect(bodyOf(await world.root.get(`/users/${who.id}`))['locked']).toBe(true)
    await sql`update users set locked_until = now() where id = ${who.id}`.execute(db.writer)
    expect((await tried(password)).status).toBe(200)
    expect((await who.get('/user')).status).toBe(200)
    await settings.change({ max_login_attempts: null })
  })

  test('wants another password in the place of one that an administrator has chosen', async () => {
    const who = await person()
    expectStatus(await world.root.put(`/users/${who.id}`, { password: 'chosen by somebody' }), 200)
    expect([(await who.get('/user')).status, (await who.get('/user')).text]).toEqual([
      403,
      expect.stringContaining('Your password expired.'),
    ])
    const login = { login: who.username, password: 'chosen by somebody' }
    expect((await signIn(login)).body).toMatchObject({ needs: 'new_password' })
    expect((await signIn({ ...login, new_password: 'chosen by somebody' })).status).toBe(401)
    expect((await signIn({ ...login, new_password: 'chosen by oneself' })).status).toBe(200)
    expect((await who.get('/user')).status).toBe(200)
  })

  test('brings back who was put to rest', async () => {
    const who = await person()
    const { writer } = world.service.services.db
    await sql`update users set state = 'deactivated' where id = ${who.id}`.execute(writer)
    expect((await who.get('/user')).status).toBe(403)
    await signedIn(who)
    expect((await who.get('/user')).status).toBe(200)
  })
})

describe('a second factor', () => {
  const codeOf = (secret: string, step = 0): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + step * 30_000 })

  async function enrolled(): Promise<{ who: Person; secret: string; codes: string[] }> {
    const who = await person()
    expect((await who.post('/user/two_factor', { password: 'wrong' })).status).toBe(403)
    const offer = expectStatus(await who.post('/user/two_factor', { password }), 201)
    expect(offer['otpauth_url']).toMatch(/^otpauth:\/\/totp\//)
    const secret = offer['secret'] as string
    // Until it is confirmed it asks for nothing.
    await signedIn(who)
    expect((await who.post('/user/two_factor/confirm', { code: '000000' })).status).toBe(400)
    const confirmed = expectStatus(
      await who.post('/user/two_factor/confirm', { code: codeOf(secret, -1) }),
      200,
    )
    return { who, secret, codes: confirmed['recovery_codes'] as string[] }
  }

  test('is asked for by sign-in; each code works once', async () => {
    const { who, secret, codes } = await enrolled()
    const login = { login: who.username, password }
    expect((await signIn(login)).body).toMatchObject({ needs: 'code' })
    expect(
      (await signIn({ ...login, password: 'wrong', otp_attempt: codeOf(secret) })).body,
    ).not.toHaveProperty('needs')
    expect((await signIn({ ...login, otp_attempt: '12345' })).status).toBe(401)
    const code = codeOf(secret)
    expect((await signIn({ ...login, otp_attempt: code })).status).toBe(200)
    expect((await signIn({ ...login, otp_attempt: code })).status).toBe(401)
    expect((await signIn({ ...login, otp_attempt: codes[0] })).status).toBe(200)
    expect((await signIn({ ...login, otp_attempt: codes[0] })).status).toBe(401)
    expect(bodyOf(await who.get('/user/two_factor'))).toEqual({ enabled: true, recovery_codes_left: 9 })
    expect(bodyOf(await world.root.get(`/users/${who.id}`))['two_factor_enabled']).toBe(true)
    const listed = await world.root.get('/users?two_factor=enabled&per_page=100')
    expect(rowsOf(listed).map(({ id }) => id as number)).toContain(who.id)
  })

  test('makes git and the registry refuse the password alone', async () => {
    const { who } = await enrolled()
    const plain = await person()
    const project = await world.project({ visibility: 'internal' })
    expect(await git(project.path_with_namespace, plain.username, password)).toBe('read')
    expect(await git(project.path_with_namespace, who.username, password)).toMatch(/Authentication failed/)
    expect(await git(project.path_with_namespace, who.username, who.token)).toBe('read')
    const { settings } = world.service.services
    await settings.change({ password_authentication_enabled_for_git: false })
    expect(await git(project.path_with_namespace, plain.username, password)).toMatch(/Authentication failed/)
    await settings.change({ password_authentication_enabled_for_git: true })
  })

  test('is given up with password and code, gets new recovery codes, and is taken away by administrators', async () => {
    const { who, codes } = await enrolled()
    const fresh = await who.post('/user/two_factor/recovery_codes', { password, code: codes[0] })
    const [code, next] = expectStatus(fresh, 200)['recovery_codes'] as string[]
    expect((await who.delete('/user/two_factor', { password, code: codes[1] })).status).toBe(400)
    expect((await who.delete('/user/two_factor', { password: 'wrong', code })).status).toBe(403)
    expect((await who.delete('/user/two_factor', { password, code: next })).status).toBe(204)
    await signedIn(who)
    const again = await enrolled()
    expect((await world.root.patch(`/users/${again.who.id}/disable_two_factor`)).status).toBe(204)
    expect((await world.root.patch(`/users/${again.who.id}/disable_two_factor`)).status).toBe(400)
    await signedIn(again.who)
    expect((await world.root.patch('/users/1/disable_two_factor')).status).toBe(403)
  })

  test('that the instance asks for lets sessions count only until the time to set it up is over', async () => {
    const who = await person()
    const values = { require_two_factor_authentication: true, two_factor_grace_period: 1 }
    await during(world, values, async () => {
      const answer = await signedIn(who)
      expect(answer.body['two_factor_setup_required']).toBe(true)
      expect((await browser(answer).get('/user')).status).toBe(200)
      await set(world, { two_factor_grace_period: 0 })
      const late = await signedIn(who)
      expect((await browser(late).get('/user')).status).toBe(401)
      expect((await who.get('/user')).status).toBe(200)
    })
    const free = await signedIn(who)
    expect(free.body['two_factor_setup_required']).toBe(false)
    expect((await browser(free).get('/user')).status).toBe(200)
  })
})
