import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

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
      {
        housekeeping_enabled: true,
        housekeeping_incremental_repack_period: 5,
        housekeeping_optimize_repository_period: 6,
        housekeeping_full_repack_period: 50,
        housekeeping_gc_period: 200,
      },
      {
        error:
          'housekeeping_incremental_repack_period, housekeeping_optimize_repository_period are mutually exclusive',
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
      { repository_storages_weighted: { default: 'many' } },
      { message: { repository_storages_weighted: ["value for 'default' must be an integer"] } },
    ],
    [
      { jira_connect_proxy_url: 'http://10.0.0.1', tracker_connect_additional_audience_url: 'http://[::1]' },
      {
        message: {
          tracker_connect_proxy_url: ['is blocked: Requests to the local network are not allowed'],
          tracker_connect_additional_audience_url: ['is blocked: Requests to localhost are not allowed'],
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
      { valid_runner_registrars: ['foo', 'group', 'bar'] },
      { message: { valid_runner_registrars: ['["foo", "bar"] is not included in the list'] } },
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
      { performance_bar_allowed_group_id: 999_999 },
      { message: { performance_bar_allowed_group_id: ['not found'] } },
    ],
    [{ default_branch_name: 'a..b' }, { message: { default_branch_name: ['is invalid'] } }],
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

  test.each([
    [
      0,
      30,
      30,
      { allow_force_push: true, developer_can_initial_push: false, code_owner_approval_required: false },
    ],
    [1, 30, 40, { allow_force_push: false, developer_can_initial_push: false }],
    [2, 40, 40, { allow_force_push: false, developer_can_initial_push: false }],
    [3, 40, 30, { allow_force_push: false, developer_can_initial_push: false }],
    [
      4,
      40,
      40,
      { allow_force_push: false, developer_can_initial_push: true, code_owner_approval_required: false },
    ],
  ])('default_branch_protection %i stands for the object of its row', async (level, push, merge, more) => {
    await during(world, { first_day_of_week: 1 }, async () => {
      const shown = await set(world, { default_branch_protection: level })
      expect(shown['default_branch_protection_defaults']).toEqual({
        allowed_to_push: [{ access_level: push }],
        allowed_to_merge: [{ access_level: merge }],
        ...more,
      })
    })
  })

  test('a blank text leaves the terms as they are, and the blanks around them are none of theirs', async () => {
    await during(world, { terms: '  Be kind.\n' }, async () => {
      const shown = async (terms: unknown) => (await set(world, { terms, first_day_of_week: 0 }))['terms']
      for (const blank of ['', ' \n', null]) expect(await shown(blank)).toBe('Be kind.')
      expect(await shown('Be kinder.')).toBe('Be kinder.')
    })
  })

  test('default_branch_name is a name without markup, and blank is none', async () => {
    const shown = async (name: string) =>
      (await set(world, { default_branch_name: name }))['default_branch_name']
    await during(world, { first_day_of_week: 1 }, async () => {
      expect([await shown('<b>trunk</b> '), await shown(' ')]).toEqual(['trunk', null])
    })
  })

  test('performance_bar_allowed_group_id is the path of a group, or its id as it is shown', async () => {
    const group = await world.group()
    await during(world, { first_day_of_week: 1 }, async () => {
      for (const given of [group.full_path, group.id, `${group.id}`]) {
        const shown = await set(world, { performance_bar_allowed_group_id: given })
        expect(shown['performance_bar_allowed_group_id']).toBe(group.id)
        await set(world, { performance_bar_enabled: false })
      }
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
