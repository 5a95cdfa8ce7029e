// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Browser, type Page } from './browser.ts'
import { during, set } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

const password = 'correct horse battery staple'
/** People come in at once. */
const open = { require_admin_approval_after_user_signup: false }

const form = (fields: Record<string, string> = {}) => {
  const username = world.unique('new')
  return { name: 'Somebody New', username, email: `${username}@example.com`, password, ...fields }
}
const signUp = (fields: Record<string, string> = {}, browser = new Browser(world)): Promise<Page> =>
  browser.post('/users', form(fields))
const refused =
  'is not allowed for sign-up. Please use your regular email address. Check with your administrator.'

describe('sign-up', () => {
  test('lets people in at once, or tells what could not be taken', async () => {
    await during(world, open, async () => {
      const browser = new Browser(world)
      const page = await browser.get('/users/sign_up')
      expect([page.status, page.text]).toEqual([200, expect.stringContaining('name="user[username]"')])
      const fields = form({ name: '<b>Bold</b>' })
      expect(await browser.post('/users', fields)).toMatchObject({ status: 302, location: '/' })
      const me = await new Client(world.url, { cookie: browser.cookie }).get('/user')
      expect(me.body).toMatchObject({ username: fields.username, name: '<b>Bold</b>', state: 'active' })
      const again = await browser.post('/users', { ...fields, password: 'short' })
      expect(again.status).toBe(422)
      expect(again.text).toContain('Username has already been taken')
      expect(again.text).toContain('E-mail has already been taken')
      expect(again.text).toContain('Password is too short')
      expect(again.text).toContain('&lt;b&gt;Bold&lt;/b&gt;')
      expect(again.text).not.toContain('<b>Bold')
      for (const foreign of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://elsewhere.example' }]) {
        expect((await browser.post('/users', form(), foreign)).status).toBe(403)
      }
    })
  })

  test('signup_enabled off: page and form lead to sign-in, where the reason stands', async () => {
    const disabled = 'Sign-ups are currently disabled. Please contact a Guildhall administrator'
    await during(world, { signup_enabled: false }, async () => {
      const browser = new Browser(world)
      for (const page of [await browser.get('/users/sign_up'), await signUp()]) {
        expect(page.status).toBe(302)
        expect((await browser.get(page.location!)).text).toContain(disabled)
      }
    })
    expect((await new Browser(world).get('/users/sign_up')).status).toBe(200)
  })

  test('who waits for approval is let in when it is needed no more, if that is asked for', async () => {
    await during(world, { require_admin_approval_after_user_signup: true }, async () => {
      const fields = form()
      await signUp(fields)
      const state = async () =>
        ((await world.root.get(`/users?username=${fields.username}`)).body as Json[])[0]!['state']
      const turn = async (on: boolean, more: Json = {}) => {
        await set(world, { require_admin_approval_after_user_signup: on, ...more })
        return state()
      }
      const approve = { auto_approve_pending_users: true }
      expect(await turn(false)).toBe('blocked_pending_approval')
      // It was off already, or is only tried.
      expect(await turn(false, approve)).toBe('blocked_pending_approval')
      expect(await turn(true, approve)).toBe('blocked_pending_approval')
      expect(await turn(false, { ...approve, dry_run: true })).toBe('blocked_pending_approval')
      expect(await turn(false, approve)).toBe('active')
    })
  })

  test('require_admin_approval_after_user_signup: not before an administrator says so', async () => {
    const fields = form()
    const browser = new Browser(world)
    await during(world, { require_admin_approval_after_user_signup: true }, async () => {
      const { location } = await browser.post('/users', fields)
      expect((await browser.get(location!)).text).toContain('an administrator has approved your account')
      const refusal = await browser.signIn(fields.username, password)
      expect([refusal.status, refusal.body['message']]).toEqual([
        401,
        'Your account is pending approval from your administrator and hence blocked.',
      ])
      const [user] = (await world.root.get(`/users?username=${fields.username}`)).body as Json[]
      expect(user!['state']).toBe('blocked_pending_approval')
      expect((await world.root.post(`/users/${user!['id'] as number}/approve`)).body).toEqual({
        message: 'Success',
      })
      expect((await browser.signIn(fields.username, password)).status).toBe(200)
    })
    await during(world, { require_admin_approval_after_user_signup: false }, async () => {
      expect((await signUp()).location).toBe('/')
    })
  })

  test('domain_allowlist, domain_denylist_enabled with domain_denylist: by the domain of the address', async () => {
    const at = (domain: string) => signUp({ email: `${world.unique('x')}@${domain}` })
    await during(world, { ...open, domain_allowlist: ['*.inside.example'] }, async () => {
      expect((await at('a.inside.example')).status).toBe(302)
      const page = await at('outside.example')
      expect([page.status, page.text]).toEqual([422, expect.stringContaining(refused)])
    })
    const denied = { ...open, domain_denylist_enabled: true, domain_denylist: ['evil.example'] }
    await during(world, denied, async () => {
      expect((await at('EVIL.example')).text).toContain(refused)
      expect((await at('outside.example')).status).toBe(302)
      // Administrators choose as they like.
      await world.user({ email: `${world.unique('x')}@evil.example` })
    })
    await during(world, open, async () => expect((await at('evil.example')).status).toBe(302))
  })

  test('email_restrictions_enabled with email_restrictions: by what the address looks like', async () => {
    const fields = () => ({ email: `${world.unique('x')}+more@example.com` })
    const values = { ...open, email_restrictions_enabled: true, email_restrictions: '\\+' }
    await during(world, values, async () => {
      expect((await signUp(fields())).text).toContain(refused)
      expect((await signUp()).status).toBe(302)
    })
    await during(world, open, async () => expect((await signUp(fields())).status).toBe(302))
  })

  test('invisible_captcha_enabled: who fills in what people do not see is no person', async () => {
    await during(world, { ...open, invisible_captcha_enabled: true }, async () => {
      expect((await new Browser(world).get('/users/sign_up')).text).toContain('name="user[middle_name]"')
      expect((await signUp({ middle_name: 'Machine' })).status).toBe(422)
      expect((await signUp({ middle_name: '' })).status).toBe(302)
    })
    await during(world, open, async () => {
      expect((await new Browser(world).get('/users/sign_up')).text).not.toContain('middle_name')
      expect((await signUp({ middle_name: 'Machine' })).status).toBe(302)
    })
  })
})

