// @module-tag long
import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during } from '../settings/effects.ts'
import { Copies, git } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

/* Large files as their client brings, fetches and locks them: over HTTP beside git, after a login over either. */

let world: World
let copies: Copies
let project: Made
let developer: Person
let reporter: Person
let maintainer: Person

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  project = await world.project()
  developer = await world.member({ project }, 'developer')
  reporter = await world.member({ project }, 'reporter')
  maintainer = await world.member({ project }, 'maintainer')
  await copies.filled(project)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const digest = (content: string) => createHash('sha256').update(content).digest('hex')
const named = (content: string) => ({ oid: digest(content), size: Buffer.byteLength(content) })
const pointer = (content: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${digest(content)}\nsize ${Buffer.byteLength(content)}\n`
const basic = ({ username, token }: { username: string; token: string }) =>
  `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`

type Who = { username: string; token: string } | undefined

async function ask(
  who: Who | string,
  method: string,
  address: string,
  body?: unknown,
  of: Json = project,
): Promise<{ status: number; body: Json; headers: Headers; bytes: Buffer }> {
  const url = address.startsWith('http')
    ? address
    : `${world.url}/${of['path_with_namespace'] as string}.git/info/lfs/${address}`
  const authorization = typeof who === 'string' ? who : who && basic(who)
  const response = await fetch(url, {
    method,
    headers: {
      'content-type': 'application/vnd.git-lfs+json',
      ...(authorization !== undefined && { authorization }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const json = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    body: json ? (JSON.parse(bytes.toString()) as Json) : {},
    headers: response.headers,
    bytes,
  }
}

interface Told {
  oid: string
  size: number
  actions?: Record<string, { href: string; header: Record<string, string> }>
  error?: { code: number; message: string }
}

async function batch(
  who: Who | string,
  operation: 'download' | 'upload',
  objects: object[],
  of: Json = project,
): Promise<Told[]> {
  const { status, body, headers } = await ask(who, 'POST', 'objects/batch', { operation, objects }, of)
  expect([status, headers.get('content-type')]).toEqual([200, 'application/vnd.git-lfs+json'])
  return body['objects'] as Told[]
}

/** As the client does it: asks where to, and brings it there. */
async function bring(who: Who | string, content: string, of: Json = project): Promise<void> {
  const [told] = await batch(who, 'upload', [named(content)], of)
  const { href, header } = told!.actions!['upload']!
  const { status } = await ask(header['Authorization'], 'PUT', href, content)
  expect(status).toBe(200)
}

describe('objects', () => {
  test('are brought once, and fetched, in parts too', async () => {
    const content = 'a large file'
    await bring(developer, content)
    // Nothing is left to do.
    expect((await batch(developer, 'upload', [named(content)]))[0]!.actions).toBeUndefined()
    const [told, unknown] = await batch(reporter, 'download', [named(content), named('nowhere')])
    const { href, header } = told!.actions!['download']!
    expect((await ask(header['Authorization'], 'GET', href)).bytes.toString()).toBe(content)
    const rest = await fetch(href, { headers: { ...header, range: 'bytes=8-' } })
    expect([rest.status, rest.headers.get('content-range'), await rest.text()]).toEqual([
      206,
      'bytes 8-11/12',
      'file',
    ])
    expect(unknown!.error).toEqual({
      code: 404,
      message: "Object does not exist on the server or you don't have permissions to access it",
    })
  })

  test('of another digest or size than said are refused, and not kept', async () => {
    const { oid, size } = named('what it should be')
    for (const [address, body] of [
      [`objects/${oid}/${size}`, 'what it is not...'],
      [`objects/${oid}/${size + 1}`, 'what it should be'],
      [`objects/${oid}/${size - 1}`, 'what it should be'],
    ] as const) {
      const answer = await ask(developer, 'PUT', address, body)
      expect([answer.status, answer.body['message']]).toEqual([400, 'SHA256 or size mismatch'])
    }
    expect((await batch(developer, 'download', [{ oid, size }]))[0]!.error!.code).toBe(404)
    expect((await ask(developer, 'GET', `objects/${oid}`)).status).toBe(404)
  })

  test('are for who may read the code, and brought by who may push', async () => {
    const stranger = await world.user()
    const question = { operation: 'upload', objects: [named('x')] }
    const asked = (who: Who) => ask(who, 'POST', 'objects/batch', question)
    const nobody = await asked(undefined)
    expect([nobody.status, nobody.headers.get('lfs-authenticate')]).toEqual([401, 'Basic realm="Guildhall"'])
    expect((await asked(stranger)).status).toBe(404)
    const refused = await asked(reporter)
    expect([refused.status, refused.body['message']]).toEqual([
      403,
      'Access forbidden. Check your access level.',
    ])
    expect((await ask(reporter, 'PUT', `objects/${digest('x')}/1`, 'x')).status).toBe(403)
    const open = await world.project({ visibility: 'public' })
    await bring(world.root, 'for all', open)
    const [told] = await batch(undefined, 'download', [named('for all')], open)
    expect((await ask(undefined, 'GET', told!.actions!['download']!.href)).bytes.toString()).toBe('for all')
    // Who knows its digest does not get it elsewhere.
    expect((await batch(world.root, 'download', [named('a large file')], open))[0]!.error!.code).toBe(404)
  })

  test.each<[string, unknown, number]>([
    ['no JSON', '{', 422],
    ['another operation', { operation: 'remove', objects: [named('x')] }, 422],
    ['no list', { operation: 'download' }, 422],
    ['nothing', { operation: 'download', objects: [] }, 404],
    ['another hash', { operation: 'download', objects: [named('x')], hash_algo: 'sha1' }, 409],
    ['another transfer', { operation: 'download', objects: [named('x')], transfers: ['tus'] }, 422],
    ['too many', { operation: 'download', objects: Array(10_001).fill(named('x')) }, 413],
  ])('a question with %s is refused', async (_, body, status) => {
    const answer = await ask(developer, 'POST', 'objects/batch', body)
    expect(answer.status).toBe(status === 422 && body === '{' ? 400 : status)
    expect(answer.body['message']).toEqual(expect.any(String))
  })

  test('that are none are told of one by one', async () => {
    const told = await batch(developer, 'upload', [
      { oid: '../x', size: 1 },
      { oid: digest('x'), size: -1 },
    ])
    expect(told.map(({ error }) => error!.code)).toEqual([422, 422])
  })

  test('are not taken by a project without large files', async () => {
    const without = await world.project()
    expectStatus(await world.root.put(`/projects/${without.id}`, { lfs_enabled: false }), 200)
    const question = { operation: 'download', objects: [named('x')] }
    const answer = await ask(world.root, 'POST', 'objects/batch', question, without)
    expect(answer.status).toBe(501)
  })

  test('throttle_authenticated_git_lfs: more requests than allowed are refused, until it is switched off', async () => {
    const somebody = await world.member({ project }, 'reporter')
    const name = 'throttle_authenticated_git_lfs'
    const values = {
      [`${name}_enabled`]: true,
      [`${name}_requests_per_period`]: 2,
      [`${name}_period_in_seconds`]: 100_000,
    }
    const asked = () => ask(somebody, 'GET', 'locks')
    await during(world, values, async () => {
      expect([(await asked()).status, (await asked()).status]).toEqual([200, 200])
      expect((await asked()).status).toBe(429)
    })
    expect((await asked()).status).toBe(200)
  })
})

describe('files', () => {
  test('are given whole where the API is asked for them so', async () => {
    const content = 'the file itself'
    await bring(maintainer, content)
    const copy = await copies.clone(project, maintainer)
    await copies.commit(copy, { 'large.bin': pointer(content), '.gitattributes': '*.bin filter=lfs\n' })
    await git(copy, 'push', '--quiet', 'origin', 'main')
    const raw = (query: string) =>
      reporter.get(`/projects/${project.id}/repository/files/large.bin/raw?ref=main${query}`)
    expect((await raw('')).text).toBe(pointer(content))
    expect((await raw('&lfs=true')).text).toBe(content)
  })

  test.each(['tar', 'tar.gz', 'zip'] as const)(
    'are in archives as they are (%s), unless the call says no',
    async (format) => {
      const content = `in an archive, as ${format}, ${'of some length '.repeat(50)}`
      await bring(maintainer, content)
      // Each may ask for five a minute.
      const reader = { tar: developer, 'tar.gz': maintainer, zip: reporter }[format]
      const branch = world.unique('archive')
      const copy = await copies.clone(project, maintainer)
      await copies.commit(copy, { 'deep/large.bin': pointer(content), 'plain.txt': 'plain' })
      await symlink('plain.txt', path.join(copy, 'link'))
      await chmod(path.join(copy, 'plain.txt'), 0o755)
      await git(copy, 'add', '-A')
      await git(copy, 'commit', '--quiet', '-m', 'Link')
      await git(copy, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`)
      const unpacked = async (query: string): Promise<string> => {
        const folder = path.join(copies.folder, world.unique('unpacked'))
        await mkdir(folder)
        const response = await fetch(
          `${world.url}/api/v4/projects/${project.id}/repository/archive.${format}?sha=${branch}${query}`,
          { headers: { 'private-token': reader.token } },
        )
        expect(response.status).toBe(200)
        const file = path.join(folder, 'archive')
        await writeFile(file, Buffer.from(await response.arrayBuffer()))
        const [program, ...args] = format === 'zip' ? ['unzip', '-q', file] : ['tar', '-xf', file]
        await promisify(execFile)(program, args, { cwd: folder })
        const [top] = (await readdir(folder)).filter((name) => name !== 'archive')
        return path.join(folder, top!)
      }
      const whole = await unpacked('')
      expect(await readFile(path.join(whole, 'deep/large.bin'), 'utf8')).toBe(content)
      expect(await readlink(path.join(whole, 'link'))).toBe('plain.txt')
      expect(await readFile(path.join(whole, 'link'), 'utf8')).toBe('plain')
      expect((await stat(path.join(whole, 'plain.txt'))).mode & 0o111).not.toBe(0)
      const named = await unpacked('&include_lfs_blobs=false')
      expect(await readFile(path.join(named, 'deep/large.bin'), 'utf8')).toBe(pointer(content))
    },
  )

  test('repository_size_limit: large files count, and are refused before they are sent', async () => {
    const full = await world.project()
    await copies.filled(full)
    await bring(world.root, 'x'.repeat(1024 * 1024), full)
    await during(world, { repository_size_limit: 1 }, async () => {
      const objects = [named('one more')]
      const refused = await ask(world.root, 'POST', 'objects/batch', { operation: 'upload', objects }, full)
      expect([refused.status, refused.body['message']]).toEqual([
        406,
        expect.stringContaining('would exceed its size limit of 1 MiB'),
      ])
      // What is there already needs no room.
      expect(await batch(world.root, 'upload', [named('x'.repeat(1024 * 1024))], full)).toHaveLength(1)
      const copy = await copies.clone(full, world.root)
      await copies.commit(copy, 'small')
      const push = await copies.try(copy, ['push', 'origin', 'main'])
      expect(push.stderr).toContain('would exceed its size limit of 1 MiB')
    })
    expect(await batch(world.root, 'upload', [named('one more')], full)).toMatchObject([{ actions: {} }])
  })

  test('whose content nobody has brought keep a push out', async () => {
    const copy = await copies.clone(project, maintainer)
    await copies.commit(copy, { 'more.bin': pointer('not brought') })
    const refused = await copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/lacking'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('LFS objects are missing. Ensure LFS is properly set up')
    await bring(maintainer, 'not brought')
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:refs/heads/lacking')
  })

  test('of what a project was made of are there in a fork, also when that is gone', async () => {
    const source = await world.project()
    await copies.filled(source)
    await bring(world.root, 'inherited', source)
    const made = expectStatus(
      await world.root.post(`/projects/${source.id}/fork`, {
        path: world.unique('fork'),
        name: world.unique('f'),
      }),
      201,
    )
    const [told] = await batch(world.root, 'download', [named('inherited')], made)
    expect(told!.error).toBeUndefined()
    await bring(world.root, 'asked for by nobody', source)
    const remove = () => world.root.delete(`/projects/${source.id}`)
    expectStatus(await remove(), 202)
    const full_path = ((await world.root.get(`/projects/${source.id}`)).body as Json)['path_with_namespace']
    await world.root.delete(`/projects/${source.id}`, { permanently_remove: true, full_path })
    await expect
      .poll(async () => (await world.root.get(`/projects/${source.id}`)).status, {
        interval: 20,
        timeout: 20_000,
      })
      .toBe(404)
    const left = await batch(world.root, 'download', ['inherited', 'asked for by nobody'].map(named), made)
    expect(left.map(({ error }) => error)).toEqual([undefined, undefined])
  })
})

