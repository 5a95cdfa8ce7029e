// @module-tag long
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { during, set } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { Mailbox } from '../world/mailbox.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

/** What the settings of the instance do to repositories, and to what comes into them. */
let mailbox: Mailbox
let world: World
let copies: Copies
let maintainer: Person
let project: Made
let folder: string

beforeAll(async () => {
  mailbox = await Mailbox.open()
  world = await startWorld({ SSH_PORT: '0', PLAN: 'ultimate', SMTP_URL: mailbox.url })
  copies = await Copies.open(world)
  project = await world.project()
  maintainer = await world.member({ project }, 'maintainer')
  folder = await copies.filled(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await mailbox[Symbol.asyncDispose]()
})

const mebibyte = 1024 * 1024

/** A commit of a file that no compression makes smaller. */
async function commitBytes(bytes: number): Promise<string> {
  const name = world.unique('bytes')
  await writeFile(path.join(folder, name), randomBytes(bytes))
  await git(folder, 'add', name)
  await git(folder, 'commit', '--quiet', '-m', name)
  return git(folder, 'rev-parse', 'HEAD')
}

const push = (...refs: string[]) => copies.try(folder, ['push', '--quiet', 'origin', ...refs])

test('receive_max_input_size: a push that brings more MiB is refused', async () => {
  const branch = world.unique('large')
  await commitBytes(1.5 * mebibyte)
  await during(world, { receive_max_input_size: 1 }, async () => {
    expect((await push(`HEAD:refs/heads/${branch}`)).code).not.toBe(0)
  })
  expect(await push(`HEAD:refs/heads/${branch}`)).toMatchObject({ code: 0 })
})

test('repository_size_limit: nothing comes in beyond it, by any way; branches still go', async () => {
  const branch = world.unique('full')
  expect(await push(`HEAD:refs/heads/${branch}`)).toMatchObject({ code: 0 })
  await commitBytes(2 * mebibyte)
  const file = { branch, content: 'x', commit_message: 'x' }
  const write = () => maintainer.post(`/projects/${project.id}/repository/files/${world.unique('f')}`, file)
  await during(world, { repository_size_limit: 3 }, async () => {
    expectStatus(await write(), 201)
    const refused = await push(`HEAD:refs/heads/${branch}-2`)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('this repository would exceed its size limit of 3 MiB.')
  })
  await during(world, { repository_size_limit: 1 }, async () => {
    expect((await write()).body).toEqual({
      message: expect.stringContaining('this repository would exceed its size limit of 1 MiB.') as string,
    })
    expect(await push(`:refs/heads/${branch}`)).toMatchObject({ code: 0 })
  })
  expect(await push(`HEAD:refs/heads/${branch}-2`)).toMatchObject({ code: 0 })
})

test('housekeeping_enabled, housekeeping_optimize_repository_period: packs are put together after so many pushes', async () => {
  const { services } = world.service
  const of = await world.project()
  for (const branch of ['a', 'b', 'c', 'd'])
    await pushFiles(world, of, { [branch]: randomBytes(500).toString('hex') }, [branch])
  const { storage } = await services.db.reader
    .selectFrom('projects as p')
    .select('p.storage')
    .where('p.id', '=', of.id)
    .executeTakeFirstOrThrow()
  const place = services.places.of({ id: of.id, storage })
  const packs = async () =>
    (await readdir(path.join(place.path, 'objects/pack')).catch(() => [])).filter((name) =>
      name.endsWith('.pack'),
    ).length
  const loose = async () =>
    (await readdir(path.join(place.path, 'objects'))).filter((name) => name.length === 2).length
  const reckoned = () =>
    services.db.reader
      .selectFrom('repository_upkeep as k')
      .select('k.last_update')
      .where('k.project_id', '=', of.id)
      .executeTakeFirst()
  /** Runs the task; that of another project, which is always due, tells when it is done. */
  const run = async () => {
    await services.db.writer.deleteFrom('repository_upkeep').where('project_id', '=', project.id).execute()
    await enqueue(services.db.writer, 'repository:optimise', {})
    await expect
      .poll(
        () =>
          services.db.reader
            .selectFrom('repository_upkeep as k')
            .select('k.project_id')
            .where('k.project_id', '=', project.id)
            .executeTakeFirst(),
        { timeout: 30_000, interval: 20 },
      )
      .toBeDefined()
  }
  const before = (await packs()) + (await loose())
  expect(before).toBeGreaterThan(1)
  await during(world, { housekeeping_optimize_repository_period: 5 }, async () => {
    for (let more = 0; more < 5; more += 1) {
      await commitBytes(10)
      expect(await push(`HEAD:refs/heads/${world.unique('more')}`)).toMatchObject({ code: 0 })
    }
    await run()
    expect(await reckoned()).toBeUndefined()
    expect((await packs()) + (await loose())).toBe(before)
  })
  await during(
    world,
    { housekeeping_enabled: false, housekeeping_optimize_repository_period: 4 },
    async () => {
      await enqueue(services.db.writer, 'repository:optimise', {})
      await world.settled()
      expect(await reckoned()).toBeUndefined()
    },
  )
  // By its old name.
  await during(world, { housekeeping_incremental_repack_period: 4 }, async () => {
    await run()
    await expect.poll(reckoned, { timeout: 30_000, interval: 20 }).toBeDefined()
    expect([await packs(), await loose()]).toEqual([1, 0])
  })
  expect(await git(place.path, 'fsck', '--strict')).toBe('')
  await git(
    copies.folder,
    'clone',
    '--quiet',
    copies.url(of, { username: 'root', token: world.root.token }),
    world.unique('whole'),
  )
})

test('gitlab_shell_operation_limit: git over SSH so often a minute, on one repository', async () => {
  const ssh = await sshLogin(world, copies, async (key) =>
    expectStatus(await maintainer.post('/user/keys', { title: 'limited', key }), 201),
  )
  const list = () =>
    copies.try(folder, ['ls-remote', sshAddress(world, project.path_with_namespace)], {
      GIT_SSH_COMMAND: ssh,
    })
  await during(world, { gitlab_shell_operation_limit: 1 }, async () => {
    expect(await list()).toMatchObject({ code: 0 })
    const refused = await list()
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('This endpoint has been requested too many times. Try again later.')
  })
  expect(await list()).toMatchObject({ code: 0 })
})

describe('diffs', () => {
  const sha = 'changed'
  const lines = 'a\n'.repeat(26_000)
  beforeAll(async () => {
    const of = await world.project()
    diffed = of
    await pushFiles(world, of, { 'README.md': 'first' })
    const many = Object.fromEntries(
      Array.from({ length: 1005 }, (_, at) => [`many/${10_000 + at}`, `${at}\n`]),
    )
    await pushFiles(
      world,
      of,
      { ...many, 'a-large': `${'x'.repeat(100)}\n`.repeat(3000), 'b-lines': lines, 'c-lines': lines },
      ['changed'],
    )
  })
  let diffed: Made
  const page = async (number: number): Promise<Json[]> =>
    (
      await world.root.get(
        `/projects/${diffed.id}/repository/commits/${sha}/diff?per_page=100&page=${number}`,
      )
    ).body

  test('diff_max_files: the rest is left out', async () => {
    expect(await page(11)).toEqual([])
    await during(world, { diff_max_files: 1006 }, async () => expect(await page(11)).toHaveLength(6))
    expect(await page(11)).toEqual([])
  })

  test('diff_max_patch_bytes: a larger patch is left out', async () => {
    const large = async () => (await page(1)).find((file) => file['new_path'] === 'a-large')
    expect(await large()).toMatchObject({ too_large: true, diff: '' })
    await during(world, { diff_max_patch_bytes: 400_000 }, async () =>
      expect(await large()).toMatchObject({
        too_large: false,
        diff: expect.stringContaining('+xxx') as string,
      }),
    )
    expect(await large()).toMatchObject({ too_large: true, diff: '' })
  })

  test('diff_max_lines: beyond them no patch is shown', async () => {
    const second = async () => (await page(1)).find((file) => file['new_path'] === 'c-lines')
    expect(await second()).toMatchObject({ too_large: true, diff: '' })
    await during(world, { diff_max_lines: 60_000 }, async () =>
      expect(await second()).toMatchObject({
        too_large: false,
        diff: expect.stringContaining('+a') as string,
      }),
    )
    expect(await second()).toMatchObject({ too_large: true, diff: '' })
  })
})

describe('what is fetched', () => {
  const raw = (file: string, { token }: { token?: string } = {}) =>
    fetch(`${world.url}/${project.path_with_namespace}/-/raw/${file}`, {
      redirect: 'manual',
      ...(token !== undefined && { headers: { 'private-token': token } }),
    })

  test('raw files lie at the address of their branch, for those who may read them', async () => {
    await git(folder, 'push', '--quiet', 'origin', 'origin/main:refs/heads/with/slash')
    for (const ref of ['main', 'with/slash', 'HEAD']) {
      const answer = await raw(`${ref}/README.md`, maintainer)
      expect([answer.status, await answer.text()]).toEqual([200, 'README.md\n'])
    }
    expect((await raw('main/nothing', maintainer)).status).toBe(404)
    expect((await raw('nothing/README.md', maintainer)).status).toBe(404)
    expect((await raw('main/..%2F..%2Fsecret', maintainer)).status).toBe(404)
    expect((await raw('main/README.md', await world.user())).status).toBe(404)
    expect((await raw('main/README.md', { token: 'glpat-none' })).status).toBe(404)
    const nobody = await raw('main/README.md')
    expect([nobody.status, nobody.headers.get('location')]).toEqual([302, `${world.url}/users/sign_in`])
  })

  test('raw_blob_request_limit: so many requests a minute for one file, whoever asks', async () => {
    for (const name of ['counted.txt', 'other.txt']) {
      const file = { branch: 'main', content: 'x', commit_message: 'Add' }
      expectStatus(await maintainer.post(`/projects/${project.id}/repository/files/${name}`, file), 201)
    }
    await during(world, { raw_blob_request_limit: 2 }, async () => {
      expect((await raw('main/counted.txt', maintainer)).status).toBe(200)
      expect((await raw('main/counted.txt', world.root)).status).toBe(200)
      const refused = await raw('main/counted.txt', maintainer)
      expect([refused.status, await refused.text()]).toEqual([
        429,
        'You cannot access the raw file. Please wait a minute.',
      ])
      expect((await raw('main/other.txt', maintainer)).status).toBe(200)
    })
    expect((await raw('main/counted.txt', maintainer)).status).toBe(200)
  })

  test('archives are given five times a minute', async () => {
    const reader = await world.member({ project }, 'reporter')
    const archive = () => reader.get(`/projects/${project.id}/repository/archive.tar`)
    for (let time = 0; time < 5; time += 1) expect((await archive()).status).toBe(200)
    const refused = await archive()
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused).toMatchObject({
      status: 429,
      body: { message: { error: 'This archive has been requested too many times. Try again later.' } },
    })
    expect((await maintainer.get(`/projects/${project.id}/repository/archive.tar`)).status).toBe(200)
  })

  describe('of more projects than max_number_of_repository_downloads', () => {
    let projects: Made[]
    beforeAll(async () => {
      projects = [await world.project(), await world.project(), await world.project()]
      for (const one of projects) await copies.filled(one)
    })
    const limits = {
      max_number_of_repository_downloads: 2,
      max_number_of_repository_downloads_within_time_period: 100_000,
    }
    const reader = async (): Promise<Person> => {
      const person = await world.user()
      for (const one of projects) {
        const fields = { user_id: person.id, access_level: 30 }
        expectStatus(await world.root.post(`/projects/${one.id}/members`, fields), 201)
      }
      return person
    }
    const told = (person: Person) =>
      mailbox.received.filter(({ subject }) => subject.startsWith(`@${person.username} has downloaded`))
    const clone = (one: Made, person: Person) =>
      copies.try(copies.folder, ['clone', '--quiet', copies.url(one, person), world.unique('many')])

    test('administrators hear, or who is on git_rate_limit_users_alertlist; nobody is shut out', async () => {
      const [person, ear] = [await reader(), await world.user()]
      await during(world, { ...limits, git_rate_limit_users_alertlist: [ear.id] }, async () => {
        for (const one of [...projects, ...projects]) expect((await clone(one, person)).code).toBe(0)
        await expect.poll(() => told(person).length, { interval: 20, timeout: 30_000 }).toBe(1)
        expect(told(person)[0]!.to).toEqual([`${ear.username}@example.com`])
      })
      const other = await reader()
      for (const one of projects) expect((await clone(one, other)).code).toBe(0)
      expect(told(other)).toEqual([])
    })

    test('auto_ban_user_on_excessive_projects_download: who fetches them is banned, by any way', async () => {
      await during(world, { ...limits, auto_ban_user_on_excessive_projects_download: true }, async () => {
        const person = await reader()
        const { ssh } = {
          ssh: await sshLogin(world, copies, async (key) =>
            expectStatus(await person.post('/user/keys', { title: 'many', key }), 201),
          ),
        }
        expect((await clone(projects[0]!, person)).code).toBe(0)
        const archived = await person.get(`/projects/${projects[1]!.id}/repository/archive.tar`)
        expect(archived.status).toBe(200)
        const third = await copies.try(
          copies.folder,
          ['clone', sshAddress(world, projects[2]!.path_with_namespace), world.unique('many')],
          { GIT_SSH_COMMAND: ssh },
        )
        expect(third.stderr).toContain('Your account has been blocked.')
        const shown = (await world.root.get(`/users/${person.id}`)).body as Json
        expect(shown['state']).toBe('banned')
        expect((await person.get('/user')).status).toBe(403)
        expectStatus(await world.root.post(`/users/${person.id}/unban`), 201)
        expect((await clone(projects[2]!, person)).code).toBe(0)
        await set(world, { auto_ban_user_on_excessive_projects_download: false })
        const other = await reader()
        for (const one of projects) expect((await clone(one, other)).code).toBe(0)
        const { body } = await world.root.get(`/users/${other.id}`)
        expect((body as Json)['state']).toBe('active')
      })
    })

    test('git_rate_limit_users_allowlist: those on it are not counted', async () => {
      const person = await reader()
      const values = {
        ...limits,
        auto_ban_user_on_excessive_projects_download: true,
        git_rate_limit_users_allowlist: [person.username],
      }
      await during(world, values, async () => {
        for (const one of projects) expect((await clone(one, person)).code).toBe(0)
        await set(world, { git_rate_limit_users_allowlist: [] })
        const other = await reader()
        expect((await clone(projects[0]!, other)).code).toBe(0)
        expect((await clone(projects[1]!, other)).code).toBe(0)
        expect((await clone(projects[2]!, other)).code).not.toBe(0)
      })
    })
  })
})