describe('terms', () => {
  test('enforce_terms: nothing works for who has not accepted the terms, and a new text asks again', async () => {
    const person = await world.user({ force_random_password: undefined, password })
    const project = await world.project({ visibility: 'public' })
    await pushFiles(world, project, { 'a.txt': 'a' })
    const made = await world.root.post(`/projects/${project.id}/access_tokens`, {
      name: 'x',
      scopes: ['api'],
      expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
    })
    const secret = expectStatus(made, 201)['token'] as string
    const machine = new Client(world.url, { 'private-token': secret })
    const browser = new Browser(world)
    await browser.signIn(person.username, password)
    const refusal =
      `403 Forbidden - You (@${person.username}) must accept the Terms of Service in order to perform this action. ` +
      `To accept these terms, please access Guildhall from a web browser at ${world.url}.`
    const git = async () => {
      const authorization = `Basic ${Buffer.from(`x:${person.token}`).toString('base64')}`
      const address = `${world.url}/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`
      const answer = await fetch(address, { headers: { authorization } })
      return { status: answer.status, text: await answer.text() }
    }
    await during(world, { enforce_terms: true, terms: 'Be **kind**.' }, async () => {
      const api = await person.get('/user')
      expect([api.status, api.body]).toEqual([403, { message: refusal }])
      expect(await git()).toMatchObject({
        status: 403,
        text: expect.stringContaining('must accept the Terms'),
      })
      expect((await browser.get('/')).location).toBe('/-/users/terms')
      // The way out stays open to administrators, who are asked as well.
      expect((await world.root.get('/user')).status).toBe(403)
      expect((await world.root.get('/application/settings')).status).toBe(200)

      const page = await browser.get('/-/users/terms')
      expect(page.text).toContain('<strong>kind</strong>')
      expect(page.text).toContain('Please accept the Terms of Service before continuing.')
      const [, accept] = /action="(terms\/\d+\/accept)"/.exec(page.text)!
      const token = /name="authenticity_token" value="([^"]+)"/.exec(page.text)![1]!
      expect((await browser.post(`/-/users/${accept}`, { authenticity_token: 'guessed' })).status).toBe(403)
      expect((await browser.post(`/-/users/${accept}`, { authenticity_token: token })).location).toBe('/')
      expect((await person.get('/user')).status).toBe(200)
      expect((await git()).status).toBe(200)
      expect((await browser.get('/')).status).toBe(200)

      // A machine accepts nothing, and need not.
      expect((await machine.get(`/projects/${project.id}`)).status).toBe(200)

      await world.root.put('/application/settings', { terms: 'Be kinder.' })
      expect((await person.get('/user')).status).toBe(403)
      const next = await browser.get('/-/users/terms')
      const [, decline] = /action="(terms\/\d+\/decline)"/.exec(next.text)!
      const declined = await browser.post(`/-/users/${decline}`, { authenticity_token: token })
      expect((await browser.get(declined.location!)).text).toContain('You have declined the Terms of Service')
      expect((await new Client(world.url, { cookie: browser.cookie }).get('/user')).status).toBe(401)
    })
    expect((await person.get('/user')).status).toBe(200)
    expect((await browser.get('/-/users/terms')).status).toBe(404)
  })
})
