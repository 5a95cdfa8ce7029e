import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { during } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { sshAddress, sshLogin } from './ssh-login.ts'

/** What the settings of the instance do to repositories, and to what comes into them. */
let world: World
let copies: Copies
let maintainer: Person
let project: Made
let folder: string

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0', PLAN: 'premium' })
  copies = await Copies.open(world)
  project = await world.project()
  maintainer = await world.member({ project }, 'maintainer')
  folder = await copies.filled(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
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
  await during(
    world,
    { housekeeping_enabled: true, housekeeping_optimize_repository_period: 5 },
    async () => {
      for (let more = 0; more < 5; more += 1) {
        await commitBytes(10)
        expect(await push(`HEAD:refs/heads/${world.unique('more')}`)).toMatchObject({ code: 0 })
      }
      await run()
      expect(await reckoned()).toBeUndefined()
      expect((await packs()) + (await loose())).toBe(before)
    },
  )
  await during(
    world,
    { housekeeping_enabled: true, housekeeping_optimize_repository_period: 4 },
    async () => {
      await run()
      await expect.poll(reckoned, { timeout: 30_000, interval: 20 }).toBeDefined()
      expect([await packs(), await loose()]).toEqual([1, 0])
    },
  )
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
  })
})
