// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Mailbox } from '../world/mailbox.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Browser } from './browser.ts'
import { during } from './effects.ts'

let mailbox: Mailbox
let world: World
beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SMTP_URL: mailbox.url })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const password = 'correct horse battery staple'
const unconfirmed = /^Your primary email address is not confirmed\. Please check your inbox/

async function signUp(): Promise<{ browser: Browser; username: string; email: string; location: string }> {
  const username = world.unique('new')
  const email = `${username}@example.com`
  const browser = new Browser(world)
  const { location } = await browser.post('/users', { name: 'Somebody New', username, email, password })
  return { browser, username, email, location: location! }
}

/** The path in the newest mail to an address. */
async function linkTo(email: string, count = 1): Promise<string> {
  const mails = await mailbox.to(email, count)
  return new URL(/http\S+confirmation_token=\S+/.exec(mails.at(-1)!.text)![0]).href.replace(world.url, '')
}

async function idOf(username: string): Promise<number> {
  const [user] = (await world.root.get(`/users?username=${username}`)).body as Json[]
  return user!['id'] as number
}

const age = (id: number, days: number) =>
  sql`update users set created_at = created_at - make_interval(days => ${days}) where id = ${id}`.execute(
    world.service.services.db.writer,
  )

test('email_confirmation_setting hard: nobody comes in before the address is confirmed, which is asked for again', async () => {
  const values = { require_admin_approval_after_user_signup: false, email_confirmation_setting: 'hard' }
  await during(world, values, async () => {
    const { browser, username, email, location } = await signUp()
    expect((await browser.get(location)).text).toContain('Please open the address in the mail')
    const refusal = await browser.signIn(username, password)
    expect([refusal.status, refusal.body['message']]).toEqual([401, expect.stringMatching(unconfirmed)])
    const first = await linkTo(email)
    expect((await browser.post('/users/confirmation', { email })).status).toBe(302)
    expect((await browser.post('/users/confirmation', { email: 'nobody@example.com' })).status).toBe(302)
    const second = await linkTo(email, 2)
    expect((await browser.get(first)).status).toBe(422)
    expect((await browser.get(`${second}x`)).status).toBe(422)
    expect((await browser.get((await browser.get(second)).location!)).text).toContain('has been confirmed')
    expect((await browser.get(second)).status).toBe(422)
    expect((await browser.signIn(username, password)).status).toBe(200)
  })
})

test('email_confirmation_setting soft: three days are given; off: nobody is asked', async () => {
  const values = { require_admin_approval_after_user_signup: false, email_confirmation_setting: 'soft' }
  await during(world, values, async () => {
    const { browser, username, location } = await signUp()
    expect(location).toBe('/')
    const id = await idOf(username)
    const token = await world.token(id, ['api'])
    const ask = async () => (await browser.signIn(username, password)).status
    expect(await ask()).toBe(200)
    await age(id, 4)
    expect(await ask()).toBe(401)
    const api = await world.anonymous.get('/user', { 'private-token': token })
    expect([api.status, (api.body as Json)['message']]).toEqual([
      403,
      expect.stringContaining('Your primary email address is not confirmed.'),
    ])
    await world.root.put('/application/settings', { email_confirmation_setting: 'off' })
    expect(await ask()).toBe(200)
    expect((await idOf((await signUp()).username)) > 0).toBe(true)
  })
})

test('who has not confirmed the address runs no pipelines', async () => {
  const values = { require_admin_approval_after_user_signup: false, email_confirmation_setting: 'soft' }
  await during(world, values, async () => {
    const { browser, username, email } = await signUp()
    const link = await linkTo(email)
    const id = await idOf(username)
    const headers = { 'private-token': await world.token(id, ['api']) }
    const project = await world.project()
    const config = 'one: { script: [x] }\nlater: { script: [x], when: manual }'
    await pushFiles(world, project, { '.gitlab-ci.yml': config }, ['main', 'topic'])
    const path = `/projects/${project.id}`
    expectStatus(await world.root.post(`${path}/members`, { user_id: id, access_level: 30 }), 201)
    const made = expectStatus(await world.root.post(`${path}/pipeline`, { ref: 'topic' }), 201)
    const one = `${path}/pipelines/${made['id'] as number}`
    const jobs = expectStatus(await world.root.get(`${one}/jobs`), 200) as Json[]
    const later = jobs.find(({ name }) => name === 'later')!
    const acts: [string, string, Json][] = [
      ['POST', `${path}/jobs/${later['id'] as number}/play`, {}],
      ['POST', `${one}/cancel`, {}],
      ['POST', `${one}/retry`, {}],
      ['PUT', `${one}/metadata`, { name: 'Mine' }],
      ['POST', `${path}/pipeline`, { ref: 'topic' }],
      ['POST', `${path}/pipeline_schedules`, { description: 'Nightly', ref: 'topic', cron: '0 1 * * *' }],
    ]
    const act = async (): Promise<number[]> => {
      const statuses: number[] = []
      for (const [method, to, body] of acts)
        statuses.push((await world.anonymous.request(method, to, body, headers)).status)
      return statuses
    }
    expect(await act()).toEqual(acts.map(() => 403))
    expectStatus(await world.anonymous.get(one, headers), 200)
    await browser.get(link)
    expect(await act()).toEqual([200, 200, 201, 200, 201, 201])
  })
})

