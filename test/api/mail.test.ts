// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import { eventually } from '../world/merge-project.ts'
import { Mailbox } from '../world/mailbox.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let mailbox: Mailbox
let world: World
beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({
    SMTP_URL: mailbox.url,
    TRUSTED_PROXIES: '127.0.0.1',
    MAIL_FROM: 'The Guild <guild@example.com>',
  })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const addressOf = ({ username }: Person): string => `${username}@example.com`

/** Makes the service write one mail to a new user. */
async function deactivated(fields: Json = {}): Promise<Person> {
  const person = await world.user(fields)
  expectStatus(await world.root.post(`/users/${person.id}/deactivate`), 201)
  return person
}

/** What is kept of the mails to somebody. */
async function kept(person: Person): Promise<Json[]> {
  const { rows } = await sql<Json>`
    select sealed, attempts, failure, ended_at from mails where address = ${addressOf(person)}`.execute(
    world.service.services.db.writer,
  )
  return rows
}

describe('delivery', () => {
  test('a mail goes out once, from the configured sender, and nothing of it is kept', async () => {
    const person = await deactivated({ name: 'Zoë, “the quick”' })
    const [mail] = await mailbox.to(addressOf(person))
    expect(mail).toMatchObject({ from: 'guild@example.com', subject: 'Your account has been deactivated' })
    expect(mail!.headers).toMatchObject({
      from: 'The Guild <guild@example.com>',
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<mail-\d+@127\.0\.0\.1>$/) as string,
    })
    expect(mail!.text).toContain('Hello Zoë, “the quick”,')
    const [row] = await eventually(async () => {
      const rows = await kept(person)
      return rows[0]?.['ended_at'] !== null && rows
    })
    expect(row).toMatchObject({ sealed: null, failure: null })
    expect(mailbox.received.filter(({ to }) => to.includes(addressOf(person)))).toHaveLength(1)
  })

  test('a server that is busy is asked again later; one that wants none of it is not', async () => {
    mailbox.refusals.push({ code: 451, text: 'try again' })
    const later = await deactivated()
    const [waiting] = await eventually(async () => {
      const rows = await kept(later)
      return rows[0]?.['attempts'] === 1 && rows
    })
    expect(waiting).toMatchObject({
      ended_at: null,
      sealed: expect.not.stringContaining(later.username) as string,
    })
    // The time is the task's: make it now.
    await sql`select graphile_worker.reschedule_jobs(
      array(select id from graphile_worker.jobs where task_identifier = 'mail:send'), run_at => now())`.execute(
      world.service.services.db.writer,
    )
    await mailbox.to(addressOf(later))

    mailbox.refusals.push({ code: 550, text: 'no such mailbox' })
    const refused = await deactivated()
    const [given] = await eventually(async () => {
      const rows = await kept(refused)
      return rows[0]?.['ended_at'] != null && rows
    })
    expect(given).toMatchObject({
      sealed: null,
      failure: expect.stringContaining('no such mailbox') as string,
    })
  })
})

describe('settings', () => {
  test('email_additional_text stands below every mail', async () => {
    await during(world, { email_additional_text: 'Registered in the town of Ghent.' }, async () => {
      const [mail] = await mailbox.to(addressOf(await deactivated()))
      expect(mail!.text).toMatch(/\nRegistered in the town of Ghent\.\n$/)
    })
    const [mail] = await mailbox.to(addressOf(await deactivated()))
    expect(mail!.text).not.toContain('Ghent')
  })

  test('user_deactivation_emails_enabled: nobody is told of his deactivation when it is off', async () => {
    let quiet: Person | undefined
    await during(world, { user_deactivation_emails_enabled: false }, async () => {
      quiet = await deactivated()
    })
    await mailbox.to(addressOf(await deactivated()))
    expect(await kept(quiet!)).toEqual([])
  })

  test('notify_on_unknown_sign_in tells of a new address on a new device', async () => {
    const password = 'correct horse battery staple'
    const person = await world.user({ force_random_password: undefined, password })
    const enter = async (ip: string, cookie = ''): Promise<string> => {
      const answer = await fetch(`${world.url}/users/sign_in`, {
        method: 'POST',
        body: new URLSearchParams({ 'user[login]': person.username, 'user[password]': password }),
        headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': ip, 'user-agent': 'Lynx', cookie },
      })
      expect(answer.status).toBe(200)
      return answer.headers
        .getSetCookie()
        .map((one) => one.split(';', 1)[0]!)
        .find((one) => one.startsWith('known_sign_in='))!
    }
    const device = await enter('192.0.2.1')
    await enter('192.0.2.1')
    await enter('192.0.2.2', device)
    expect(await kept(person)).toEqual([])
    await enter('192.0.2.3')
    const [mail] = await mailbox.to(addressOf(person))
    expect(mail!.text).toContain('from the address 192.0.2.3 with Lynx')
    await during(world, { notify_on_unknown_sign_in: false }, async () => {
      await enter('192.0.2.4')
    })
    expect(await kept(person)).toHaveLength(1)
  })
})

