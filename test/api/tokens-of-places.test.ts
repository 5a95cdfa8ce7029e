// @module-tag long
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Reply } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

const run = promisify(execFile)

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const holder = (token: unknown) => new Client(world.url, { 'private-token': token as string })
const said = ({ status, body }: Reply): [number, unknown] => [status, (body as Json)['message']]

/** Reads the branches of a repository as git does: their names, or what git says. */
async function lsRemote(project: Made, username: string, password: string): Promise<string> {
  const address = new URL(`${world.url}/${project.path_with_namespace}.git`)
  address.username = encodeURIComponent(username)
  address.password = password
  try {
    const { stdout } = await run('git', ['ls-remote', '--heads', address.href], {
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' },
    })
    return stdout.replaceAll(/^\S+\s+/gm, '').trim()
  } catch (error) {
    return (error as { stderr: string }).stderr
  }
}

async function push(project: Made, username: string, password: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-push-'))
  const address = new URL(`${world.url}/${project.path_with_namespace}.git`)
  address.username = encodeURIComponent(username)
  address.password = password
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' }
  try {
    await run('git', ['clone', '--quiet', address.href, folder], { env })
    await run('git', ['-C', folder, 'push', '--quiet', 'origin', 'HEAD:refs/heads/pushed'], { env })
    return 'pushed'
  } catch (error) {
    return (error as { stderr: string }).stderr
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe.each(['project', 'group'] as const)('access tokens of a %s', (kind) => {
  async function scene() {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const place = kind === 'project' ? `/projects/${project.id}` : `/groups/${group.id}`
    const keeper = await world.member(
      kind === 'project' ? { project } : { group },
      kind === 'project' ? 'maintainer' : 'owner',
    )
    const make = (fields: Json = {}) =>
      keeper.post(`${place}/access_tokens`, {
        name: 'Robot',
        scopes: ['api'],
        access_level: 30,
        expires_at: inDays(30),
        ...fields,
      })
    return { group, project, place, keeper, make }
  }

  test('stand for a bot that is a member with the level of the token', async () => {
    const { place, keeper, make, group, project } = await scene()
    const made = expectStatus(await make({ description: 'why' }), 201)
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'Robot',
      revoked: false,
      created_at: expect.any(String),
      description: 'why',
      scopes: ['api'],
      user_id: expect.any(Number),
      last_used_at: null,
      active: true,
      expires_at: inDays(30),
      access_level: 30,
      resource_type: kind,
      resource_id: kind === 'project' ? project.id : group.id,
      token: expect.stringMatching(/^glpat-/),
    })
    const { token, ...rest } = made
    expect(rowsOf(await keeper.get(`${place}/access_tokens`))).toEqual([rest])
    const bot = holder(token)
    const self = bodyOf(await bot.get('/user'))
    expect(self).toMatchObject({ id: made['user_id'], name: 'Robot', bot: true })
    expect(self['username']).toMatch(
      new RegExp(`^${kind}_${kind === 'project' ? project.id : group.id}_bot_[0-9a-f]+$`),
    )
    expect(self['email']).toBe(`${self['username']}@noreply.127.0.0.1`)
    expect(rowsOf(await keeper.get(`${place}/members`))).toContainEqual(
      expect.objectContaining({ id: made['user_id'], access_level: 30 }),
    )
    expect((await bot.get(`/projects/${project.id}`)).status).toBe(200)
    expect((await bot.get(`/projects/${project.id}/variables`)).status).toBe(403)
    const later = bodyOf(await keeper.get(`${place}/access_tokens/${made['id']}`))
    expect(Date.parse(later['last_used_at'] as string)).toBeGreaterThan(Date.now() - 60_000)
    // A bot is no member of anything else, and makes no bots.
    const internal = await world.project({ visibility: 'internal' })
    expect((await bot.get(`/projects/${internal.id}`)).status).toBe(404)
    const strong = expectStatus(await make({ access_level: kind === 'project' ? 40 : 50 }), 201)
    const refused = await holder(strong['token']).post(`${place}/access_tokens`, {
      name: 'Child',
      scopes: ['api'],
      expires_at: inDays(1),
    })
    expect(said(refused)).toEqual([
      400,
      `400 Bad request - User does not have permission to create ${kind} access token`,
    ])
    expect(
      (
        await world.root.post(`/projects/${internal.id}/members`, {
          user_id: made['user_id'],
          access_level: 30,
        })
      ).status,
    ).toBe(400)
  })

  test('refuse what no such token can be', async () => {
    const { make } = await scene()
    expect(said(await make({ expires_at: undefined }))).toEqual([
      400,
      '400 Bad request - expires_at is missing',
    ])
    expect(said(await make({ expires_at: inDays(400) }))).toEqual([
      400,
      `Expiration date must be before ${inDays(365)}`,
    ])
    if (kind === 'project') {
      expect(said(await make({ access_level: 50 }))).toEqual([
        400,
        '400 Bad request - Access level of the token contains permissions not held by the creating user',
      ])
    }
    expect((await make({ access_level: 25 })).body).toEqual({
      error: 'access_level does not have a valid value',
    })
    for (const scope of ['sudo', 'read_user', 'fly']) {
      expect((await make({ scopes: [scope] })).body).toEqual({ error: 'scopes does not have a valid value' })
    }
    expect(said(await make({ scopes: [] }))).toEqual([400, "Scopes can't be blank"])
    const { settings } = world.service.services
    await settings.change({ max_personal_access_token_lifetime: 10 })
    expect(said(await make({ expires_at: inDays(11) }))).toEqual([
      400,
      `Expiration date must be before ${inDays(10)}`,
    ])
    await settings.change({ max_personal_access_token_lifetime: null })
  })

  test('are rotated by who looks after them and by themselves; an old one that rotates ends all', async () => {
    const { place, keeper, make, project } = await scene()
    const first = expectStatus(await make({ scopes: ['api', 'self_rotate'] }), 201)
    const rotate = (id: unknown) => keeper.post(`${place}/access_tokens/${id as number}/rotate`)
    const second = expectStatus(await rotate(first['id']), 200)
    expect(second).toMatchObject({
      user_id: first['user_id'],
      access_level: 30,
      expires_at: inDays(7),
      scopes: ['api', 'self_rotate'],
    })
    expect(said(await rotate(first['id']))).toEqual([400, '400 Bad request - Token already revoked'])
    expect((await holder(first['token']).get(`/projects/${project.id}`)).status).toBe(401)
    const self = `${place}/access_tokens/self/rotate`
    const third = expectStatus(await holder(second['token']).post(self, { expires_at: inDays(3) }), 200)
    expect(third['expires_at']).toBe(inDays(3))
    expect((await keeper.post(self)).status).toBe(401)
    // Somebody else has one of the line.
    expect((await holder(first['token']).post(self)).status).toBe(401)
    expect((await holder(third['token']).get('/user')).status).toBe(401)
  })

  test('are revoked, and end with the place', async () => {
    const { place, keeper, make, project, group } = await scene()
    const made = expectStatus(await make(), 201)
    const at = `${place}/access_tokens/${made['id']}`
    const developer = await world.member(kind === 'project' ? { project } : { group }, 'developer')
    expect(said(await developer.delete(at))).toEqual([
      400,
      `Name of ${developer.username} cannot delete Robot`,
    ])
    expect((await keeper.delete(at)).status).toBe(204)
    expect(said(await keeper.delete(at))).toEqual([400, '400 Bad request - Token already revoked'])
    expect((await holder(made['token']).get('/user')).status).toBe(401)
    const thing = kind === 'project' ? 'Project' : 'Group'
    expect(said(await keeper.get(`${place}/access_tokens/4711`))).toEqual([
      404,
      `404 ${thing} Access Token Not Found`,
    ])
    const other = expectStatus(await make(), 201)
    const { writer } = world.service.services.db
    await sql`delete from resource_bots where user_id = ${other['user_id']}`.execute(writer)
    expect((await holder(other['token']).get('/user')).status).toBe(401)
  })

  test('work for git by their scopes and the level of the bot', async () => {
    const { make, project } = await scene()
    await pushFiles(world, project, { 'a.txt': 'a' })
    const token = async (fields: Json): Promise<string> =>
      expectStatus(await make(fields), 201)['token'] as string
    expect(await lsRemote(project, 'any', await token({ scopes: ['read_repository'] }))).toBe(
      'refs/heads/main',
    )
    expect(await push(project, 'any', await token({ scopes: ['write_repository'] }))).toBe('pushed')
    expect(
      await push(project, 'any', await token({ scopes: ['write_repository'], access_level: 20 })),
    ).toMatch(/You are not allowed to push code/)
    expect(await lsRemote(project, 'any', await token({ scopes: ['read_registry'] }))).toMatch(
      /Authentication failed/,
    )
  })
})

