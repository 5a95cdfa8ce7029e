import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Person } from '../world/client.ts'
import { startWorld, type Made, type World } from '../world/world.ts'
import { Browser } from './browser.ts'
import { during, set } from './effects.ts'

let world: World
let user: Person
let project: Made
let cookie: string
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web', TRUSTED_PROXIES: '127.0.0.1,::1' })
  user = await world.user()
  project = await world.project({ visibility: 'public' })
  const password = 'correct horse battery staple'
  const { username } = await world.user({ force_random_password: undefined, password })
  const browser = new Browser(world)
  await browser.signIn(username, password)
  cookie = browser.cookie
})
afterAll(() => world[Symbol.asyncDispose]())

/** Somebody at an address of his own. */
let last = 0
function address(): Record<string, string> {
  last += 1
  return { 'x-forwarded-for': `203.0.113.${last}` }
}
const raw = (path: string, headers: Record<string, string>, method = 'GET') =>
  new Client(world.url).request(method, world.url + path, undefined, headers)

describe('throttles', () => {
  const files = () => `/api/v4/projects/${project.id}/repository/files/README.md?ref=main`
  const packages = () => `/api/v4/projects/${project.id}/packages/generic/tool/1.0/tool`
  const git = () => `/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`
  const basic = () => `Basic ${Buffer.from(`x:${user.token}`).toString('base64')}`

  test.each<[family: string, path: () => string, headers: () => Record<string, string>]>([
    ['unauthenticated_api', () => '/api/v4/projects', address],
    ['authenticated_api', () => '/api/v4/user', () => ({ 'private-token': user.token })],
    ['unauthenticated_web', () => '/', address],
    ['authenticated_web', () => '/users/sign_in', () => ({ cookie })],
    // What only looks like git, or like the registry.
    ['unauthenticated_web', () => `/${project.path_with_namespace}/-/raw/main/x.git/y`, address],
    ['unauthenticated_web', () => '/v2-tools/app/-/raw/main/README.md', address],
    ['unauthenticated_files_api', files, address],
    ['authenticated_files_api', files, () => ({ 'private-token': user.token })],
    ['unauthenticated_packages_api', packages, address],
    ['authenticated_packages_api', packages, () => ({ 'private-token': user.token })],
    ['unauthenticated_deprecated_api', () => '/api/v4/groups/1', address],
    ['authenticated_deprecated_api', () => '/api/v4/groups/1', () => ({ 'private-token': user.token })],
    ['unauthenticated_git_http', git, address],
    ['authenticated_git_http', git, () => ({ authorization: basic() })],
  ])(
    'throttle_%s: the third of two requests is refused, until it is switched off',
    async (family, path, headers) => {
      const mine = headers()
      const name = `throttle_${family}`
      const values = {
        [`${name}_enabled`]: true,
        [`${name}_requests_per_period`]: 2,
        [`${name}_period_in_seconds`]: 100_000,
      }
      await during(world, values, async () => {
        const first = await raw(path(), mine)
        expect(first.status).not.toBe(429)
        await raw(path(), mine)
        const refused = await raw(path(), mine)
        expect([refused.status, refused.headers.get('content-type'), refused.text]).toEqual([
          429,
          'text/plain',
          'Retry later\n',
        ])
        const told = Object.fromEntries(refused.headers)
        const window = (Math.floor(Date.now() / 1000 / 100_000) + 1) * 100_000
        expect(told).toMatchObject({
          'ratelimit-name': name,
          // Two in 100,000 seconds, for each 60 of them, rounded up.
          'ratelimit-limit': '1',
          'ratelimit-observed': '3',
          'ratelimit-remaining': '0',
          'ratelimit-reset': String(window),
          'ratelimit-resettime': new Date(window * 1000).toUTCString(),
        })
        expect(Number(told['retry-after'])).toBeGreaterThan(0)
        // Others are not concerned.
        expect((await raw(path(), address())).status).not.toBe(429)
      })
      expect((await raw(path(), mine)).status).not.toBe(429)
    },
  )

  test('tell on what is let in how much is left', async () => {
    const values = {
      throttle_authenticated_api_enabled: true,
      throttle_authenticated_api_requests_per_period: 7000,
      throttle_authenticated_api_period_in_seconds: 60,
    }
    await during(world, values, async () => {
      const { headers } = await user.get('/user')
      expect(headers.get('ratelimit-name')).toBe('throttle_authenticated_api')
      expect(headers.get('ratelimit-limit')).toBe('7000')
      expect(headers.get('retry-after')).toBeNull()
    })
    expect((await user.get('/user')).headers.get('ratelimit-name')).toBeNull()
  })

  test('have a text of one\u2019s own: rate_limiting_response_text', async () => {
    const mine = address()
    const values = {
      throttle_unauthenticated_enabled: true,
      throttle_unauthenticated_requests_per_period: 1,
      throttle_unauthenticated_period_in_seconds: 100_000,
      rate_limiting_response_text: 'Come back tomorrow',
    }
    await during(world, values, async () => {
      await raw('/', mine)
      expect((await raw('/', mine)).text).toBe('Come back tomorrow\n')
      await set(world, { rate_limiting_response_text: null })
      expect((await raw('/', mine)).text).toBe('Retry later\n')
    })
    expect((await raw('/', mine)).status).not.toBe(429)
  })

  test('count a token that nobody has as no credentials at all', async () => {
    const mine = { ...address(), 'private-token': 'none-that-there-is' }
    const values = {
      throttle_unauthenticated_api_enabled: true,
      throttle_unauthenticated_api_requests_per_period: 1,
      throttle_unauthenticated_api_period_in_seconds: 100_000,
    }
    await during(world, values, async () => {
      expect((await raw('/api/v4/user', mine)).status).toBe(401)
      expect((await raw('/api/v4/user', mine)).status).toBe(429)
    })
  })

  test('of protected paths count what is posted there, and what is fetched from others', async () => {
    const values = {
      throttle_protected_paths_enabled: true,
      throttle_protected_paths_requests_per_period: 1,
      throttle_protected_paths_period_in_seconds: 100_000,
      protected_paths_raw: '/users/sign_in\n/session',
      protected_paths_for_get_request_raw: '/-/api',
    }
    await during(world, values, async () => {
      const [poster, reader] = [address(), address()]
      await raw('/users/sign_in', poster, 'POST')
      expect((await raw('/users/sign_in', poster, 'POST')).status).toBe(429)
      expect((await raw('/users/sign_in', poster)).status).not.toBe(429)
      await raw('/-/api', reader)
      expect((await raw('/-/api', reader)).status).toBe(429)
      await set(world, { protected_paths_raw: '/session', protected_paths_for_get_request_raw: '' })
      expect((await raw('/users/sign_in', poster, 'POST')).status).not.toBe(429)
      expect((await raw('/-/api', reader)).status).not.toBe(429)
      await raw('/session', poster, 'POST')
      expect((await raw('/session', poster, 'POST')).status).toBe(429)
      await set(world, { throttle_protected_paths_enabled: false })
      expect((await raw('/session', poster, 'POST')).status).not.toBe(429)
    })
    expect((await raw('/users/sign_in', address(), 'POST')).status).not.toBe(429)
  })

  test('count together what several nodes are asked', async () => {
    const other = await world.sibling({ TRUSTED_PROXIES: '127.0.0.1,::1' })
    const mine = address()
    const values = {
      throttle_unauthenticated_api_enabled: true,
      throttle_unauthenticated_api_requests_per_period: 5,
      throttle_unauthenticated_api_period_in_seconds: 100_000,
    }
    await during(world, values, async () => {
      for (let number = 0; number < 5; number += 1) await raw('/api/v4/projects', mine)
      await expect
        .poll(async () => (await fetch(`${other.address}/api/v4/projects`, { headers: mine })).status, {
          timeout: 30_000,
        })
        .toBe(429)
    })
  })
})