test('delete_unconfirmed_users: who does not confirm is gone after unconfirmed_users_delete_after_days', async () => {
  const values = {
    require_admin_approval_after_user_signup: false,
    email_confirmation_setting: 'hard',
    delete_unconfirmed_users: true,
    unconfirmed_users_delete_after_days: 5,
  }
  const { writer } = world.service.services.db
  const run = () => sql`select graphile_worker.add_job('sign-up:remove-unconfirmed')`.execute(writer)
  await during(world, values, async () => {
    const [old, young, confirmed] = [await signUp(), await signUp(), await signUp()]
    await new Browser(world).get(await linkTo(confirmed.email))
    const [oldId, youngId, confirmedId] = [
      await idOf(old.username),
      await idOf(young.username),
      await idOf(confirmed.username),
    ]
    await age(oldId, 6)
    await age(confirmedId, 6)
    const there = async (id: number) => (await world.root.get(`/users/${id}`)).status === 200
    await run()
    await expect.poll(() => there(oldId)).toBe(false)
    expect([await there(youngId), await there(confirmedId)]).toEqual([true, true])

    const over = async () => {
      await run()
      await expect
        .poll(async () => {
          const jobs = sql<{ n: number }>`
          select count(*)::int as n from graphile_worker.jobs where task_identifier = 'sign-up:remove-unconfirmed'`
          return (await jobs.execute(writer)).rows[0]!.n
        })
        .toBe(0)
    }
    await age(youngId, 6)
    await world.root.put('/application/settings', { unconfirmed_users_delete_after_days: 7 })
    await over()
    expect(await there(youngId)).toBe(true)
    await world.root.put('/application/settings', {
      unconfirmed_users_delete_after_days: 5,
      delete_unconfirmed_users: false,
    })
    await over()
    expect(await there(youngId)).toBe(true)
  })
})

test('require_admin_approval_after_user_signup tells administrators who waits', async () => {
  const administrator = await world.user({ admin: true })
  await during(world, { require_admin_approval_after_user_signup: true }, async () => {
    const { username } = await signUp()
    const mails = await mailbox.to(`${administrator.username}@example.com`)
    expect(mails.at(-1)!.text).toContain(`@${username}`)
    expectStatus(await world.root.post(`/users/${await idOf(username)}/reject`), 201)
    expect((await world.root.get(`/users?username=${username}`)).body).toEqual([])
  })
})

test('a further address is confirmed with the mail that is sent there', async () => {
  const user = await world.user()
  const email = `${world.unique('further')}@example.com`
  const made = expectStatus(await user.post('/user/emails', { email }), 201)
  expect(made['confirmed_at']).toBeNull()
  const browser = new Browser(world)
  expect((await browser.get(await linkTo(email))).status).toBe(302)
  const confirmed = (await user.get(`/user/emails/${made['id'] as number}`)).body as Json
  expect(confirmed['confirmed_at']).not.toBeNull()
  expect((await user.put('/user', { public_email: email })).status).toBe(200)
})

test('require_email_verification_on_account_locked: a locked account is opened by a code that is mailed', async () => {
  const person = await world.user({ force_random_password: undefined, password })
  const email = `${person.username}@example.com`
  const signIn = (more: Record<string, string> = {}, shown = password) =>
    new Browser(world).signIn(person.username, shown, more)
  const lock = async () => {
    for (const wrong of ['one', 'two', 'three']) await signIn({}, wrong)
  }
  const codeFrom = async (count: number) => {
    const mails = await mailbox.to(email, count)
    return /with this code: (\d{6})/.exec(mails.at(-1)!.text)![1]!
  }
  const values = { max_login_attempts: 3, failed_login_attempts_unlock_period_in_minutes: 1 }
  await during(world, { ...values, require_email_verification_on_account_locked: true }, async () => {
    await lock()
    // Waiting is of no use, and who does not know the password learns nothing.
    const { writer } = world.service.services.db
    await sql`update users set locked_until = locked_until - interval '2 minutes' where id = ${person.id}`.execute(
      writer,
    )
    expect(await signIn({}, 'four')).toMatchObject({
      status: 401,
      body: { message: 'Invalid login or password.' },
    })
    expect(await signIn()).toMatchObject({ status: 401, body: { needs: 'unlock_code' } })
    const code = await codeFrom(1)
    const wrong = code === '000000' ? '000001' : '000000'
    expect(await signIn({ unlock_code: wrong })).toMatchObject({
      status: 401,
      body: { needs: 'unlock_code' },
    })
    expect(await signIn({ unlock_code: code }, 'four')).toMatchObject({ status: 401 })
    expect(await signIn({ unlock_code: code })).toMatchObject({ status: 200 })
    expect(await signIn()).toMatchObject({ status: 200 })

    // A code that was tried too often is of no use, nor is an old one.
    await lock()
    await signIn()
    const second = await codeFrom(2)
    for (let tries = 0; tries < 5; tries += 1) await signIn({ unlock_code: `${second}0` })
    expect(await signIn({ unlock_code: second })).toMatchObject({ status: 401 })
    await sql`update account_unlocks set sent_at = now() - interval '2 minutes'`.execute(writer)
    await signIn()
    const third = await codeFrom(3)
    await sql`update account_unlocks set sent_at = now() - interval '61 minutes'`.execute(writer)
    expect(await signIn({ unlock_code: third })).toMatchObject({ status: 401 })
  })
  // Without the setting the account opens by itself.
  expect(await signIn()).toMatchObject({ status: 401, body: { message: 'Invalid login or password.' } })
  const other = await world.user({ force_random_password: undefined, password })
  await during(world, values, async () => {
    for (const wrong of ['one', 'two', 'three']) await new Browser(world).signIn(other.username, wrong)
    await sql`update users set locked_until = locked_until - interval '2 minutes' where id = ${other.id}`.execute(
      world.service.services.db.writer,
    )
    expect((await new Browser(world).signIn(other.username, password)).status).toBe(200)
  })
})