describe('locks', () => {
  test('are taken by one, shown, and given back by him or by force', async () => {
    const taken = await ask(developer, 'POST', 'locks', { path: 'design.bin' })
    expect(taken.status).toBe(201)
    const lock = taken.body['lock'] as Json
    expect(lock).toEqual({
      id: expect.any(String) as string,
      path: 'design.bin',
      locked_at: expect.stringMatching(/Z$/) as string,
      owner: { name: expect.any(String) as string },
    })
    const again = await ask(maintainer, 'POST', 'locks', { path: 'design.bin' })
    expect([again.status, again.body]).toEqual([409, { lock, message: 'already locked' }])
    expect((await ask(reporter, 'POST', 'locks', { path: 'other.bin' })).status).toBe(403)
    expect((await ask(reporter, 'GET', 'locks?path=design.bin')).body).toEqual({ locks: [lock] })
    expect((await ask(reporter, 'GET', 'locks?path=none')).body).toEqual({ locks: [] })
    expect((await ask(developer, 'POST', 'locks/verify', {})).body).toEqual({ ours: [lock], theirs: [] })
    expect((await ask(maintainer, 'POST', 'locks/verify', {})).body).toEqual({ ours: [], theirs: [lock] })

    const unlock = (who: Person, body: object) =>
      ask(who, 'POST', `locks/${lock['id'] as string}/unlock`, body)
    const other = await world.member({ project }, 'developer')
    const refused = await unlock(other, { force: true })
    expect([refused.status, refused.body['message']]).toEqual([403, 'You have no permissions'])
    expect((await unlock(maintainer, {})).status).toBe(403)
    expect((await unlock(maintainer, { force: true })).body).toEqual({ lock })
    expect((await unlock(maintainer, { force: true })).status).toBe(404)
  })

  test('are listed in pages', async () => {
    for (const path of ['a', 'b', 'c']) {
      expect((await ask(developer, 'POST', 'locks', { path })).status).toBe(201)
    }
    const first = (await ask(developer, 'GET', 'locks?limit=2')).body as {
      locks: Json[]
      next_cursor: string
    }
    const rest = (await ask(developer, 'GET', `locks?limit=2&cursor=${first.next_cursor}`)).body as {
      locks: Json[]
    }
    expect([...first.locks, ...rest.locks].map(({ path }) => path)).toEqual(['a', 'b', 'c'])
    for (const { id } of [...first.locks, ...rest.locks]) {
      expect((await ask(developer, 'POST', `locks/${id as string}/unlock`, {})).status).toBe(200)
    }
  })

  test('keep others from merging changes of their files', async () => {
    const own = await world.project()
    await copies.filled(own)
    const [holder, author] = [
      await world.member({ project: own }, 'developer'),
      await world.member({ project: own }, 'maintainer'),
    ]
    const at = `/projects/${own.id}`
    const file = { branch: 'work', start_branch: 'main', commit_message: 'x', content: 'x' }
    expectStatus(await author.post(`${at}/repository/files/deep%2Fa.bin`, file), 201)
    const request = { source_branch: 'work', target_branch: 'main', title: 'Change' }
    expectStatus(await author.post(`${at}/merge_requests`, request), 201)
    const status = async () =>
      expectStatus(await author.get(`${at}/merge_requests/1`), 200)['detailed_merge_status']
    expect(await status()).toBe('mergeable')
    const lock = async (who: Person, name: string) => {
      const taken = await ask(who, 'POST', 'locks', { path: name }, own)
      expect(taken.status).toBe(201)
      return () => ask(who, 'POST', `locks/${(taken.body['lock'] as Json)['id'] as string}/unlock`, {}, own)
    }
    // Their own, and files that are not changed, are in nobody's way.
    await lock(author, 'README.md')
    await lock(holder, 'elsewhere.bin')
    expect(await status()).toBe('mergeable')
    const unlock = await lock(holder, 'deep/a.bin')
    expect((await author.put(`${at}/merge_requests/1/merge`)).status).toBe(405)
    expect(await status()).toBe('locked_lfs_files')
    expect((await unlock()).status).toBe(200)
    expect(await status()).toBe('mergeable')
    expectStatus(await author.put(`${at}/merge_requests/1/merge`), 200)
  })

  test('given back let merges go on that waited for them', async () => {
    const own = await world.project()
    await copies.filled(own)
    const holder = await world.member({ project: own }, 'developer')
    const author = await world.member({ project: own }, 'maintainer')
    const at = `/projects/${own.id}`
    const file = { branch: 'work', start_branch: 'main', commit_message: 'x', content: 'x' }
    expectStatus(await author.post(`${at}/repository/files/a.bin`, file), 201)
    const request = { source_branch: 'work', target_branch: 'main', title: 'Change' }
    expectStatus(await author.post(`${at}/merge_requests`, request), 201)
    await world.settled()
    const taken = await ask(holder, 'POST', 'locks', { path: 'a.bin' }, own)
    expectStatus(await author.put(`${at}/merge_requests/1/merge`, { auto_merge: true }), 200)
    await world.settled()
    const state = async () => {
      const { state, detailed_merge_status } = expectStatus(await author.get(`${at}/merge_requests/1`), 200)
      return [state, detailed_merge_status] as unknown[]
    }
    expect(await state()).toEqual(['opened', 'locked_lfs_files'])
    const { id } = taken.body['lock'] as { id: string }
    expect((await ask(holder, 'POST', `locks/${id}/unlock`, {}, own)).status).toBe(200)
    await world.settled()
    expect(await state()).toEqual(['merged', 'not_open'])
  })

  test('keep the pushes of others away from their files', async () => {
    expect((await ask(developer, 'POST', 'locks', { path: 'mine.txt' })).status).toBe(201)
    const copy = await copies.clone(project, maintainer)
    await copies.commit(copy, 'mine.txt')
    const refused = await copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/main'])
    expect(refused.stderr).toContain(`'mine.txt' is locked in Git LFS by @${developer.username}`)
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:refs/heads/elsewhere')
    const own = await copies.try(copy, [
      'push',
      copies.url(project, developer),
      'HEAD~1:refs/heads/of-developer',
    ])
    expect(own.code).toBe(0)
    const more = await copies.try(copy, [
      'push',
      copies.url(project, developer),
      'HEAD:refs/heads/of-developer',
    ])
    expect(more.code).toBe(0)
  })
})

