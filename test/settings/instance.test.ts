import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { data } from '../world/graphql.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
})
afterAll(() => world[Symbol.asyncDispose]())

const page = (path: string) => new Client(world.url).get(world.url + path)

describe('pages and doors of the instance', () => {
  test('maintenance_mode refuses what writes, but for the way out', async () => {
    const values = { maintenance_mode: true, maintenance_mode_message: 'Back at noon' }
    const { id } = await world.project()
    const issue = expectStatus(await world.root.post(`/projects/${id}/issues`, { title: 'T' }), 201)
    const noteableId = `gid://gitlab/Issue/${issue['id']}`
    await during(world, values, async () => {
      const refused = await world.root.post('/groups', { name: 'x', path: 'x' })
      expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
        503,
        '900',
        { message: 'Back at noon' },
      ])
      expect((await world.root.get('/user')).status).toBe(200)
      expect(await data(world.root, '{ currentUser { username } }')).toEqual({
        currentUser: { username: 'root' },
      })
      const write = `mutation { createNote(input: { noteableId: "${noteableId}", body: "x" }) { note { id } errors } }`
      expect(await data(world.root, write)).toEqual({ createNote: { note: null, errors: ['Back at noon'] } })
      const open = await set(world, { maintenance_mode: false })
      expect(open['maintenance_mode_message']).toBeNull()
      await world.group()
      await set(world, { maintenance_mode: true })
      expect((await world.root.post('/groups', {})).body).toEqual({
        message: 'Guildhall is undergoing maintenance',
      })
    })
    expect(await world.group()).toHaveProperty('id')
  })

  test('security_txt_content is served to everybody', async () => {
    expect((await page('/.well-known/security.txt')).status).toBe(404)
    await during(world, { security_txt_content: 'Contact: mailto:a@b.example' }, async () => {
      const found = await page('/.well-known/security.txt')
      expect([found.status, found.text]).toEqual([200, 'Contact: mailto:a@b.example'])
      expect(found.headers.get('content-type')).toMatch(/^text\/plain/)
    })
    expect((await page('/.well-known/security.txt')).status).toBe(404)
  })

  test('home_page_url sends visitors of the first page on, for good where sign_in_restrictions say so', async () => {
    await during(world, { home_page_url: 'https://home.example/x' }, async () => {
      const moved = await page('/')
      expect([moved.status, moved.headers.get('location')]).toEqual([302, 'https://home.example/x'])
      await set(world, { sign_in_restrictions: { root_moved_permanently_redirection: true } })
      expect((await page('/')).status).toBe(301)
      await set(world, { sign_in_restrictions: {} })
      expect((await page('/')).status).toBe(302)
      // By itself the switch says the same.
      await set(world, { root_moved_permanently_redirection: true })
      expect((await page('/')).status).toBe(301)
      await set(world, { home_page_url: world.url })
      expect((await page('/')).status).toBe(200)
    })
    expect((await page('/')).status).toBe(200)
  })

  test('floc_enabled lets browsers count visits in with groups of interests', async () => {
    expect((await page('/')).headers.get('permissions-policy')).toBe('interest-cohort=()')
    await during(world, { floc_enabled: true }, async () => {
      expect((await page('/')).headers.get('permissions-policy')).toBeNull()
    })
    expect((await page('/')).headers.get('permissions-policy')).toBe('interest-cohort=()')
  })

  test('polling_interval_multiplier stretches how often clients are to ask again', async () => {
    const { id } = await world.project()
    const intervalOf = async (path: string) =>
      (await world.root.get(`/projects/${id}${path}`)).headers.get('poll-interval')
    expect(await intervalOf('/pipelines')).toBe('10000')
    expect(await intervalOf('/environments')).toBe('3000')
    expect(await intervalOf('')).toBeNull()
    await during(world, { polling_interval_multiplier: 1.5 }, async () => {
      expect(await intervalOf('/pipelines')).toBe('15000')
      await set(world, { polling_interval_multiplier: 0 })
      expect(await intervalOf('/pipelines')).toBe('-1')
    })
    expect(await intervalOf('/pipelines')).toBe('10000')
  })

  test('prometheus_metrics_enabled shows metrics', async () => {
    expect((await page('/-/metrics')).status).toBe(200)
    await during(world, { prometheus_metrics_enabled: false }, async () => {
      expect((await page('/-/metrics')).status).toBe(404)
    })
    expect((await page('/-/metrics')).status).toBe(200)
  })

  test('admin_mode makes administrators of those alone whose token says so', async () => {
    const admin = await world.user({ admin: true })
    const project = await world.project()
    const inMode = new Client(world.url, {
      'private-token': await world.token(admin.id, ['api', 'admin_mode']),
    })
    await during(world, { admin_mode: true }, async () => {
      expect((await admin.get('/application/settings')).status).toBe(403)
      expect((await admin.get(`/projects/${project.id}`)).status).toBe(404)
      expect((await admin.get('/user')).status).toBe(200)
      expect((await inMode.get('/application/settings')).status).toBe(200)
      expect((await inMode.get(`/projects/${project.id}`)).status).toBe(200)
    })
    expect((await admin.get(`/projects/${project.id}`)).status).toBe(200)
  })
})
