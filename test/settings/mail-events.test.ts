import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import { Mailbox } from '../world/mailbox.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
let mailbox: Mailbox
let group: Made
beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SMTP_URL: mailbox.url })
  group = await world.group()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const events = { mailgun_events_enabled: true, mailgun_signing_key: 'signing-key' }

const post = async (body: string, path = '/-/mailgun/webhooks'): Promise<number> =>
  (await fetch(world.url + path, { method: 'POST', body, headers: { 'content-type': 'application/json' } }))
    .status

/** What the provider sends of a mail, signed as it signs. */
function signed(event: Json, { key = 'signing-key', age = 0, token = world.unique('token') } = {}): string {
  const timestamp = String(Math.floor(Date.now() / 1000) - age)
  const signature = createHmac('sha256', key)
    .update(timestamp + token)
    .digest('hex')
  return JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event })
}

const failed = (invite_token: string, severity = 'permanent'): Json => ({
  event: 'failed',
  severity,
  tags: ['invite_email'],
  'user-variables': { invite_token },
})

/** Invites an address; answers the headers of the mail. */
async function invite(): Promise<{ address: string; headers: Readonly<Record<string, string>> }> {
  const address = `${world.unique('invited')}@example.com`
  const fields = { email: address, access_level: 30 }
  expectStatus(await world.root.post(`/groups/${group.id}/invitations`, fields), 201)
  const [mail] = await mailbox.to(address)
  return { address, headers: mail!.headers }
}

const tokenOf = (headers: Readonly<Record<string, string>>): string =>
  (JSON.parse(headers['x-mailgun-variables']!) as { invite_token: string }).invite_token

async function arrived(address: string): Promise<unknown> {
  const all = rowsOf(await world.root.get(`/groups/${group.id}/invitations?query=${address}`))
  return all[0]!['invite_email_success']
}

describe('events of the mail provider', () => {
  test('mailgun_events_enabled: mark an invitation whose mail cannot be delivered', async () => {
    let given = ''
    await during(world, events, async () => {
      const { address, headers } = await invite()
      expect(headers['x-mailgun-tag']).toBe('invite_email')
      given = tokenOf(headers)
      expect(await post(signed(failed(given, 'temporary')))).toBe(200)
      expect(await post(signed({ ...failed(given), event: 'delivered' }))).toBe(200)
      expect(await arrived(address)).toBe(true)
      expect(await post(signed(failed(given)))).toBe(200)
      expect(await arrived(address)).toBe(false)
      const other = await invite()
      expect(
        await post(signed(failed(tokenOf(other.headers))), '/-/members/mailgun/permanent_failures'),
      ).toBe(200)
      expect(await arrived(other.address)).toBe(false)
    })
    const { headers } = await invite()
    expect(headers).not.toHaveProperty('x-mailgun-variables')
    expect(await post(signed(failed(given)))).toBe(406)
  })

  test('nobody is reminded of what cannot be delivered', async () => {
    await during(world, events, async () => {
      const [lost, kept] = [await invite(), await invite()]
      expect(await post(signed(failed(tokenOf(lost.headers))))).toBe(200)
      const { writer } = world.service.services.db
      await sql`update invitations set created_at = created_at - interval '3 days'`.execute(writer)
      await sql`select graphile_worker.add_job('invitations:remind', '{}'::json)`.execute(writer)
      await mailbox.to(kept.address, 2)
      await world.settled()
      expect(await mailbox.to(lost.address)).toHaveLength(1)
    })
  })

  test('mailgun_signing_key: are taken by whom has it, once and soon', async () => {
    await during(world, events, async () => {
      const { address, headers } = await invite()
      const event = failed(tokenOf(headers))
      expect(await post(signed(event, { key: 'another' }))).toBe(404)
      expect(await post(signed(event, { age: 13 * 3600 }))).toBe(406)
      expect(await post(signed(event, { age: -13 * 3600 }))).toBe(406)
      expect(await arrived(address)).toBe(true)
      const once = signed({ event: 'failed' })
      expect([await post(once), await post(once)]).toEqual([200, 406])
      // The signature is of token and time, so the same one with another event is no better.
      const token = world.unique('token')
      expect(await post(signed({ event: 'failed' }, { token }))).toBe(200)
      expect(await post(signed(event, { token }))).toBe(406)
      expect(await arrived(address)).toBe(true)
      await set(world, { mailgun_signing_key: 'another' })
      expect(await post(signed(event))).toBe(404)
      expect(await post(signed(event, { key: 'another' }))).toBe(200)
      expect(await arrived(address)).toBe(false)
    })
  })

  test('that make no sense are refused, or do nothing', async () => {
    await during(world, events, async () => {
      for (const body of [
        '',
        '[',
        'null',
        '1',
        '{}',
        '{"signature":[]}',
        '{"signature":{"token":"\\u0000"}}',
      ])
        expect(await post(body)).toBe(404)
      expect(await post(`"${'x'.repeat(1_500_000)}"`)).toBe(404)
      for (const event of [{}, failed('x'), failed('x'.repeat(9999)), { event: [], severity: {} }])
        expect(await post(signed(event))).toBe(200)
      expect(await post(signed(null as never))).toBe(200)
    })
  })
})
