// @module-tag long
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flushPkt, pkt } from '../../src/git/pkt-line.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
let maintainer: Person
let developer: Person
let project: Json
let origin: string

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project()
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  origin = await copies.filled(project, maintainer)
  for (let i = 0; i < 5; i += 1)
    await copies.commit(origin, { [`file-${i}`]: randomBytes(1000).toString('hex') })
  await git(origin, 'tag', '-a', 'v1', '-m', 'First', 'HEAD~2')
  await git(origin, 'push', '--quiet', 'origin', 'main', 'v1')
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const url = () => copies.url(project, developer)
/** Events of pushes to the project. */
async function news(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int from events where kind = 'push' and project_id = ${project['id']}`.execute(
    world.service.services.db.reader,
  )
  return rows[0]!.count
}
const refs = async (pattern = '') => git(copies.folder, 'ls-remote', url(), pattern)

describe.each(['0', '1', '2'])('protocol %s', (version) => {
  const config = ['-c', `protocol.version=${version}`]

  test('ls-remote', async () => {
    const told = await git(copies.folder, ...config, 'ls-remote', '--symref', url())
    expect(told).toContain('ref: refs/heads/main\tHEAD')
    expect(told).toContain('refs/tags/v1^{}')
  })

  test('clone, fetch, push', async () => {
    const name = `protocol-${version}`
    await git(copies.folder, ...config, 'clone', '--quiet', url(), name)
    const folder = path.join(copies.folder, name)
    expect(await git(folder, 'rev-parse', 'HEAD')).toBe(await git(origin, 'rev-parse', 'HEAD'))
    expect(await git(folder, 'fsck', '--strict')).toBe('')
    await git(folder, 'checkout', '--quiet', '-b', name)
    const head = await copies.commit(folder, name)
    await git(folder, ...config, 'push', '--quiet', 'origin', 'HEAD')
    await git(origin, ...config, 'fetch', '--quiet', 'origin')
    expect(await git(origin, 'rev-parse', `origin/${name}`)).toBe(head)
  })

  test('shallow, deepened, partial, by tag', async () => {
    const clone = async (name: string, ...flags: string[]) => {
      await git(copies.folder, ...config, 'clone', '--quiet', ...flags, url(), `${name}-${version}`)
      return path.join(copies.folder, `${name}-${version}`)
    }
    const shallow = await clone('shallow', '--depth=1')
    expect(await git(shallow, 'rev-list', '--count', 'HEAD')).toBe('1')
    await git(shallow, ...config, 'fetch', '--quiet', '--deepen=2')
    expect(await git(shallow, 'rev-list', '--count', 'HEAD')).toBe('3')
    await git(shallow, ...config, 'fetch', '--quiet', '--unshallow')
    expect(await git(shallow, 'rev-list', '--count', 'HEAD')).toBe('6')
    const partial = await clone('partial', '--filter=blob:none')
    expect(await readFile(path.join(partial, 'README.md'), 'utf8')).toBe('README.md\n')
    const tagged = await clone('tagged', '--branch', 'v1')
    expect(await git(tagged, 'rev-parse', 'HEAD')).toBe(await git(origin, 'rev-parse', 'HEAD~2'))
    const single = await clone('single', '--single-branch', '--no-tags')
    expect(await git(single, 'tag')).toBe('')
  })
})

describe('push', () => {
  test('creates, moves, forces and deletes', async () => {
    const copy = await copies.clone(project, developer)
    await git(copy, 'checkout', '--quiet', '-b', 'moving')
    const first = await copies.commit(copy, 'one')
    await git(copy, 'push', '--quiet', 'origin', 'moving')
    await copies.commit(copy, 'two')
    await git(copy, 'push', '--quiet', 'origin', 'moving')
    await git(copy, 'reset', '--quiet', '--hard', `${first}~1`)
    const other = await copies.commit(copy, 'three')
    const refused = await copies.try(copy, ['push', 'origin', 'moving'])
    expect(refused.stderr).toContain('[rejected]')
    await git(copy, 'push', '--quiet', '--force', 'origin', 'moving')
    expect(await refs('refs/heads/moving')).toContain(other)
    await git(copy, 'push', '--quiet', '--force-with-lease=moving', 'origin', `${first}:moving`)
    await git(copy, 'push', '--quiet', 'origin', '--delete', 'moving')
    expect(await refs('refs/heads/moving')).toBe('')
  })

  test('tags, light and annotated, moved and deleted', async () => {
    const copy = await copies.clone(project, developer)
    await git(copy, 'tag', 'light')
    await git(copy, 'tag', '-a', 'heavy', '-m', 'Heavy')
    await git(copy, 'push', '--quiet', '--tags', 'origin')
    expect(await refs('refs/tags/heavy*')).toContain('refs/tags/heavy^{}')
    await git(copy, 'tag', '--force', 'light', 'HEAD~1')
    await git(copy, 'push', '--quiet', '--force', 'origin', 'light')
    await git(copy, 'push', '--quiet', '--delete', 'origin', 'light', 'heavy')
    expect(await refs('refs/tags/light')).toBe('')
  })

  test('tag names that are none', async () => {
    const copy = await copies.clone(project, maintainer)
    const told = await copies.try(copy, ['push', 'origin', `HEAD:refs/tags/${'a'.repeat(40)}`])
    expect(told.stderr).toContain(
      'remote: Guildhall: You cannot create a tag with a SHA-1 or SHA-256 tag name.',
    )
    for (const name of ['-x', 'refs/heads/x', 'refs/tags/x']) {
      const misleading = await copies.try(copy, ['push', 'origin', `HEAD:refs/tags/${name}`])
      expect(misleading.stderr).toContain(
        'remote: Guildhall: You cannot create a tag with a prohibited pattern.',
      )
    }
    const main = await copies.try(copy, ['push', 'origin', 'HEAD:refs/tags/main'])
    expect(main.stderr).toContain('remote: Guildhall: You cannot use default branch name to create a tag')
  })

  test('--atomic moves all or nothing', async () => {
    const copy = await copies.clone(project, developer)
    await git(copy, 'checkout', '--quiet', '-b', 'atomic')
    await copies.commit(copy, 'atomic')
    const told = await copies.try(copy, ['push', '--atomic', 'origin', 'HEAD:good', 'HEAD:main'])
    expect(told.code).not.toBe(0)
    expect(told.stderr).toContain('You are not allowed to push code to protected branches on this project.')
    expect(await refs('refs/heads/good')).toBe('')
    expect((await copies.try(copy, ['push', '--atomic', 'origin', 'HEAD:good', 'HEAD:better'])).code).toBe(0)
    expect(await refs('refs/heads/*')).toMatch(/better[\s\S]*good/)
  })

  test('push options are taken, and announced with the push', async () => {
    const copy = await copies.clone(project, developer)
    await git(copy, 'checkout', '--quiet', '-b', 'options')
    await copies.commit(copy, 'options')
    await git(copy, 'push', '--quiet', '-o', 'ci.skip', '-o', 'ci.variable=A=b', 'origin', 'options')
    const event = await world.service.services.db.reader
      .selectFrom('events as e')
      .select('e.payload')
      .where('e.kind', '=', 'push')
      .orderBy('e.id', 'desc')
      .executeTakeFirstOrThrow()
    expect(event.payload).toMatchObject({
      updates: [{ ref: 'refs/heads/options', oldOid: '0'.repeat(40) }],
      pushOptions: ['ci.skip', 'ci.variable=A=b'],
    })
  })

  test('of many refs is one event, whose tasks do not stand before those of others', async () => {
    const copy = await copies.clone(project, developer)
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}`)
    const before = await news()
    await git(copy, 'push', '--quiet', 'origin', ...names.map((name) => `HEAD:refs/heads/${name}`))
    expect(await news()).toBe(before + 1)
    expect((await refs('refs/heads/many-*')).split('\n')).toHaveLength(40)
    await git(copy, 'push', '--quiet', 'origin', ...names.map((name) => `:${name}`))
    expect(await news()).toBe(before + 2)
    expect(await refs('refs/heads/many-*')).toBe('')
  })

  test('refs of the service are not for clients', async () => {
    const copy = await copies.clone(project, maintainer)
    const spaces = [
      'keep-around/x',
      'merge-requests/1/head',
      'pipelines/1',
      'environments/e/deployments/1',
      'tmp/x',
      'remotes/x/y',
    ]
    for (const space of spaces) {
      const told = await copies.try(copy, ['push', 'origin', `HEAD:refs/${space}`])
      expect(told.stderr).toContain('deny updating a hidden ref')
      expect(told.code).toBe(1)
    }
    expect((await copies.try(copy, ['push', 'origin', 'HEAD:refs/one'])).stderr).toContain('funny refname')
  })

  test('replacements are kept for who asks for them, and change nothing of what is read here', async () => {
    const copy = await copies.clone(project, maintainer)
    const [head, before] = (await git(copy, 'rev-parse', 'HEAD', 'HEAD~1')).split('\n')
    await git(copy, 'push', '--quiet', 'origin', `${before}:refs/replace/${head}`)
    const read = await maintainer.get(`/projects/${project['id']}/repository/commits/${head}`)
    expect(read.body).toMatchObject({ id: head, parent_ids: [before] })
    const clone = await copies.clone(project, developer)
    expect(await git(clone, 'rev-parse', 'HEAD~1')).toBe(before)
    await git(copy, 'push', '--quiet', 'origin', `:refs/replace/${head}`)
  })

  test('nothing is told of the deletion of what is not there', async () => {
    const copy = await copies.clone(project, maintainer)
    const head = await git(copy, 'rev-parse', 'HEAD')
    const before = await news()
    expect((await copies.try(copy, ['push', 'origin', ':nothing'])).stderr).toContain(
      'remote ref does not exist',
    )
    const zero = '0'.repeat(40)
    // As of clients that do not look, or whom somebody was quicker than.
    for (const old of [zero, head]) {
      const reply = await fetch(
        `${world.url}/${project['path_with_namespace'] as string}.git/git-receive-pack`,
        {
          method: 'POST',
          headers: {
            authorization: `Basic ${Buffer.from(`x:${maintainer.token}`).toString('base64')}`,
            'content-type': 'application/x-git-receive-pack-request',
          },
          body: Buffer.concat([pkt(`${old} ${zero} refs/heads/nothing\0report-status`), flushPkt]),
        },
      )
      expect(reply.status).toBe(200)
      expect(await reply.text()).toContain('ng refs/heads/nothing failed to update ref')
    }
    expect(await news()).toBe(before)
  })

  test('large content arrives whole, in both directions', async () => {
    const copy = await copies.clone(project, developer)
    await git(copy, 'checkout', '--quiet', '-b', 'large')
    const content = randomBytes(24 * 1024 * 1024)
    await copies.commit(copy, { large: content })
    await git(copy, 'push', '--quiet', 'origin', 'large')
    const clone = await copies.clone(project, developer, '--branch', 'large', '--depth=1')
    const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex')
    expect(digest(await readFile(path.join(clone, 'large')))).toBe(digest(content))
  })

  test('several at once, each to its own branch', async () => {
    const pushes = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const copy = await copies.clone(project, developer)
        await git(copy, 'checkout', '--quiet', '-b', `at-once-${index}`)
        const head = await copies.commit(copy, `at-once-${index}`)
        return { copy, head }
      }),
    )
    const told = await Promise.all(pushes.map(({ copy }) => copies.try(copy, ['push', 'origin', 'HEAD'])))
    expect(told.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
    const all = await refs('refs/heads/at-once-*')
    for (const { head } of pushes) expect(all).toContain(head)
  })

  test('several at once to one branch: one wins, the others are told', async () => {
    const contenders = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const copy = await copies.clone(project, developer)
        return { copy, head: await copies.commit(copy, `contended-${index}`) }
      }),
    )
    const told = await Promise.all(
      contenders.map(({ copy }) => copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/contended'])),
    )
    expect(told.filter(({ code }) => code === 0)).toHaveLength(1)
    const winner = contenders[told.findIndex(({ code }) => code === 0)]!
    expect(await refs('refs/heads/contended')).toContain(winner.head)
    for (const { stderr } of told.filter(({ code }) => code !== 0))
      expect(stderr).toContain('failed to update ref')
  })

  test('what the client sends in chunks, compressed and after 100-continue is understood', async () => {
    const copy = await copies.clone(project, developer)
    await git(copy, 'checkout', '--quiet', '-b', 'chunked')
    await copies.commit(copy, { chunked: randomBytes(300_000) })
    await git(copy, '-c', 'http.postBuffer=65536', 'push', '--quiet', 'origin', 'chunked')
    // Many tags make the client's questions long enough to be sent compressed.
    for (let index = 0; index < 60; index += 1) await git(copy, 'tag', `many-${index}`)
    await git(copy, 'push', '--quiet', '--tags', 'origin')
    for (const version of ['0', '2'])
      await git(copy, '-c', `protocol.version=${version}`, 'fetch', '--quiet', 'origin')
  })
})