/** The path of the newest link to choose a password that was mailed. */
async function passwordLink(email: string, count = 1): Promise<string> {
  const mails = await mailbox.to(email, count)
  return new URL(/http\S+reset_password_token=\S+/.exec(mails.at(-1)!.text)![0]).href.replace(world.url, '')
}

test('a user made with reset_password chooses the password by a link, once, which confirms the address', async () => {
  const username = world.unique('linked')
  const email = `${username}@example.com`
  const user = expectStatus(
    await world.root.post('/users', { username, email, name: 'Some Body', reset_password: true }),
    201,
  )
  expect(user['confirmed_at']).toBeNull()
  const link = await passwordLink(email)
  const browser = new Browser(world)
  expect((await browser.get(`${link}x`)).status).toBe(422)
  const { status, text } = await browser.get(link)
  expect(status).toBe(200)
  const token = /reset_password_token\]" type="hidden" value="([^"]+)"/.exec(text)![1]!
  const choose = (chosen: string, headers: Record<string, string> = {}) =>
    browser.post('/users/password/edit', { reset_password_token: token, password: chosen }, headers)

  const short = await choose('short')
  expect([short.status, short.text]).toEqual([422, expect.stringContaining('is too short')])
  expect((await choose(password, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  const done = await choose(password)
  expect((await browser.get(done.location!)).text).toContain('Your password is set')
  expect((await browser.signIn(username, password)).status).toBe(200)
  const shown = expectStatus(await world.root.get(`/users/${user['id'] as number}`), 200)
  expect(shown['confirmed_at']).not.toBeNull()
  // Used up.
  expect((await choose('another horse battery staple')).status).toBe(422)
  expect((await browser.get(link)).status).toBe(422)
})

test('a link is asked for by whoever forgot the password; nobody learns who is here', async () => {
  const username = world.unique('forgets')
  const email = `${username}@example.com`
  const user = expectStatus(
    await world.root.post('/users', {
      username,
      email,
      name: 'For Getful',
      password,
      skip_confirmation: true,
    }),
    201,
  )
  expect(user['confirmed_at']).not.toBeNull()
  const browser = new Browser(world)
  const answers = [email, 'nobody@example.com'].map((one) => browser.post('/users/password', { email: one }))
  const [known, stranger] = await Promise.all(answers)
  expect(known).toEqual(stranger)
  const link = await passwordLink(email)
  expect((await browser.get(link)).status).toBe(200)
  // A link to an address that is the user's no more is of no use.
  expectStatus(
    await world.root.put(`/users/${user['id'] as number}`, {
      email: `other-${email}`,
      skip_reconfirmation: true,
    }),
    200,
  )
  expect((await browser.get(link)).status).toBe(422)
})

test('nobody chooses a password where nobody signs in by one', async () => {
  const browser = new Browser(world)
  await during(world, { password_authentication_enabled_for_web: false }, async () => {
    const answers = [
      await browser.get('/users/password/new'),
      await browser.get('/users/password/edit?reset_password_token=of-a-mail'),
      await browser.post('/users/password', { email: 'somebody@example.com' }),
      await browser.post('/users/password/edit', { reset_password_token: 'of-a-mail', password }),
    ]
    for (const { status, location } of answers) {
      expect(status).toBe(302)
      expect((await browser.get(location!)).text).toContain('Password authentication is unavailable.')
    }
  })
  expect((await browser.get('/users/password/new')).status).toBe(200)
})