test('without a server no mail is queued', async () => {
  await using quiet = await startWorld({ ROLES: 'web' })
  const person = await quiet.user()
  expectStatus(await quiet.root.post(`/users/${person.id}/deactivate`), 201)
  const { rows } = await sql`select from mails`.execute(quiet.service.services.db.writer)
  expect(rows).toEqual([])
})

describe('reports of abuse', () => {
  const report = { category: 'phishing', message: 'Asks everybody for passwords' }

  test('are mailed to abuse_notification_email while there is one, and listed for administrators', async () => {
    const [reporter, offender, other] = [await world.user(), await world.user(), await world.user()]
    const third = await world.user()
    await during(world, { abuse_notification_email: 'abuse@example.com' }, async () => {
      const body = { ...report, user_id: offender.id, reported_from_url: 'https://there.example/1' }
      const made = expectStatus(await reporter.post('/abuse_reports', body), 201)
      expect(made).toMatchObject({ ...report, user: { id: offender.id }, reporter: { id: reporter.id } })
      const [mail] = await mailbox.to('abuse@example.com')
      expect(mail!.subject).toBe(
        `Name of ${offender.username} (@${offender.username}) was reported for abuse`,
      )
      for (const part of [report.message, 'phishing', `@${reporter.username}`, 'https://there.example/1']) {
        expect(mail!.text).toContain(part)
      }
      // By its old name.
      await set(world, { admin_notification_email: 'old@example.com' })
      expectStatus(await reporter.post('/abuse_reports', { ...report, user_id: third.id }), 201)
      expect(await mailbox.to('old@example.com')).toHaveLength(1)
    })
    expectStatus(await reporter.post('/abuse_reports', { ...report, user_id: other.id }), 201)
    const queued = await sql<{ number: number }>`
      select count(*)::int as number from mails where key like 'abuse report %'`.execute(
      world.service.services.db.reader,
    )
    expect(queued.rows[0]!.number).toBe(2)
    const listed = (await world.root.get('/abuse_reports')).body as Json[]
    expect(listed.map(({ user }) => (user as Json)['id'] as number)).toEqual([
      other.id,
      third.id,
      offender.id,
    ])
    expectStatus(await world.root.delete(`/abuse_reports/${listed[0]!['id'] as number}`), 204)
    expect((await world.root.delete(`/abuse_reports/${listed[0]!['id'] as number}`)).status).toBe(404)
  })

  test('are refused a second time, about oneself, about nobody, and without sense', async () => {
    const [reporter, offender] = [await world.user(), await world.user()]
    const send = (more: Json) => reporter.post('/abuse_reports', { ...report, user_id: offender.id, ...more })
    expectStatus(await send({}), 201)
    const refusals: [Json, number, unknown][] = [
      [{}, 400, { message: { user_id: ['has already been reported'] } }],
      [{ user_id: reporter.id }, 400, { message: { user_id: ['is yourself'] } }],
      [{ user_id: 999_999 }, 404, { message: '404 User Not Found' }],
      [{ category: 'rudeness' }, 400, { error: 'category does not have a valid value' }],
      [{ message: '' }, 400, { error: 'message is empty' }],
      [
        { message: 'x'.repeat(10_001) },
        400,
        { message: { message: ['is too long (maximum is 10000 characters)'] } },
      ],
    ]
    for (const [more, status, body] of refusals) expect(await send(more)).toMatchObject({ status, body })
  })
})