test('the first push makes the default branch and protects it', async () => {
  const fresh = await world.project()
  const pusher = await world.member({ project: fresh }, 'maintainer')
  const beginner = await world.member({ project: fresh }, 'developer')
  const early = await copies.fresh(fresh, beginner)
  await copies.commit(early, 'early')
  const told = await copies.try(early, ['push', 'origin', 'HEAD:trunk'])
  expect(told.code).not.toBe(0)
  expect(told.stderr).toContain(
    `remote: Guildhall: A default branch (e.g. main) does not yet exist for ${fresh['path_with_namespace']}`,
  )
  expect(told.stderr).toContain(`${world.url}/${fresh['path_with_namespace']}/-/project_members`)

  const copy = await copies.fresh(fresh, pusher)
  await copies.commit(copy, 'first')
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:trunk', 'HEAD:other')
  const id = fresh['id']
  const after = (await world.root.get(`/projects/${id}`)).body as Json
  expect(['trunk', 'other']).toContain(after['default_branch'])
  const branch = after['default_branch'] as string
  const rules = await world.root.get(`/projects/${id}/protected_branches`)
  expect(rules.body).toMatchObject([
    { name: branch, push_access_levels: [{ access_level: 40 }], merge_access_levels: [{ access_level: 40 }] },
  ])
  const symref = await git(copies.folder, 'ls-remote', '--symref', copies.url(fresh, pusher), 'HEAD')
  expect(symref).toContain(`ref: refs/heads/${branch}\tHEAD`)
})

test('an empty repository can be cloned', async () => {
  const empty = await world.project()
  for (const version of ['0', '2']) {
    const told = await copies.try(copies.folder, [
      ...['-c', `protocol.version=${version}`, 'clone', copies.url(empty, world.root), `empty-${version}`],
    ])
    expect(told).toMatchObject({ code: 0, stderr: expect.stringContaining('empty repository') as string })
  }
})
