// @module-tag long
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { freePort, occupied, Program, temporaryFolder } from './process.ts'

const token = 'token-of-the-start-tests'
const isRoot = process.getuid?.() === 0
const nobody = { uid: 65534, gid: 65534 }

function api(port: number, secret = token): Client {
  return new Client(`http://127.0.0.1:${port}`, { 'private-token': secret })
}

function shownToken(output: string): string | undefined {
  return /shown this once: (\S+)/.exec(output)?.[1]
}

function shownPassword(output: string): string | undefined {
  return /Password of root .* shown this once: (\S+)/.exec(output)?.[1]
}

/** The status of signing in as root. */
async function signIn(url: string, password: string | undefined): Promise<number> {
  const { status } = await fetch(`${url}/users/sign_in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ login: 'root', password }),
  })
  return status
}

describe('serve', () => {
  test.each(isRoot ? ['root', 'an ordinary user'] : ['an ordinary user'])(
    'starts as %s, shows token and password once, stops in order, and starts again',
    async (who) => {
      const user = isRoot && who !== 'root' ? nobody : undefined
      await using folder = await temporaryFolder(user)
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const environment = { PORT: String(port), DATA_DIR: path.join(folder.path, 'data') }
      let secret: string
      let password: string
      {
        await using program = new Program(['serve'], environment, user)
        await program.ready(url)
        await expect.poll(() => shownToken(program.output), { timeout: 20_000 }).toMatch(/^glpat-.{20}$/)
        secret = shownToken(program.output)!
        expect(program.output).toContain(`Guildhall is ready at ${url}`)
        expect((await api(port, secret).get('/user')).body).toMatchObject({
          username: 'root',
          is_admin: true,
        })
        password = shownPassword(program.output)!
        expect(password).toMatch(/^\S{20}$/)
        expect(await signIn(url, password)).toBe(200)
        program.kill('SIGTERM')
        expect(await program.ended).toMatchObject({ code: 0, signal: null })
      }
      {
        await using program = new Program(['serve'], environment, user)
        await program.ready(url)
        expect(shownToken(program.output)).toBeUndefined()
        expect((await api(port, secret).get('/user')).status).toBe(200)
        expect(await signIn(url, password)).toBe(200)
      }
    },
    300_000,
  )

  test('comes up again after kill -9 with all that it acknowledged', { timeout: 300_000 }, async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const environment = { PORT: String(port), DATA_DIR: folder.path, ROOT_TOKEN: token, ROLES: 'web,tasks' }
    const acknowledged = new Set<string>()
    {
      await using program = new Program(['serve'], environment)
      await program.ready(url)
      const root = api(port)
      const project = (await root.post('/projects', { name: 'app' })).body as { id: number }
      let next = 0
      const writers = Array.from({ length: 16 }, async () => {
        while (next < 1000) {
          const key = `KEY_${next++}`
          const reply = await root
            .post(`/projects/${project.id}/variables`, { key, value: key })
            .catch(() => undefined)
          if (reply === undefined) return
          if (reply.status === 201) acknowledged.add(key)
          if (acknowledged.size === 500) program.kill('SIGKILL')
        }
      })
      await Promise.all(writers)
      expect(await program.ended).toMatchObject({ signal: 'SIGKILL' })
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(500)
    await using program = new Program(['serve'], environment)
    await program.ready(url)
    const found = new Set<string>()
    for (let page = 1; page <= 11; page += 1) {
      const reply = await api(port).get(`/projects/root%2Fapp/variables?per_page=100&page=${page}`)
      for (const variable of reply.body as { key: string; value: string }[]) {
        expect(variable.value).toBe(variable.key)
        found.add(variable.key)
      }
    }
    expect([...acknowledged].filter((key) => !found.has(key))).toEqual([])
  })
})

test(
  'root’s token is shown at the first start that succeeds, and later ones say how to get another',
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const environment = { PORT: String(port), DATA_DIR: folder.path, ROLES: 'web', LOG_LEVEL: 'error' }
    {
      await using other = await occupied()
      await using program = new Program(['serve'], { ...environment, PORT: String(other.port) })
      expect(await program.ended).toMatchObject({ code: 1 })
    }
    {
      await using program = new Program(['serve'], environment)
      await program.ready(url)
      await expect.poll(() => shownToken(program.output), { timeout: 20_000 }).toMatch(/^glpat-.{20}$/)
      const reply = await api(port, shownToken(program.output)).get('/user')
      expect(reply.body).toMatchObject({ username: 'root' })
    }
    await using program = new Program(['serve'], environment)
    await program.ready(url)
    await expect.poll(() => program.output, { timeout: 20_000 }).toContain('All endpoints')
    expect(shownToken(program.output)).toBeUndefined()
    expect(program.output).toContain('npx guildhall token create --user root')
  },
)

test(
  'ROOT_PASSWORD is root’s until there is another; without it none is made where ROOT_TOKEN is given',
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const environment = { PORT: String(port), DATA_DIR: folder.path, ROLES: 'web', ROOT_TOKEN: token }
    const start = async (more: NodeJS.ProcessEnv, work: (program: Program) => Promise<void>) => {
      await using program = new Program(['serve'], { ...environment, ...more })
      await program.ready(url)
      await expect.poll(() => program.output, { timeout: 20_000 }).toContain('All endpoints')
      expect(program.output).not.toContain('shown this once')
      await work(program)
    }
    await start({}, async () => expect(await signIn(url, '')).toBe(401))
    await start({ ROOT_PASSWORD: 'Correct-Horse-7' }, async (program) => {
      expect(await signIn(url, 'Correct-Horse-7')).toBe(200)
      expect(program.output).not.toContain('Correct-Horse-7')
    })
    await start({ ROOT_PASSWORD: 'Another-Horse-8' }, async () => {
      expect([await signIn(url, 'Correct-Horse-7'), await signIn(url, 'Another-Horse-8')]).toEqual([200, 401])
    })
  },
)

describe('trouble is one clear line and exit code 1', () => {
  async function fails(environment: NodeJS.ProcessEnv, args = ['serve']): Promise<string> {
    await using folder = await temporaryFolder()
    const port = await freePort()
    await using program = new Program(args, {
      PORT: String(port),
      DATA_DIR: path.join(folder.path, 'data'),
      LOG_LEVEL: 'error',
      ...environment,
    })
    const { code, output } = await program.ended
    expect(code).toBe(1)
    expect(output.trim().split('\n')).toHaveLength(1)
    return output
  }

  test('port in use', async () => {
    await using other = await occupied()
    expect(await fails({ PORT: String(other.port) })).toContain(`port ${other.port} is in use`)
  })

  test('port of SSH in use, or that of the service', async () => {
    await using other = await occupied()
    const output = await fails({ SSH_PORT: String(other.port) })
    expect(output).toContain(
      `port ${other.port} is in use; stop what uses it, or choose another with SSH_PORT`,
    )
    const same = String(other.port)
    expect(await fails({ PORT: same, SSH_PORT: same })).toContain('SSH_PORT: it is the same as PORT')
  })

  test.each([
    ['PORT', 'eighty', 'is not a whole number from 0 to 65535'],
    ['PLAN', 'gold', 'is not one of free, premium, ultimate'],
    ['ROOT_TOKEN', 'short', 'is shorter than 20 characters'],
    ['ROOT_PASSWORD', 'short', 'is too short (minimum is 8 characters)'],
    ['EXTERNAL_URL', 'example.com', 'is not an http or https address'],
    ['DATABASE_URL', 'mysql://x', 'is not a postgres:// address'],
    ['RUNNER_URL', 'example.com', 'is not an http or https address'],
    ['ROLES', 'web,cook', 'names an unknown role, "cook"'],
  ])('%s=%s', async (name, value, reason) => {
    const output = await fails({ [name]: value })
    expect(output).toContain(name)
    expect(output).toContain(reason)
  })

  test('a database that cannot be reached', async () => {
    const port = await freePort()
    const output = await fails({ DATABASE_URL: `postgres://user:secret@127.0.0.1:${port}/none` })
    expect(output).toContain('cannot be reached')
    expect(output).not.toContain('secret')
  })

  test('a folder that cannot be written', async () => {
    expect(await fails({ DATA_DIR: '/proc/guildhall' })).toContain('cannot write below /proc/guildhall')
  })

  test.each([['serve'], ['migrate'], ['user list'], ['runner --url http://127.0.0.1 --token glrt-x']])(
    'a file where the folder must be: %s',
    async (command) => {
      const output = await fails({ DATA_DIR: '/etc/passwd' }, command.split(' '))
      expect(output).toMatch(/\/etc\/passwd\b.*choose (another|a) folder.* with DATA_DIR/)
    },
  )

  test.each([
    ['/etc/passwd', '/etc/passwd, is not a folder'],
    ['/proc/x', '/proc/x, cannot be made'],
    ['/proc', '/proc, cannot be written'],
  ])('repositories in %s', async (folder, reason) => {
    const output = await fails({ REPOSITORY_STORAGES: `default=${folder}` })
    expect(output).toContain('REPOSITORY_STORAGES: the folder of "default"')
    expect(output).toContain(reason)
  })

  test('git missing', async () => {
    await using folder = await temporaryFolder()
    const bin = path.join(folder.path, 'bin')
    await mkdir(bin)
    await symlink(process.execPath, path.join(bin, 'node'))
    expect(await fails({ PATH: bin })).toContain('git was not found')
  })

  test('git too old', async () => {
    await using folder = await temporaryFolder()
    const { writeFile } = await import('node:fs/promises')
    await symlink(process.execPath, path.join(folder.path, 'node'))
    await writeFile(path.join(folder.path, 'git'), '#!/bin/sh\necho git version 2.30.1\n')
    await chmod(path.join(folder.path, 'git'), 0o755)
    expect(await fails({ PATH: `${folder.path}:/bin` })).toContain('2.39 or newer is needed')
  })
})