describe('the appearance of the instance', () => {
  const path = '/application/appearance'
  const usual = {
    title: '',
    description: '',
    logo: null,
    header_logo: null,
    favicon: null,
    new_project_guidelines: '',
    profile_image_guidelines: '',
    header_message: '',
    footer_message: '',
    message_background_color: '#E75E40',
    message_font_color: '#FFFFFF',
    email_header_and_footer_enabled: false,
  }
  const signInPage = async () => (await fetch(`${world.url}/users/sign_in`)).text()

  test('shows on the sign-in page and around mails, until it is reset', async () => {
    expect((await world.root.get(path)).body).toEqual(usual)
    const change = {
      title: 'Ours & <b>theirs</b>',
      description: 'For **everybody** <script>alert(1)</script>',
      header_message: 'At the head',
      footer_message: 'At the foot',
      message_font_color: '#abc',
      email_header_and_footer_enabled: true,
    }
    expect(expectStatus(await world.root.put(path, change), 200)).toEqual({ ...usual, ...change })
    const page = await signInPage()
    expect(page).toContain('<h2>Ours &amp; &lt;b&gt;theirs&lt;/b&gt;</h2>')
    expect(page).toContain('For <strong>everybody</strong>')
    expect(page).not.toContain('<script>alert')
    const mailOf = async () => {
      const user = await world.user()
      expectStatus(await world.root.post(`/users/${user.id}/deactivate`), 201)
      return (await mailbox.to(`${user.username}@example.com`))[0]!.text.trim()
    }
    expect(await mailOf()).toMatch(/^At the head\n[^]+\nAt the foot$/)
    expectStatus(
      await world.root.put(path, { ...usual, title: null, logo: '', header_logo: '', favicon: '' }),
      200,
    )
    expect((await world.root.get(path)).body).toEqual(usual)
    expect(await signInPage()).not.toContain('Ours')
    expect(await mailOf()).not.toContain('At the')
  })

  test('has pictures, which everybody may see', async () => {
    const send = (field: string, content: string | Buffer) => {
      const form = new FormData()
      form.set(field, new Blob([new Uint8Array(Buffer.from(content))]), 'picture')
      return world.root.put(path, form)
    }
    const png = Buffer.from('\x89PNG\r\n\x1A\nrest of it', 'latin1')
    const { logo } = expectStatus(await send('logo', png), 200) as { logo: string }
    expect(logo).toMatch(/^\/uploads\/-\/system\/appearance\/logo\/1\/[0-9a-f]+\.png$/)
    const answer = await fetch(world.url + logo)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await answer.arrayBuffer()).equals(png)).toBe(true)
    expect(await signInPage()).toContain(`<img src="..${logo}"`)
    expect((await fetch(`${world.url}/uploads/-/system/appearance/other/1/a.png`)).status).toBe(404)
    const refusals: [string, string | Buffer, string][] = [
      ['logo', '<svg/>', 'file format is not supported'],
      ['header_logo', Buffer.alloc(1024 * 1024 + 1), 'is too big (should be at most 1 MiB)'],
      ['favicon', 'GIF89a', 'allowed types: png, ico'],
    ]
    for (const [field, content, problem] of refusals) {
      const refused = await send(field, content)
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining(problem)])
    }
    expect((await world.root.put(path, { message_font_color: 'red' })).status).toBe(400)
    expect(await world.root.put(path, { title: 'x'.repeat(256) })).toMatchObject({
      status: 400,
      body: { message: { title: ['is too long (maximum is 255 characters)'] } },
    })
    expectStatus(await world.root.put(path, { logo: '' }), 200)
    expect((await fetch(world.url + logo)).status).toBe(404)
  })
})