describe('limits of single endpoints', () => {
  test.each<[setting: string, path: () => string, caller: 'user' | 'nobody', period: string]>([
    ['projects_api_rate_limit_unauthenticated', () => '/projects', 'nobody', '600'],
    ['projects_api_limit', () => '/projects', 'user', '600'],
    ['project_api_limit', () => `/projects/${project.id}`, 'user', '60'],
    ['project_jobs_api_rate_limit', () => `/projects/${project.id}/jobs`, 'user', '60'],
    ['groups_api_limit', () => '/groups', 'user', '60'],
    ['group_api_limit', () => '/groups/999999', 'user', '60'],
    ['group_shared_groups_api_limit', () => '/groups/1/groups/shared', 'nobody', '60'],
    ['users_get_by_id_limit', () => '/users/1', 'user', '600'],
    ['users_api_limit_ssh_keys', () => '/users/1/keys', 'user', '60'],
    ['users_api_limit_ssh_key', () => '/users/1/keys/1', 'user', '60'],
  ])('%s: one call too many is told when to come again', async (setting, path, caller, period) => {
    const mine = caller === 'user' ? { 'private-token': (await world.user()).token } : address()
    await during(world, { [setting]: 1 }, async () => {
      expect((await raw(`/api/v4${path()}`, mine)).status).not.toBe(429)
      const refused = await raw(`/api/v4${path()}`, mine)
      expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
        429,
        period,
        { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
      ])
      expect(refused.headers.get('ratelimit-name')).toBeNull()
    })
    expect((await raw(`/api/v4${path()}`, mine)).status).not.toBe(429)
  })

  test('members_delete_limit counts for each project by itself', async () => {
    const owner = await world.member({ project }, 'owner')
    const other = await world.project()
    await during(world, { members_delete_limit: 1 }, async () => {
      const path = `/projects/${project.id}/members/999999`
      expect((await owner.delete(path)).status).toBe(404)
      expect((await owner.delete(path)).status).toBe(429)
      expect((await owner.delete(`/projects/${other.id}/members/999999`)).status).toBe(404)
    })
    expect((await owner.delete(`/projects/${project.id}/members/999999`)).status).toBe(404)
  })

  test('users_get_by_id_limit_allowlist_raw names who is not limited; administrators are not', async () => {
    const values = { users_get_by_id_limit: 1, users_get_by_id_limit_allowlist_raw: user.username }
    await during(world, values, async () => {
      for (const caller of [user, user, world.root, world.root]) {
        expect((await caller.get('/users/1')).status).toBe(200)
      }
      await set(world, { users_get_by_id_limit_allowlist_raw: '' })
      const asked = [await user.get('/users/1'), await user.get('/users/1')]
      expect(asked.at(-1)!.status).toBe(429)
    })
    expect((await user.get('/users/1')).status).toBe(200)
  })
})