test.each([
  [''],
  ['serve'],
  ['migrate'],
  ['runner'],
  ['user'],
  ['token'],
  ['registry'],
  ['doctor'],
  ['token create'],
  ['registry collect'],
])('guildhall %s --help', async (command) => {
  await using program = new Program([...command.split(' ').filter(Boolean), '--help'], {})
  const { code, output } = await program.ended
  expect(code).toBe(0)
  expect(output).toContain('Usage: guildhall')
})

test(
  'doctor finds nothing wrong, and token and user work without the service',
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    const environment = { PORT: String(await freePort()), DATA_DIR: folder.path }
    const run = async (...args: string[]): Promise<string> => {
      await using program = new Program(args, environment)
      const { code, output } = await program.ended
      expect(output).not.toContain('WRONG')
      // As the database stops with the command.
      expect(output).not.toContain('connection broke')
      expect(code).toBe(0)
      return output
    }
    expect(await run('doctor')).toContain('ok     database')
    expect(await run('user', 'create', '--username', 'ada', '--email', 'ada@example.com')).toContain('ada')
    expect(await run('user', 'list')).toContain('ada@example.com')
    expect(await run('token', 'create', '--user', 'ada')).toMatch(/^glpat-.{20}$/m)
  },
)

test('the version of the manual is the version of the package', async () => {
  const { version } = JSON.parse(
    await readFile(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as { version: string }
  await using program = new Program(['--version'], {})
  expect((await program.ended).output.trim()).toBe(version)
})