describe('over SSH', () => {
  const authenticate = (
    ssh: string,
    operation: string,
  ): Promise<{ code: number; stdout: string; stderr: string }> => {
    const [program, ...options] = ssh.split(' ')
    const address = new URL(sshAddress(world, project.path_with_namespace))
    const command = `git-lfs-authenticate ${address.pathname.slice(1)} ${operation}`
    const args = [...options, '-T', '-p', address.port, 'git@127.0.0.1', command]
    return new Promise((resolve) => {
      execFile(program!, args, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      )
    })
  }

  test('a key gets a login for large files, which gives what its holder may', async () => {
    const ssh = await sshLogin(world, copies, async (key) =>
      expectStatus(await developer.post('/user/keys', { title: 'lfs', key }), 201),
    )
    const { stdout } = await authenticate(ssh, 'upload')
    const { header, href, expires_in } = JSON.parse(stdout) as {
      header: { Authorization: string }
      href: string
      expires_in: number
    }
    expect([href, expires_in]).toEqual([`${world.url}/${project.path_with_namespace}.git/info/lfs`, 7200])
    await bring(header.Authorization, 'by ssh')
    const download = JSON.parse((await authenticate(ssh, 'download')).stdout) as typeof header & {
      header: { Authorization: string }
    }
    expect(
      (await batch(download.header.Authorization, 'download', [named('by ssh')]))[0]!.error,
    ).toBeUndefined()
    const upload = { operation: 'upload', objects: [named('x')] }
    expect((await ask(download.header.Authorization, 'POST', 'objects/batch', upload)).status).toBe(403)
    // It is good for this project alone, and for nothing but large files.
    const other = await world.project()
    expect((await ask(header.Authorization, 'POST', 'objects/batch', upload, other)).status).toBe(404)
    const told = await copies.try(copies.folder, [
      '-c',
      `http.extraHeader=Authorization: ${header.Authorization}`,
      'ls-remote',
      copies.url(project),
    ])
    expect(told.code).not.toBe(0)
    const forged = basic({ username: developer.username, token: 'lfs_AAAA' })
    expect((await ask(forged, 'GET', 'locks')).status).toBe(401)
  })

  test('a deploy key gets one, too', async () => {
    const ssh = await sshLogin(world, copies, async (key) =>
      expectStatus(
        await maintainer.post(`/projects/${project.id}/deploy_keys`, { title: 'lfs', key, can_push: true }),
        201,
      ),
    )
    const { header } = JSON.parse((await authenticate(ssh, 'upload')).stdout) as {
      header: { Authorization: string }
    }
    await bring(header.Authorization, 'by a machine')
    // Locks are for people.
    expect((await ask(header.Authorization, 'POST', 'locks', { path: 'x' })).status).toBe(403)
  })

  test('who may not push gets none for it', async () => {
    const ssh = await sshLogin(world, copies, async (key) =>
      expectStatus(await reporter.post('/user/keys', { title: 'lfs', key }), 201),
    )
    const refused = await authenticate(ssh, 'upload')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('not allowed to push')])
    expect((await authenticate(ssh, 'download')).code).toBe(0)
  })
})
