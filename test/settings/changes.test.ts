import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

describe('a change', () => {
  const history = async (query = '') =>
    (await world.root.get(`/application/settings/history${query}`)).body as Json[]

  test('is a revision that tells who changed what, and can be taken back', async () => {
    const [before] = await history()
    await set(world, { home_page_url: 'https://one.example', spam_check_api_key: 'hush' })
    await set(world, { home_page_url: 'https://two.example' })
    await set(world, { home_page_url: 'https://two.example' })
    const found = await history('?setting=home_page_url')
    expect(found.map(({ changes }) => changes)).toEqual([
      [{ name: 'home_page_url', from: 'https://one.example', to: 'https://two.example' }],
      [
        { name: 'home_page_url', from: null, to: 'https://one.example' },
        { name: 'spam_check_api_key', from: null, to: null, secret: true },
      ],
    ])
    expect(found[0]).toMatchObject({ user: { username: 'root' }, restores: null })

    const back = { revision: before!['id'] as number }
    const foreseen = await world.root.post('/application/settings/rollback', { ...back, dry_run: true })
    expect(foreseen.body).toMatchObject({
      dry_run: true,
      changes: [
        { name: 'home_page_url', from: 'https://two.example', to: null },
        { name: 'spam_check_api_key', secret: true },
      ]
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map((one) => expect.objectContaining(one)),
    })
    const restored = expectStatus(await world.root.post('/application/settings/rollback', back), 200)
    expect(restored['home_page_url']).toBeNull()
    expect((await history())[0]).toMatchObject({ restores: before!['id'] })
    expect((await world.root.post('/application/settings/rollback', { revision: 999_999 })).status).toBe(404)
  })

  test('that is only tried is told with its effects, and changes nothing', async () => {
    const { body } = await world.root.put('/application/settings?dry_run=true&admin_mode=true')
    expect(body).toMatchObject({
      dry_run: true,
      changes: [
        { name: 'admin_mode', from: false, to: true, warning: expect.stringContaining('admin_mode') },
      ],
    })
    const settings = (await world.root.get('/application/settings')).body
    expect([settings.admin_mode, 'dry_run' in settings]).toEqual([false, false])
    const wrong = await world.root.put('/application/settings', { dry_run: true, max_attachment_size: 0 })
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { message: { max_attachment_size: ['must be greater than 0'] } },
    ])
  })

  test('by two administrators at once loses nothing', async () => {
    const values = { after_sign_up_text: 'Hello', help_page_support_url: 'help', first_day_of_week: 6 }
    await Promise.all(Object.entries(values).map(([name, value]) => set(world, { [name]: value })))
    expect((await world.root.get('/application/settings')).body).toMatchObject(values)
    await set(world, { first_day_of_week: 0 })
  })

  test('is in force on every node at once', async () => {
    const other = await world.sibling({})
    await during(world, { security_txt_content: 'Contact: x' }, async () => {
      await expect
        .poll(async () => (await fetch(`${other.address}/.well-known/security.txt`)).status)
        .toBe(200)
    })
  })

  test('is shown by every node at once, whatever it answered last', async () => {
    const other = await world.sibling({})
    const there = new Client(other.address, world.root.headers)
    const shown = async (by: Client) =>
      (await by.get('/application/settings')).body.first_day_of_week as number
    for (const [day, writer, reader] of [
      [1, world.root, there],
      [6, there, world.root],
      [0, world.root, there],
    ] as const) {
      expectStatus(await writer.put('/application/settings', { first_day_of_week: day }), 200)
      expect([await shown(reader), await shown(writer)]).toEqual([day, day])
    }
  })

  test('raises updated_at, and never created_at', async () => {
    const before = (await world.root.get('/application/settings')).body
    expect(before).toMatchObject({ id: 1, created_at: expect.stringMatching(/Z$/) })
    const after = await set(world, { help_page_text: `${before.updated_at}` })
    expect(after['created_at']).toBe(before.created_at)
    expect(Date.parse(after['updated_at'] as string)).toBeGreaterThan(Date.parse(before.updated_at as string))
    expect((await set(world, { help_page_text: `${before.updated_at}` }))['updated_at']).toBe(
      after['updated_at'],
    )
  })

  test('keeps secrets sealed in the database, and shows none but the one that is shown', async () => {
    await during(
      world,
      { recaptcha_private_key: 'hidden-key', external_pipeline_validation_service_token: 'shown-token' },
      async () => {
        const shown = (await world.root.get('/application/settings')).body
        expect('recaptcha_private_key' in shown).toBe(false)
        expect(shown.external_pipeline_validation_service_token).toBe('shown-token')
        const { db } = world.service.services
        const rows = await db.reader.selectFrom('application_settings').select(['name', 'value']).execute()
        const text = JSON.stringify(rows)
        expect(text).toContain('recaptcha_private_key')
        expect(text).not.toMatch(/hidden-key|shown-token/)
      },
    )
  })
})

describe('plans', () => {
  test('below the plan a setting is not shown, is taken without an effect, and its like are refused alone too', async () => {
    const free = await world.sibling({ PLAN: 'free', VENDOR_FIELD_NAMES: 'false' })
    const admin = new Client(free.address, world.root.headers)
    const shown = expectStatus(await admin.get('/application/settings'), 200)
    expect(
      ['deletion_adjourned_period', 'max_ssh_key_lifetime', 'gravatar_enabled'].filter(
        (name) => name in shown,
      ),
    ).toEqual([])
    expect('globally_allowed_ips' in shown).toBe(true)
    expect((await admin.put('/application/settings', { deletion_adjourned_period: 'nonsense' })).status).toBe(
      200,
    )
  })
})