test('a report tells how a repository is kept, as git itself counts', async () => {
  const of = await world.project()
  const reader = await world.member({ project: of }, 'maintainer')
  const address = `/projects/${of.id}/repository/health`
  for (const branch of ['a', 'b', 'c'])
    await pushFiles(world, of, { [branch]: randomBytes(500).toString('hex') }, [branch])
  expect((await reader.get(address)).body).toEqual({ message: '404 Repository Health Report Not Found' })
  const { services } = world.service
  const place = services.places.of({ id: of.id, storage: 'default' })
  const counted = async () => {
    const lines = (await git(place.path, 'count-objects', '-v')).split('\n').map((line) => line.split(': '))
    return new Map(lines.map(([name, number]) => [name, Number(number)]))
  }
  const before = expectStatus(await reader.get(`${address}?generate=true`), 200)
  const count = await counted()
  expect(before).toMatchObject({
    references: { loose_count: 3, packed_size: 0, reference_backend: 'REFERENCE_BACKEND_FILES' },
    objects: {
      ...{ packfile_count: count.get('packs'), loose_objects_count: count.get('count') },
      ...{ keep_count: 0, cruft_count: 0, stale_size: 0 },
    },
    commit_graph: { commit_graph_chain_length: 0, has_bloom_filters: false, has_generation_data: false },
    ...{ bitmap: null, multi_pack_index: null, is_object_pool: false },
  })
  await git(place.path, '-c', 'pack.writeReverseIndex=true', 'repack', '-adq', '--write-bitmap-index')
  await git(place.path, 'commit-graph', 'write', '--reachable', '--split', '--changed-paths')
  await git(place.path, 'multi-pack-index', 'write')
  await git(place.path, 'pack-refs', '--all')
  // The last one until another is asked for.
  expect(expectStatus(await reader.get(address), 200)).toEqual(before)
  const after = expectStatus(await reader.get(`${address}?generate=true`), 200)
  expect(after).toMatchObject({
    references: { loose_count: 0 },
    objects: { packfile_count: 1, loose_objects_count: 0, reverse_index_count: 1 },
    commit_graph: { commit_graph_chain_length: 1, has_bloom_filters: true, has_generation_data: true },
    bitmap: { version: 1 },
    multi_pack_index: { packfile_count: 1, version: 1 },
  })
  expect((after['references'] as Json)['packed_size']).toBeGreaterThan(100)
  const { size, objects } = after as { size: number; objects: { size: number; recent_size: number } }
  expect(objects.recent_size).toBe(objects.size)
  expect(size).toBeGreaterThan(objects.size)
  const statuses = []
  for (let more = 0; more < 4; more += 1) statuses.push((await reader.get(`${address}?generate=true`)).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  const empty = await world.root.get(
    `/projects/${(await world.project()).id}/repository/health?generate=true`,
  )
  expect(empty).toMatchObject({ status: 200, body: { objects: { size: 0, packfile_count: 0 } } })
})
