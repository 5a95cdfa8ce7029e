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

describe('rules between settings', () => {
  test.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ codenav_enabled: true }, { error: 'codenav_url is missing' }],
    [{ sourcegraph_enabled: true }, { error: 'codenav_url is missing' }],
    [{ codenav_enabled: true, codenav_url: null }, { message: { codenav_url: ["can't be blank"] } }],
    [
      { codenav_url: 'javascript:alert(1)' },
      { message: { codenav_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
    [{ codenav_url: 'somewhere' }, { message: { codenav_url: ['is blocked: URI is invalid'] } }],
    [
      { spam_check_endpoint_url: 'https://spam.example' },
      { message: { spam_check_endpoint_url: ['is blocked: Only allowed schemes are tls, grpc'] } },
    ],
    [
      { spam_check_endpoint_url: 'grpc:50051' },
      { message: { spam_check_endpoint_url: ['is blocked: URI is invalid'] } },
    ],
    [{ gitpod_enabled: true, gitpod_url: '' }, { message: { gitpod_url: ["can't be blank"] } }],
    [
      { gitpod_enabled: true, gitpod_url: 'javascript:alert(1)' },
      { message: { gitpod_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
    [
      { asset_proxy_enabled: true, asset_proxy_url: 'x', asset_proxy_secret_key: 'y' },
      { message: { asset_proxy_url: ['is not a valid URL'] } },
    ],
    [
      {
        eks_integration_enabled: true,
        eks_account_id: '',
        eks_access_key_id: null,
        eks_secret_access_key: null,
      },
      { message: { eks_account_id: ["can't be blank"] } },
    ],
    [
      { chat_app_enabled: true, chat_app_id: 'x', chat_app_secret: 'y' },
      { error: 'chat_app_signing_secret is missing, chat_app_verification_token is missing' },
    ],
    [{ require_two_factor_authentication: true }, { error: 'two_factor_grace_period is missing' }],
    [
      { housekeeping_enabled: true },
      {
        error:
          'housekeeping_incremental_repack_period, housekeeping_optimize_repository_period are missing, exactly one parameter must be provided',
      },
    ],
    [
      { housekeeping_enabled: true, housekeeping_gc_period: 5, housekeeping_incremental_repack_period: 5 },
      {
        error:
          'housekeeping_full_repack_period, housekeeping_gc_period, housekeeping_incremental_repack_period provide all or none of parameters',
      },
    ],
    [
      { signin_enabled: true, password_authentication_enabled_for_web: true },
      { error: 'password_authentication_enabled_for_web, signin_enabled are mutually exclusive' },
    ],
    [
      { domain_denylist_enabled: true },
      { message: { domain_denylist: ['Domain denylist cannot be empty if denylist is enabled.'] } },
    ],
    [{ enforce_terms: true }, { message: { base: ['You need to set terms to be enforced'] } }],
    [
      { asset_proxy_enabled: true },
      { message: { asset_proxy_url: ["can't be blank"], asset_proxy_secret_key: ["can't be blank"] } },
    ],
    [
      { restricted_visibility_levels: ['private'] },
      {
        message: {
          default_project_visibility: ['cannot be set to a restricted visibility level'],
          default_group_visibility: ['cannot be set to a restricted visibility level'],
        },
      },
    ],
    [
      { deactivate_dormant_users: true, deactivate_dormant_users_period: 30 },
      {
        message: {
          deactivate_dormant_users_period: ["'30' days of inactivity must be greater than or equal to 90"],
        },
      },
    ],
    [
      { inactive_projects_send_warning_email_after_months: 2 },
      { message: { inactive_projects_send_warning_email_after_months: ['must be less than 2'] } },
    ],
    [
      { archive_builds_in_human_readable: '2 hours' },
      { message: { archive_builds_in_seconds: ['must be at least 1 day'] } },
    ],
    [
      { repository_storages_weighted: { elsewhere: 5, default: 101 } },
      {
        message: {
          repository_storages_weighted: [
            "value for 'default' must be between 0 and 100",
            "can't include: elsewhere",
          ],
        },
      },
    ],
    [
      { repository_storages_weighted: { elsewhere: 5 } },
      { message: { repository_storages_weighted: ["can't include: elsewhere"] } },
    ],
    [
      Object.fromEntries(
        ['rsa', 'dsa', 'ecdsa', 'ed25519', 'ecdsa_sk', 'ed25519_sk'].map((type) => [
          `${type}_key_restriction`,
          -1,
        ]),
      ),
      { message: { allowed_key_types: ["can't be blank"] } },
    ],
    [{ rsa_key_restriction: 1000 }, { error: 'rsa_key_restriction does not have a valid value' }],
    [
      { valid_runner_registrars: ['foo'] },
      { message: { valid_runner_registrars: ['["foo"] is not included in the list'] } },
    ],
    [
      { globally_allowed_ips: '10.0.0.0/8, nowhere' },
      { message: { globally_allowed_ips: ['invalid address: nowhere'] } },
    ],
    [
      { home_page_url: 'javascript:alert(1)' },
      { message: { home_page_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
    [
      { performance_bar_allowed_group_id: 'no/such-group' },
      { message: { performance_bar_allowed_group_id: ['not found'] } },
    ],
    [
      { default_branch_protection_defaults: { allowed_to_push: [{}] } },
      { error: 'default_branch_protection_defaults[allowed_to_push][0][access_level] is missing' },
    ],
  ])('%j is refused with %j, and so is what came with it', async (sent, answer) => {
    const before = (await world.root.get('/application/settings')).body
    const { status, body } = await world.root.put('/application/settings', {
      ...sent,
      help_page_documentation_base_url: 'x',
    })
    expect([status, body]).toEqual([400, answer])
    expect((await world.root.get('/application/settings')).body).toEqual(before)
  })

  test('companions are asked for with a switch that is on in the request itself', async () => {
    for (const values of [{ codenav_enabled: false }, { codenav_url: 'https://codenav.example' }]) {
      expectStatus(await world.root.put('/application/settings', values), 200)
    }
    // That the address is stored does not help.
    const { status, body } = await world.root.put('/application/settings', { codenav_enabled: true })
    expect([status, body]).toEqual([400, { error: 'codenav_url is missing' }])
    await set(world, { codenav_url: null })
  })

  test('the old throttle of who is nobody is the one of pages, under another name', async () => {
    const tripleOf = (shown: Json, name: string) =>
      ['enabled', 'requests_per_period', 'period_in_seconds'].map((last) => shown[`${name}_${last}`])
    const [old, web, api] = ['', '_web', '_api'].map((kind) => `throttle_unauthenticated${kind}`) as [
      string,
      string,
      string,
    ]
    await during(world, { first_day_of_week: 1 }, async () => {
      const values = { [`${old}_requests_per_period`]: 901, [`${old}_period_in_seconds`]: 902 }
      const shown = await set(world, values)
      expect([tripleOf(shown, old), tripleOf(shown, web)]).toEqual([
        [false, 901, 902],
        [false, 901, 902],
      ])
      expect(tripleOf(shown, api)).toEqual([false, 3600, 3600])
      // The present name wins.
      const both = await set(world, {
        [`${web}_requests_per_period`]: 903,
        [`${old}_requests_per_period`]: 904,
      })
      expect([tripleOf(both, old), tripleOf(both, web)]).toEqual([
        [false, 903, 902],
        [false, 903, 902],
      ])
    })
  })

  test('default_branch_protection_defaults is replaced as a whole', async () => {
    const shown = async (given: Json) =>
      (await set(world, { default_branch_protection_defaults: given }))['default_branch_protection_defaults']
    await during(world, { first_day_of_week: 1 }, async () => {
      const whole = { allowed_to_push: [{ access_level: 30 }], allow_force_push: true }
      expect(await shown(whole)).toEqual(whole)
      expect(await shown({ allow_force_push: false })).toEqual({ allow_force_push: false })
    })
  })

  test('what the others say stays: old names, old numbers, the raw list', async () => {
    await during(world, { default_branch_protection: 1, first_day_of_week: 1 }, async () => {
      const shown = await set(world, {
        admin_notification_email: 'a@b.example',
        signin_enabled: false,
        gravatar_enabled: false,
        enabled_git_access_protocol: 'all',
        outbound_local_requests_allowlist_raw: 'a.example;10.0.0.1 a.example\nb.example',
        housekeeping_incremental_repack_period: 17,
      })
      expect(shown).toMatchObject({
        abuse_notification_email: 'a@b.example',
        password_authentication_enabled_for_web: false,
        signin_enabled: false,
        avatar_service_enabled: false,
        gravatar_enabled: false,
        enabled_git_access_protocol: '',
        outbound_local_requests_whitelist: ['a.example', '10.0.0.1', 'b.example'],
        housekeeping_optimize_repository_period: 17,
        housekeeping_gc_period: 17,
        default_branch_protection: 1,
        default_branch_protection_defaults: {
          allowed_to_push: [{ access_level: 30 }],
          allowed_to_merge: [{ access_level: 40 }],
          allow_force_push: false,
          developer_can_initial_push: false,
        },
      })
      expect('admin_notification_email' in shown).toBe(false)
    })
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
