// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../settings/browser.ts'
import { Client } from '../world/client.ts'
import { startWorld, type World } from '../world/world.ts'
import { occupied, Program, temporaryFolder, type Ended } from './process.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** A command beside the running service. */
async function run(more: NodeJS.ProcessEnv | string, ...args: string[]): Promise<Ended> {
  await using program = new Program(typeof more === 'string' ? [more, ...args] : args, {
    DATA_DIR: world.directory,
    DATABASE_URL: world.databaseUrl,
    LOG_LEVEL: 'error',
    ...(typeof more === 'string' ? {} : more),
  })
  return await program.ended
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}

describe('user create', () => {
  test.each([
    ['a name with a space', 'bad name', 'a@example.com', 'Username can contain only letters'],
    ['a reserved name', 'admin', 'b@example.com', 'Username admin is a reserved name'],
    ['no address', 'carol', 'notanemail', 'Email is invalid'],
    ['a taken name', 'ROOT', 'd@example.com', 'Username has already been taken'],
    ['a taken address', 'dave', 'Admin@example.com', 'Email has already been taken'],
    ['an empty name', '', 'e@example.com', "Username can't be blank"],
  ])('refuses %s in one line', async (_what, username, email, reason) => {
    const { code, output } = await run('user', 'create', '--username', username, '--email', email)
    expect(code).toBe(1)
    expect(output.trim().split('\n')).toHaveLength(1)
    expect(output).toContain(reason)
  })

  test('makes what POST /users makes, by the settings of the instance', async () => {
    const defaults = { default_projects_limit: 7, user_defaults_to_private_profile: true }
    await world.root.put('/application/settings', defaults)
    const { code } = await run('user', 'create', '--username', 'grace', '--email', 'grace@example.com')
    expect(code).toBe(0)
    const made = await world.user()
    const [byCommand, byApi] = await Promise.all([
      world.root.get('/users?username=grace'),
      world.root.get(`/users?username=${made.username}`),
    ])
    const told = ({ body }: { body: unknown }) => {
      const [{ projects_limit, external, can_create_group, private_profile, theme_id }] = body as [
        Record<string, unknown>,
      ]
      return { projects_limit, external, can_create_group, private_profile, theme_id }
    }
    expect(told(byCommand)).toMatchObject({ projects_limit: 7, private_profile: true })
    expect(told(byCommand)).toEqual(told(byApi))
  })
})

describe('user password', () => {
  const give = async (name: string, input: string): Promise<Ended> => {
    await using program = new Program(
      ['user', 'password', name],
      { DATA_DIR: world.directory, DATABASE_URL: world.databaseUrl, LOG_LEVEL: 'error' },
      undefined,
      input,
    )
    return await program.ended
  }

  test('gives the password that is read, and ends what was opened with the one before', async () => {
    const person = await world.user({ force_random_password: undefined, password: 'Correct-Horse-7' })
    const browser = new Browser(world)
    expect((await browser.signIn(person.username, 'Correct-Horse-7')).status).toBe(200)
    expect(await give(person.username, 'Another-Horse-8\n')).toMatchObject({
      code: 0,
      output: `${person.username} has a new password.\n`,
    })
    expect((await browser.get('/api/v4/user')).status).toBe(401)
    expect((await browser.signIn(person.username, 'Correct-Horse-7')).status).toBe(401)
    expect((await browser.signIn(person.username, 'Another-Horse-8')).status).toBe(200)
  })

  test.each([
    ['a weak one', 'root', 'short', 'the password is too short (minimum is 8 characters).'],
    ['none', 'root', '', 'there is no password on standard input.'],
    ['one for nobody', 'nobody', 'Another-Horse-8', 'there is no user nobody.'],
  ])('refuses %s in one line', async (_what, name, input, reason) => {
    expect(await give(name, input)).toMatchObject({ code: 1, output: `guildhall: ${reason}\n` })
  })
})