describe('deploy tokens', () => {
  const make = async (place: string, fields: Json = {}): Promise<Json> =>
    expectStatus(
      await world.root.post(`${place}/deploy_tokens`, {
        name: 'deploy',
        scopes: ['read_repository'],
        ...fields,
      }),
      201,
    )

  test('are made, shown once, listed, and deleted', async () => {
    const project = await world.project()
    const place = `/projects/${project.id}`
    const made = await make(place, {
      expires_at: '2050-01-01T10:00:00Z',
      scopes: 'read_registry,read_repository',
    })
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'deploy',
      username: `gitlab+deploy-token-${made['id']}`,
      expires_at: '2050-01-01T10:00:00.000Z',
      scopes: ['read_registry', 'read_repository'],
      revoked: false,
      expired: false,
      token: expect.stringMatching(/^gldt-[\w-]{20}$/),
    })
    const { token: _, ...rest } = made
    expect(rowsOf(await world.root.get(`${place}/deploy_tokens`))).toEqual([rest])
    expect(bodyOf(await world.root.get(`${place}/deploy_tokens/${made['id']}`))).toEqual(rest)
    expect(rowsOf(await world.root.get('/deploy_tokens?per_page=100'))).toContainEqual(rest)
    await make(place, { name: 'old', expires_at: '2020-01-01' })
    expect(rowsOf(await world.root.get(`${place}/deploy_tokens?active=true`))).toEqual([rest])
    expect(rowsOf(await world.root.get(`${place}/deploy_tokens?active=false`))).toMatchObject([
      { expired: true },
    ])
    expect((await world.root.delete(`${place}/deploy_tokens/${made['id']}`)).status).toBe(204)
    expect(said(await world.root.delete(`${place}/deploy_tokens/${made['id']}`))).toEqual([
      404,
      '404 Deploy Token Not Found',
    ])
  })

  test('refuse what none can be', async () => {
    const { id } = await world.project()
    const tried = async (fields: Json) => {
      const { status, body } = await world.root.post(`/projects/${id}/deploy_tokens`, {
        name: 'x',
        scopes: ['read_registry'],
        ...fields,
      })
      return [status, body]
    }
    expect(await tried({ scopes: [] })).toEqual([400, { message: ["Scopes can't be blank"] }])
    expect(await tried({ scopes: ['api'] })).toEqual([400, { error: 'scopes does not have a valid value' }])
    expect(await tried({ username: 'a b' })).toEqual([
      400,
      { message: { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] } },
    ])
    expect(await tried({ name: '' })).toEqual([400, { message: { name: ["can't be blank"] } }])
  })

  test('fetch code of their project or of all in their group, under their exact name, and nothing else', async () => {
    const group = await world.group()
    const below = await world.group({ parent_id: group.id })
    const project = await world.project({ namespace_id: below.id })
    const other = await world.project()
    for (const one of [project, other]) await pushFiles(world, one, { 'a.txt': 'a' })
    for (const place of [`/projects/${project.id}`, `/groups/${group.id}`]) {
      const { username, token, id } = (await make(place)) as { username: string; token: string; id: number }
      expect(await lsRemote(project, username, token)).toBe('refs/heads/main')
      expect(await lsRemote(project, 'somebody', token)).toMatch(/Authentication failed/)
      expect(await lsRemote(other, username, token)).toMatch(/not found|could not be found/)
      expect(await push(project, username, token)).toMatch(
        /You are not allowed to upload code for this project/,
      )
      expect((await holder(token).get('/user')).status).toBe(401)
      expectStatus(await world.root.delete(`${place}/deploy_tokens/${id}`), 204)
      expect(await lsRemote(project, username, token)).toMatch(/Authentication failed/)
    }
    // Under the name of somebody who may more it is still only itself.
    const named = (await make(`/projects/${project.id}`, {
      username: 'root',
      scopes: ['read_registry'],
    })) as {
      token: string
    }
    expect(await lsRemote(project, 'root', named.token)).toMatch(/403|not allowed/)
    expect(await lsRemote(other, 'root', named.token)).toMatch(/not found|could not be found/)
    const old = await make(`/projects/${project.id}`, { expires_at: '2020-01-01' })
    expect(await lsRemote(project, old['username'] as string, old['token'] as string)).toMatch(
      /Authentication failed/,
    )
  })

  test('sign in to the registry of images with what their scopes give', async () => {
    const project = await world.project()
    const other = await world.project()
    const asked = async ({ username, token }: Json, { path_with_namespace: image }: Made) => {
      const basic = Buffer.from(`${username as string}:${token as string}`).toString('base64')
      const answer = await fetch(
        `${world.url}/jwt/auth?service=container_registry&scope=repository:${image}:pull,push`,
        { headers: { authorization: `Basic ${basic}` } },
      )
      if (answer.status !== 200) return answer.status
      const { token: signed } = (await answer.json()) as { token: string }
      const claims = JSON.parse(Buffer.from(signed.split('.')[1]!, 'base64url').toString()) as {
        access: { actions: string[] }[]
        auth_type: string
      }
      return [claims.auth_type, ...claims.access.map(({ actions }) => actions)]
    }
    const reading = await make(`/projects/${project.id}`, { scopes: ['read_registry'] })
    expect(await asked(reading, project)).toEqual(['deploy_token', ['pull']])
    expect(await asked(reading, other)).toEqual(['deploy_token'])
    const writing = await make(`/groups/${project['namespace'].id}`, {
      scopes: ['read_registry', 'write_registry'],
    })
    expect(await asked(writing, project)).toEqual(['deploy_token', ['pull', 'push']])
    expect(await asked(await make(`/projects/${project.id}`), project)).toBe(403)
    const labels = {
      external_authorization_service_enabled: true,
      external_authorization_service_default_label: 'open',
    }
    await during(world, labels, async () => expect(await asked(reading, project)).toBe(401))
    const allowed = { ...labels, allow_deploy_tokens_and_keys_with_external_authn: true }
    await during(world, allowed, async () =>
      expect(await asked(reading, project)).toEqual(['deploy_token', ['pull']]),
    )
  })
})
