// @module-tag long
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git, type Told } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

let world: World
let copies: Copies
let project: Made
let base: string
let maintainer: Person
let developer: Person
let stranger: Person

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project.id}`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  stranger = await world.user()
  await copies.filled(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const withKey = async (add: (publicKey: string) => Promise<unknown>) => ({
  ssh: await sshLogin(world, copies, add),
})

const keyOf = (person: Person, fields: Json = {}) =>
  withKey(async (key) =>
    expectStatus(await person.post('/user/keys', { title: 'laptop', key, ...fields }), 201),
  )

const address = (of: string = project.path_with_namespace) => sshAddress(world, of)

const tryGit = (ssh: string, folder: string, ...args: string[]): Promise<Told> =>
  copies.try(folder, args, { GIT_SSH_COMMAND: ssh })

async function clone(ssh: string): Promise<string> {
  const folder = path.join(copies.folder, world.unique('ssh'))
  const told = await tryGit(ssh, copies.folder, 'clone', '--quiet', address(), folder)
  expect(told).toMatchObject({ code: 0 })
  return folder
}

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `ssh` itself. */
function run(ssh: string, ...command: string[]): Promise<Ran> {
  return runWith('', ssh, ...command)
}

/** The same, with something to read. */
function runWith(input: string, ssh: string, ...command: string[]): Promise<Ran> {
  const [program, ...options] = ssh.split(' ')
  const args = [...options, '-T', '-p', String(world.service.sshPort!), 'git@127.0.0.1', ...command]
  return new Promise((resolve) => {
    const child = execFile(program!, args, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
    child.stdin!.end(input)
  })
}

test('a project says where it is cloned from', async () => {
  const { body } = await world.root.get(base)
  expect((body as Json)['ssh_url_to_repo']).toBe(address())
})

describe('wikis', () => {
  test.each(['projects', 'groups'] as const)(
    'of %s are cloned and pushed, by those who may',
    async (kind) => {
      const place = kind === 'projects' ? project : await world.group()
      const fullPath = kind === 'projects' ? project.path_with_namespace : place['full_path']
      const writer = kind === 'projects' ? developer : await world.member({ group: place }, 'developer')
      const { ssh } = await keyOf(writer)
      expectStatus(await writer.post(`/${kind}/${place.id}/wikis`, { title: 'home', content: 'first' }), 201)
      const folder = path.join(copies.folder, world.unique('wiki'))
      const wiki = address(`${fullPath}.wiki`)
      const told = await tryGit(ssh, copies.folder, 'clone', '--quiet', wiki, folder)
      expect(told, told.stderr).toMatchObject({ code: 0 })
      await copies.commit(folder, { 'pushed.md': 'second\n' })
      expect(await tryGit(ssh, folder, 'push', '--quiet', 'origin', 'HEAD')).toMatchObject({ code: 0 })
      const page = await writer.get(`/${kind}/${place.id}/wikis/pushed`)
      expect(page.body).toMatchObject({ slug: 'pushed', content: 'second\n' })

      const other = await keyOf(stranger)
      const refused = await tryGit(other.ssh, copies.folder, 'ls-remote', wiki)
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toContain('could not be found')
    },
  )
})

describe('users', () => {
  test('clone and push with a key of theirs, under the rules that hold everywhere', async () => {
    const { ssh } = await keyOf(developer)
    const copy = await clone(ssh)
    await copies.commit(copy, { 'large.bin': randomBytes(3_000_000) })
    const told = await tryGit(ssh, copy, 'push', 'origin', 'main')
    expect(told.code).not.toBe(0)
    expect(told.stderr).toContain(
      'remote: Guildhall: You are not allowed to push code to protected branches on this project.',
    )
    expect(await tryGit(ssh, copy, 'push', '--quiet', 'origin', 'HEAD:work')).toMatchObject({ code: 0 })
    const head = await git(copy, 'rev-parse', 'HEAD')
    const { body } = await developer.get(`${base}/repository/branches/work`)
    expect(body).toMatchObject({ commit: { id: head } })
    const again = await clone(ssh)
    expect(await git(again, 'rev-parse', 'origin/work')).toBe(head)
    expect(await tryGit(ssh, copy, 'push', '--quiet', 'origin', 'HEAD:work')).toMatchObject({ code: 0 })
    expect(await tryGit(ssh, copy, 'push', '--quiet', 'origin', ':work')).toMatchObject({ code: 0 })
  })

  test('speak every version of the protocol', async () => {
    const { ssh } = await keyOf(developer)
    for (const version of ['0', '1', '2']) {
      const told = await tryGit(
        ssh,
        copies.folder,
        '-c',
        `protocol.version=${version}`,
        'ls-remote',
        address(),
      )
      expect(told.stdout).toContain('refs/heads/main')
    }
  })

  test('are welcomed by name, and run nothing else', async () => {
    const { ssh } = await keyOf(developer)
    expect(await run(ssh)).toMatchObject({
      code: 0,
      stdout: `Welcome to Guildhall, @${developer.username}!\r\n`,
    })
    const told = await run(ssh, 'cat', '/etc/passwd')
    expect(told).toMatchObject({ code: 1, stdout: '' })
    expect(told.stderr).toContain('remote: ERROR: Unknown command: cat /etc/passwd')
    const odd = await run(ssh, "git-upload-pack '../../x.git'")
    expect(odd).toMatchObject({ code: 1, stdout: '' })
  })

  test('see only what they may', async () => {
    const { ssh } = await keyOf(stranger)
    const told = await tryGit(ssh, copies.folder, 'ls-remote', address())
    expect(told.stderr).toContain(
      "ERROR: The project you were looking for could not be found or you don't have permission to view it.",
    )
  })

  test('are shut out with an unknown, deleted, expired or signing key, and when blocked', async () => {
    const unknown = await withKey(async () => undefined)
    expect((await run(unknown.ssh)).stderr).toContain('Permission denied (publickey)')
    const signing = await keyOf(developer, { usage_type: 'signing' })
    expect((await run(signing.ssh)).stderr).toContain('Permission denied (publickey)')
    const person = await world.member({ project }, 'developer')
    const { ssh } = await keyOf(person)
    const list = () => tryGit(ssh, copies.folder, 'ls-remote', address())
    expect(await list()).toMatchObject({ code: 0 })
    const [key] = (await person.get('/user/keys')).body as { id: number }[]
    await world.root.post(`/users/${person.id}/block`)
    expect((await list()).stderr).toContain('ERROR: Your account has been blocked.')
    await world.root.delete(`/users/${person.id}/keys/${key!.id}`)
    expect((await list()).stderr).toContain('Permission denied (publickey)')
  })
})

describe('deploy keys', () => {
  const deployKey = async (fields: Json = {}) => {
    let id = 0
    const { ssh } = await withKey(async (key) => {
      const made = await maintainer.post(`${base}/deploy_keys`, { title: 'ci writer', key, ...fields })
      id = expectStatus(made, 201)['id'] as number
    })
    return { ssh, id }
  }

  test('read, and write only when they may', async () => {
    const { ssh, id } = await deployKey()
    const copy = await clone(ssh)
    await copies.commit(copy, 'by-key')
    const push = (branch: string) => tryGit(ssh, copy, 'push', 'origin', `HEAD:${branch}`)
    expect((await push('keys')).stderr).toContain(
      'ERROR: This deploy key does not have write access to this project.',
    )
    await maintainer.put(`${base}/deploy_keys/${id}`, { can_push: true })
    expect(await push('keys')).toMatchObject({ code: 0 })
    const other = await world.project()
    expect(
      (await tryGit(ssh, copies.folder, 'ls-remote', address(other.path_with_namespace))).stderr,
    ).toContain('ERROR: The project you were looking for could not be found')
  })

  test('allow_deploy_tokens_and_keys_with_external_authn: they stand for nobody whom a policy is about', async () => {
    const { ssh } = await deployKey()
    const read = async () =>
      (await tryGit(ssh, copies.folder, 'ls-remote', address(project.path_with_namespace))).code
    const labels = {
      external_authorization_service_enabled: true,
      external_authorization_service_default_label: 'open',
    }
    const allowed = { ...labels, allow_deploy_tokens_and_keys_with_external_authn: true }
    expect(await read()).toBe(0)
    await during(world, labels, async () => expect(await read()).not.toBe(0))
    await during(world, allowed, async () => expect(await read()).toBe(0))
    const server = { ...allowed, external_authorization_service_url: 'https://policy.example' }
    await during(world, server, async () => expect(await read()).not.toBe(0))
    expect(await read()).toBe(0)
  })

  test('push to a protected branch when they are named there', async () => {
    const { ssh, id } = await deployKey({ can_push: true })
    const copy = await clone(ssh)
    await copies.commit(copy, 'to-main')
    const push = () => tryGit(ssh, copy, 'push', 'origin', 'HEAD:main')
    expect((await push()).stderr).toContain('You are not allowed to push code to protected branches')
    const named = { allowed_to_push: [{ deploy_key_id: id }] }
    const rule = await maintainer.patch(`${base}/protected_branches/main`, named)
    expect((rule.body as Json)['push_access_levels']).toMatchObject([
      { access_level: 40 },
      { access_level: 40, access_level_description: 'ci writer', deploy_key_id: id, user_id: null },
    ])
    expect(await push()).toMatchObject({ code: 0 })
    await maintainer.put(`${base}/deploy_keys/${id}`, { can_push: false })
    const again = await maintainer.patch(`${base}/protected_branches/main`, named)
    expect(again).toMatchObject({
      status: 422,
      body: { message: ['Push access levels deploy key is not enabled for this project'] },
    })
  })
})

test('the settings say over which protocol git is used', async () => {
  const { ssh } = await keyOf(developer)
  const overSsh = () => tryGit(ssh, copies.folder, 'ls-remote', address())
  const overHttp = () => copies.try(copies.folder, ['ls-remote', copies.url(project, developer)])
  await during(world, { enabled_git_access_protocol: 'http' }, async () => {
    expect((await overSsh()).stderr).toContain('ERROR: Git access over SSH is not allowed')
    expect((await overHttp()).code).toBe(0)
    await set(world, { enabled_git_access_protocol: 'ssh' })
    expect((await overHttp()).stderr).toContain('Git access over HTTP is not allowed')
    expect((await overSsh()).code).toBe(0)
    await set(world, { enabled_git_access_protocol: 'all' })
    expect([(await overSsh()).code, (await overHttp()).code]).toEqual([0, 0])
  })
})

describe('a second factor', () => {
  const codeOf = (secret: string, step = 0): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + step * 30_000 })

  test('git_two_factor_session_expiry: where it is asked for it is good for so many minutes', async () => {
    const password = 'correct horse battery staple'
    const who = await world.user({ force_random_password: undefined, password })
    expectStatus(await world.root.post(`${base}/members`, { user_id: who.id, access_level: 30 }), 201)
    const { ssh } = await keyOf(who)
    const read = async () => (await tryGit(ssh, copies.folder, 'ls-remote', address())).stderr
    const verify = (code: string) => runWith(`${code}\n`, ssh, '2fa_verify')
    const { services } = world.service
    await world.root.post('/features/two_factor_for_cli', { value: true })
    try {
      // Only of those who have one.
      expect(await read()).toBe('')
      expect((await verify('123456')).stderr).toContain('Two-factor authentication is not enabled')
      const secret = expectStatus(await who.post('/user/two_factor', { password }), 201)['secret'] as string
      expectStatus(await who.post('/user/two_factor/confirm', { code: codeOf(secret, -1) }), 200)
      expect(await read()).toContain('OTP verification is required to access the repository.')
      expect(await verify('000000')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('OTP validation failed.') as string,
      })
      expect(await read()).toContain('OTP verification is required')
      expect(await verify(codeOf(secret))).toMatchObject({
        code: 0,
        stdout: 'OTP: \nOTP validation successful. Git operations are now allowed.\n',
      })
      expect(await read()).toBe('')
      await sql`update ssh_key_proofs set proven_at = now() - interval '20 minutes'`.execute(
        services.db.writer,
      )
      expect(await read()).toContain('OTP verification is required')
      await during(world, { git_two_factor_session_expiry: 30 }, async () => expect(await read()).toBe(''))
      expect(await read()).toContain('OTP verification is required')
    } finally {
      await world.root.delete('/features/two_factor_for_cli')
    }
    expect(await read()).toBe('')
  })
})

describe('an account, by its key alone', () => {
  test('gets a token for what is asked for, and for a while', async () => {
    const { ssh } = await keyOf(developer)
    const made = await run(ssh, "personal_access_token 'from the shell' read_api,read_repository 7")
    const expires = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
    const form = /^Token: {3}(\S+)\nScopes: {2}read_api,read_repository\nExpires: (\S+)\n$/
    const [, token, end] = form.exec(made.stdout) ?? []
    expect([made.code, end]).toEqual([0, expires])
    const asToken = new Person(world.url, { id: developer.id, username: developer.username, token: token! })
    expect(expectStatus(await asToken.get('/personal_access_tokens/self'), 200)).toMatchObject({
      ...{ user_id: developer.id, name: 'from the shell', scopes: ['read_api', 'read_repository'] },
      expires_at: expires,
    })
    expect((await asToken.post(`${base}/issues`, { title: 'x' })).status).toBe(403)

    const refusal = async (...command: string[]) => {
      const { code, stdout, stderr } = await run(ssh, ...command)
      return [code, stdout, /ERROR: (.*)/.exec(stderr)?.[1]]
    }
    const usage = 'Usage: personal_access_token <name> <scope1[,scope2,...]> [ttl_days]'
    expect(await refusal('personal_access_token')).toEqual([1, '', usage])
    expect(await refusal('personal_access_token a api 7 more')).toEqual([1, '', usage])
    expect(await refusal('personal_access_token a sudo')).toEqual([
      ...[1, ''],
      expect.stringContaining("Invalid scope: 'sudo'. Valid scopes are: api, "),
    ])
    expect(await refusal('personal_access_token a api soon')).toEqual([
      1,
      '',
      "Invalid value for days_ttl: 'soon'",
    ])
    expect(await refusal('personal_access_token a api 9999')).toEqual([
      ...[1, ''],
      expect.stringContaining('must be before'),
    ])
  })

  test('gets new recovery codes once its holder says yes', async () => {
    const password = 'correct horse battery staple'
    const who = await world.user({ force_random_password: undefined, password })
    const { ssh } = await keyOf(who)
    const ask = (word: string) => runWith(`${word}\n`, ssh, '2fa_recovery_codes')
    expect((await ask('yes')).stderr).toContain('Two-factor authentication is not enabled for this user')
    const { secret } = expectStatus(await who.post('/user/two_factor', { password }), 201)
    const code = new TOTP({ secret: Secret.fromBase32(secret as string) }).generate()
    const first = expectStatus(await who.post('/user/two_factor/confirm', { code }), 200)
    const [old, other] = first['recovery_codes'] as string[]
    expect((await ask('no')).stdout).toContain('Existing codes will remain valid.')
    const verify = (shown: string) => runWith(`${shown}\n`, ssh, '2fa_verify')
    expect((await verify(old!)).code).toBe(0)
    const told = await ask('yes')
    const codes = told.stdout.match(/^[0-9a-f]{16}$/gm) ?? []
    expect([told.code, codes.length]).toEqual([0, 10])
    expect((await verify(other!)).code).toBe(1)
    expect((await verify(codes[0]!)).code).toBe(0)
  })

  test('is none of a deploy key, and closed to who is blocked', async () => {
    const { ssh: key } = await withKey(async (publicKey) =>
      expectStatus(await maintainer.post(`${base}/deploy_keys`, { title: 'deploy', key: publicKey }), 201),
    )
    expect((await run(key, 'personal_access_token a api')).stderr).toContain('A deploy key is of no account.')
    const gone = await world.user()
    const { ssh } = await keyOf(gone)
    expectStatus(await world.root.post(`/users/${gone.id}/block`), 201)
    const told = await run(ssh, 'personal_access_token a api')
    expect([told.code, told.stdout]).toEqual([1, ''])
    expect(told.stderr).toContain('Your account has been blocked.')
  })
})

test('an archive is fetched by who may read the code', async () => {
  const file = path.join(copies.folder, 'remote.tar')
  const fetchArchive = async (ssh: string, ...args: string[]) =>
    tryGit(ssh, copies.folder, 'archive', `--remote=${address()}`, `--output=${file}`, ...args)
  const { ssh } = await keyOf(developer)
  expect(await fetchArchive(ssh, '--prefix=top/', 'main')).toMatchObject({ code: 0 })
  expect((await promisify(execFile)('tar', ['-tf', file])).stdout).toContain('top/README.md')
  expect((await fetchArchive(ssh, 'main', 'README.md')).code).toBe(0)
  expect((await fetchArchive(ssh, 'nothing')).code).not.toBe(0)
  const { ssh: other } = await keyOf(stranger)
  expect((await fetchArchive(other, 'main')).stderr).toContain('could not be found')
})

test('a host key that the library made and cannot read is replaced at the next start', async () => {
  const { cipher, db } = world.service.services
  let malformed: string
  do malformed = ssh2.utils.generateKeyPairSync('ed25519').private
  while (!(ssh2.utils.parseKey(malformed) instanceof Error))
  await sql`
    update ssh_host_keys set secret = ${cipher.seal(malformed, 'ssh_host_keys.secret')}
    where type = 'ed25519'`.execute(db.writer)
  const next = await world.sibling({ SSH_PORT: '0' })
  const { ssh } = await keyOf(developer)
  const { code } = await run(`${ssh} -o HostKeyAlgorithms=ssh-ed25519 -o Port=${next.sshPort!}`, 'true')
  expect(code).not.toBe(255)
})
