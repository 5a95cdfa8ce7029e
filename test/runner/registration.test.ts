import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { defaults } from '../../src/settings/index.ts'
import { during, set } from '../settings/effects.ts'
import type { Client } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/** Runners that are registered with the token of a place, as older ones are. */
let world: World
let nobody: Client
beforeAll(async () => {
  world = await startWorld()
  nobody = world.anonymous
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.service.services.settings.change(defaults))

async function tokenOf(place: string): Promise<string> {
  return expectStatus(await world.root.post(`${place}/runners/reset_registration_token`), 201)[
    'token'
  ] as string
}

async function shown(made: Json): Promise<Json> {
  return expectStatus(await world.root.get(`/runners/${made['id'] as number}`), 200)
}

test('a runner of the instance, of a group, of a project', async () => {
  const group = await world.group()
  const project = await world.project()
  const places = [
    ['', 'instance_type'],
    [`/groups/${group.id}`, 'group_type'],
    [`/projects/${project.id}`, 'project_type'],
  ] as const
  for (const [place, type] of places) {
    const token = await tokenOf(place)
    expect(token).toMatch(/^GR1348941\S{20}$/)
    const made = expectStatus(
      await nobody.post('/runners', {
        token,
        description: 'old',
        tag_list: 'a, b',
        run_untagged: false,
        locked: true,
        access_level: 'ref_protected',
        maximum_timeout: 900,
        maintenance_note: 'mind the step',
        info: { name: 'runner', version: '13.12.0', features: { refspecs: true } },
      }),
      201,
    )
    expect(made).toEqual({
      id: expect.any(Number),
      token: expect.stringMatching(/^glrtr-/),
      token_expires_at: null,
    })
    expect(await shown(made)).toMatchObject({
      runner_type: type,
      description: 'old',
      tag_list: ['a', 'b'],
      run_untagged: false,
      locked: true,
      access_level: 'ref_protected',
      maximum_timeout: 900,
      maintenance_note: 'mind the step',
      status: 'never_contacted',
    })
    expect((await nobody.post('/runners/verify', { token: made['token'] as string })).status).toBe(200)
    expect((await nobody.post('/jobs/request', { token: made['token'] as string })).status).toBe(204)
  }
  const ofGroup = (await world.root.get(`/groups/${group.id}/runners?type=group_type`)).body as Json[]
  const ofProject = (await world.root.get(`/projects/${project.id}/runners?type=project_type`)).body as Json[]
  expect([ofGroup, ofProject].map(({ length }) => length)).toEqual([1, 1])
})

test('a new registration token ends the one before', async () => {
  const project = await world.project()
  const first = await tokenOf(`/projects/${project.id}`)
  const second = await tokenOf(`/projects/${project.id}`)
  const refused = await nobody.post('/runners', { token: first })
  expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden - invalid token supplied' }])
  expect((await nobody.post('/runners', { token: second })).status).toBe(201)
})

test('those who look after a group or project are shown its registration token, while the instance takes such', async () => {
  const { settings } = world.service.services
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  for (const [path, role] of [
    [`/groups/${group.id}`, 'owner'],
    [`/projects/${project.id}`, 'maintainer'],
  ] as const) {
    const person = await world.member({ group }, role)
    const shown = async (): Promise<unknown> => ((await person.get(path)).body as Json)['runners_token']
    const token = await shown()
    expect(await shown()).toBe(token)
    expect((await nobody.post('/runners', { token: token as string })).status).toBe(201)
    expect(await tokenOf(path)).not.toBe(token)
    expect(await shown()).not.toBe(token)
    await settings.change({ allow_runner_registration_token: false })
    expect(await shown()).toBeNull()
    await settings.change({ allow_runner_registration_token: true })
    const developer = await world.member({ group }, 'developer')
    expect((await developer.get(path)).body).not.toHaveProperty('runners_token')
  }
})

test('what no runner can be, and what nobody may be', async () => {
  const token = await tokenOf('')
  const post = (body: Json) => nobody.post('/runners', { token, ...body })
  expect((await nobody.post('/runners', {})).body).toEqual({ error: 'token is missing' })
  expect((await post({ active: true, paused: true })).body).toEqual({
    error: 'active, paused are mutually exclusive',
  })
  expect((await post({ run_untagged: false })).body).toEqual({
    message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
  })
  expect((await post({ maximum_timeout: 599 })).body).toEqual({
    message: { maximum_timeout: ['needs to be at least 10 minutes'] },
  })
  const maintainer = await world.member({ group: await world.group() }, 'maintainer')
  expect((await maintainer.post('/runners/reset_registration_token')).status).toBe(403)
})

test('the instance may take no registration tokens, or not those of projects or groups', async () => {
  const group = await world.group()
  const tokens = {
    instance: await tokenOf(''),
    group: await tokenOf(`/groups/${group.id}`),
    project: await tokenOf(`/projects/${(await world.project()).id}`),
  }
  const statuses = async (): Promise<number[]> =>
    Promise.all(Object.values(tokens).map(async (token) => (await nobody.post('/runners', { token })).status))
  await during(world, { valid_runner_registrars: ['group'] }, async () => {
    expect(await statuses()).toEqual([201, 201, 403])
    await set(world, { valid_runner_registrars: [] })
    expect(await statuses()).toEqual([201, 403, 403])
  })
  expect(await statuses()).toEqual([201, 201, 201])
  await during(world, { allow_runner_registration_token: false }, async () => {
    const gone = await nobody.post('/runners', { token: tokens.instance })
    expect([gone.status, gone.body]).toEqual([410, { message: '410 Gone - runner registration disallowed' }])
  })
  expect(await statuses()).toEqual([201, 201, 201])
})

test.each([
  ['runner_token_expiration_interval', 'instance_type'],
  ['group_runner_token_expiration_interval', 'group_type'],
  ['project_runner_token_expiration_interval', 'project_type'],
])('%s: tokens of such runners end, and are renewed by themselves', async (setting, runner_type) => {
  const [group, project] = [await world.group(), await world.project()]
  const fields: Json = {
    runner_type,
    ...(runner_type === 'group_type' && { group_id: group.id }),
    ...(runner_type === 'project_type' && { project_id: project.id }),
  }
  const make = async (): Promise<Json> => expectStatus(await world.root.post('/user/runners', fields), 201)
  const inTwoHours = (time: unknown): boolean =>
    Math.abs(Date.parse(time as string) - Date.now() - 7200_000) < 60_000
  await during(world, { [setting]: 7200 }, async () => {
    const made = await make()
    const token = made['token'] as string
    expect(made['token_expires_at']).toSatisfy(inTwoHours)
    expect((await nobody.post('/runners/verify', { token })).body).toEqual(made)
    const renewed = await nobody.post('/runners/reset_authentication_token', { token })
    expect(renewed.body.token_expires_at).toSatisfy(inTwoHours)
    expect(renewed.body.token).not.toBe(token)
    await sql`update ci_runners set token_expires_at = now() - interval '1 second' where id = ${made['id'] as number}`.execute(
      world.service.services.db.writer,
    )
    expect((await nobody.post('/jobs/request', { token: renewed.body.token as string })).status).toBe(403)
    // Those of other kinds of runners last.
    const other = {
      runner_type: 'instance_type' === runner_type ? 'group_type' : 'instance_type',
      group_id: group.id,
    }
    expect((await world.root.post('/user/runners', other)).body.token_expires_at).toBeNull()
  })
  expect((await make())['token_expires_at']).toBeNull()
})