describe('user block', () => {
  const stateOf = async (id: number): Promise<unknown> => {
    const { rows } = await sql<{ state: string }>`select state from users where id = ${id}`.execute(
      world.service.services.db.reader,
    )
    return rows[0]?.state
  }

  test('keeps out and lets in, but not the last administrator', async () => {
    const refused = await run('user', 'block', 'root')
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.output.trim()).toBe(
      'guildhall: The last administrator has to stay: make another one first.',
    )
    expect(await stateOf(1)).toBe('active')
    for (const reply of [
      await world.root.post('/users/1/ban'),
      await world.root.put('/users/1', { admin: false }),
      await world.root.delete('/users/1?hard_delete=true'),
    ]) {
      expect([reply.status, reply.body]).toEqual([
        ...[403, { message: 'The last administrator has to stay: make another one first' }],
      ])
    }
    expect(await stateOf(1)).toBe('active')

    const person = await world.user()
    expect((await run('user', 'block', person.username)).output).toContain('is blocked')
    expect(await stateOf(person.id)).toBe('blocked')
    await run('user', 'unblock', person.username)
    await world.root.put(`/users/${person.id}`, { admin: true })
    expect(await run('user', 'block', 'root')).toMatchObject({ code: 0 })
    expect((await run('user', 'block', person.username)).code).toBe(1)
    expect(await run('user', 'unblock', 'root')).toMatchObject({ code: 0 })
    expect((await run('user', 'block', 'nobody-here')).output).toContain('there is no user nobody-here')
  })
})

describe('runner', () => {
  test.each([
    [['--url', 'foo'], {}, '--url: the value is not an http or https address'],
    [[], { RUNNER_URL: 'foo' }, 'RUNNER_URL: the value is not an http or https address'],
    [['--url', 'http://x', '--concurrency', '0'], {}, '--concurrency: "0" is not a whole number'],
  ])('names what is wrong as it was given: %j %j', async (args, environment, reason) => {
    const { code, output } = await run(environment, 'runner', ...args)
    expect({ code, lines: output.trim().split('\n').length }).toEqual({ code: 1, lines: 1 })
    expect(output).toContain(reason)
  })
})

describe('token create', () => {
  async function tokenOf(output: string): Promise<unknown> {
    const client = new Client(world.url, { 'private-token': output.trim() })
    return (await client.get('/personal_access_tokens/self')).body
  }

  test('ends on the last day that the instance allows, or on the day asked for', async () => {
    const usual = await run('token', 'create', '--user', 'root')
    expect(await tokenOf(usual.output)).toMatchObject({ expires_at: inDays(365), active: true })
    const week = await run('token', 'create', '--user', 'root', '--expires-at', inDays(7))
    expect(await tokenOf(week.output)).toMatchObject({ expires_at: inDays(7) })
    await world.root.put('/application/settings', { require_personal_access_token_expiry: false })
    const endless = await run('token', 'create', '--user', 'root')
    expect(await tokenOf(endless.output)).toMatchObject({ expires_at: null })
    await world.root.put('/application/settings', { require_personal_access_token_expiry: true })
  })

  test('refuses what the API refuses, in one line', async () => {
    const person = await world.user()
    for (const [args, reason] of [
      [['--expires-at', inDays(400)], `Expiration date must be before ${inDays(365)}`],
      [['--expires-at', '2027-02-30'], '"2027-02-30" is not a day'],
      [['--expires-at', inDays(-7)], `a token that ends on ${inDays(-7)} would never work`],
      [['--expires-at', inDays(0)], `a token that ends on ${inDays(0)} would never work`],
      [['--scopes', 'sudo'], 'Scopes can only contain available scopes'],
      [['--name', ''], "Name can't be blank"],
    ] as const) {
      const { code, output } = await run('token', 'create', '--user', person.username, ...args)
      expect(code).toBe(1)
      expect(output.trim().split('\n')).toHaveLength(1)
      expect(output).toContain(reason)
    }
  })
})

describe('doctor', () => {
  const portOf = () => new URL(world.url).port

  test('tells the service of this folder from one of another', async () => {
    const ours = await run({ PORT: portOf() }, 'doctor')
    expect(ours.output).toMatch(/ok +port: .* is ours: the service runs/)
    await using folder = await temporaryFolder()
    const other = await run({ PORT: portOf(), DATA_DIR: folder.path }, 'doctor')
    expect(other.code).toBe(1)
    expect(other.output).toMatch(/WRONG +port: .* in use by a Guildhall with another DATA_DIR/)
  })

  test('looks at the port of SSH, and at the folders of repositories', async () => {
    await using other = await occupied()
    const { code, output } = await run(
      { PORT: '0', SSH_PORT: String(other.port), REPOSITORY_STORAGES: 'default=/etc/passwd' },
      'doctor',
    )
    expect(code).toBe(1)
    expect(output).toMatch(/WRONG +SSH port: .* choose another with SSH_PORT/)
    expect(output).toMatch(/WRONG +storages: .*\/etc\/passwd, is not a folder/)
  })
})