describe('unique_ips_limit', () => {
  test('refuses a user from one address too many, every address, until they are forgotten', async () => {
    const person = await world.user()
    const from = (ip: string) => person.get('/user', { 'x-forwarded-for': ip })
    await during(
      world,
      {
        unique_ips_limit_enabled: true,
        unique_ips_limit_per_user: 2,
        unique_ips_limit_time_window: 3600,
      },
      async () => {
        expect((await from('198.51.100.1')).status).toBe(200)
        expect((await from('198.51.100.2')).status).toBe(200)
        const refused = await from('198.51.100.3')
        expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
        await set(world, { unique_ips_limit_per_user: 3 })
        expect((await from('198.51.100.3')).status).toBe(200)
        // Within a window that is over already, only the present address counts.
        await set(world, { unique_ips_limit_per_user: 1, unique_ips_limit_time_window: 0 })
        expect((await from('198.51.100.1')).status).toBe(200)
      },
    )
    expect((await from('198.51.100.9')).status).toBe(200)
  })

  test('keeps such a user from signing in, and from pages', async () => {
    const password = 'correct horse battery staple'
    const { username } = await world.user({ force_random_password: undefined, password })
    const at = (ip: string) => ({ 'x-forwarded-for': ip })
    const browser = new Browser(world)
    const signIn = (ip: string) =>
      new Browser(world).post('/users/sign_in', { login: username, password }, at(ip))
    const grant = (ip: string) =>
      fetch(`${world.url}/oauth/token`, {
        method: 'POST',
        headers: at(ip),
        body: new URLSearchParams({ grant_type: 'password', username, password }),
      })
    await during(world, { unique_ips_limit_enabled: true, unique_ips_limit_per_user: 1 }, async () => {
      await browser.post('/users/sign_in', { login: username, password }, at('198.51.100.21'))
      expect((await browser.get('/users/sign_in', at('198.51.100.21'))).status).toBe(200)
      const wrong = { login: username, password: 'wrong' }
      await new Browser(world).post('/users/sign_in', wrong, at('198.51.100.22'))
      expect((await grant('198.51.100.21')).status).toBe(200)
      const refused = await raw('/users/sign_in', { cookie: browser.cookie, ...at('198.51.100.23') })
      expect([refused.status, refused.text, refused.headers.get('retry-after')]).toEqual([403, '', '3600'])
      expect((await signIn('198.51.100.24')).status).toBe(401)
      expect((await grant('198.51.100.24')).status).toBe(400)
    })
    expect((await browser.get('/users/sign_in', at('198.51.100.25'))).status).toBe(200)
    expect((await signIn('198.51.100.24')).status).toBe(200)
    expect((await grant('198.51.100.24')).status).toBe(200)
  })
})
