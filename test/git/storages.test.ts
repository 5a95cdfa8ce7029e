// @module-tag long
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
let folder: string
let db: pg.Client

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'guildhall-storages-'))
  const storages = ['default', 'fast', 'large'].map((name) => `${name}=${path.join(folder, name)}`)
  world = await startWorld({ REPOSITORY_STORAGES: storages.join(',') })
  copies = await Copies.open(world)
  db = new pg.Client({ connectionString: world.databaseUrl })
  await db.connect()
})
afterAll(async () => {
  await db.end()
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const moves = (project: Json) => `/projects/${project['id'] as number}/repository_storage_moves`
const storageOf = async (project: Json) =>
  bodyOf(await world.root.get(`/projects/${project['id'] as number}`))['repository_storage'] as string
const repositories = async (storage: string) =>
  (await readdir(path.join(folder, storage), { recursive: true }).catch(() => [])).filter((name) =>
    name.endsWith('.git'),
  ).length

/** Waits until a move is done, whatever comes of it. */
async function finished(project: Json, id: number): Promise<string> {
  for (;;) {
    const { state } = bodyOf(await world.root.get(`${moves(project)}/${id}`)) as { state: string }
    if (!['scheduled', 'started'].includes(state)) return state
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function move(project: Json, destination_storage_name?: string): Promise<number> {
  const made = await world.root.post(moves(project), { destination_storage_name })
  expect(made.status).toBe(201)
  return bodyOf(made)['id'] as number
}

/** Lets the old place be removed now. */
async function clean(project: Json, id: number): Promise<void> {
  await db.query(
    `select graphile_worker.reschedule_jobs(array(select j.id from graphile_worker.jobs j
     where j.key = $1), run_at => now())`,
    [`storage-moves:clean:${id}`],
  )
  for (;;) {
    if (bodyOf(await world.root.get(`${moves(project)}/${id}`))['state'] !== 'replicated') return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('the weights of the settings decide where a project lives', async () => {
  const weighted = (weights: Json) =>
    world.root.put('/application/settings', { repository_storages_weighted: weights })
  await weighted({ default: 0, fast: 100 })
  const project = await world.project()
  expect(await storageOf(project)).toBe('fast')
  await copies.filled(project)
  await weighted({ default: 100, fast: 0 })
  expect(await storageOf(await world.project())).toBe('default')
  expect(await storageOf(project)).toBe('fast')
})

describe('a move', () => {
  let project: Made
  let copy: string

  beforeAll(async () => {
    project = await world.project({ default_branch: 'trunk' })
    copy = await copies.fresh(project, world.root)
    await copies.commit(copy, 'first')
    await git(copy, 'tag', '-a', '-m', 'One', 'v1')
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:trunk', 'HEAD:refs/heads/other', 'v1')
  })

  test('takes everything along, and leaves nothing behind', async () => {
    const before = await git(copy, 'ls-remote', 'origin')
    const [here, there] = [await repositories('default'), await repositories('large')]
    const id = await move(project, 'large')
    expect(await finished(project, id)).toBe('replicated')
    expect(await storageOf(project)).toBe('large')
    expect(await git(copy, 'ls-remote', 'origin')).toBe(before)
    await copies.clone(project, world.root)
    expect((await world.root.post(moves(project), { destination_storage_name: 'default' })).status).toBe(400)
    await clean(project, id)
    expect(await repositories('default')).toBe(here - 1)
    expect(await repositories('large')).toBe(there + 1)
    await copies.commit(copy, 'after the move')
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:trunk')
    expect(bodyOf(await world.root.get(`${moves(project)}/${id}`))).toMatchObject({
      id,
      state: 'finished',
      source_storage_name: 'default',
      destination_storage_name: 'large',
      project: { id: project.id, path_with_namespace: project.path_with_namespace },
    })
    expect(rowsOf(await world.root.get(moves(project)))).toHaveLength(1)
    expect(rowsOf(await world.root.get('/project_repository_storage_moves'))[0]).toMatchObject({ id })
  })

  test('loses no push that was acknowledged', async () => {
    const work = { done: false }
    const acknowledged: string[] = []
    const refusals = new Set<string>()
    const pushing = (async () => {
      for (let number = 0; !work.done; number += 1) {
        const branch = `branch-${number}`
        const told = await copies.try(copy, ['push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`])
        if (told.code === 0) acknowledged.push(branch)
        else refusals.add(told.stderr)
      }
    })()
    for (const storage of ['fast', 'default', 'large']) {
      const id = await move(project, storage)
      expect(await finished(project, id)).toBe('replicated')
      await clean(project, id)
    }
    work.done = true
    await pushing
    const there = await git(copy, 'ls-remote', '--heads', 'origin')
    const names = there.split('\n').map((line) => line.split('refs/heads/')[1])
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.filter((branch) => !names.includes(branch))).toEqual([])
    for (const told of refusals) expect(told).toContain('The repository is temporarily read-only.')
  })

  test('keeps pushes out while refs are copied', async () => {
    await db.query(`update projects set moving_until = now() + interval '1 hour' where id = $1`, [project.id])
    const told = await copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/late'])
    expect(told.stderr).toContain(
      'remote: Guildhall: The repository is temporarily read-only. Please try again later.',
    )
    const branches = `/projects/${project.id}/repository/branches`
    expect(await world.root.post(branches, { branch: 'late', ref: 'trunk' })).toMatchObject({
      status: 400,
      body: { message: 'The repository is temporarily read-only. Please try again later.' },
    })
    // A lease that nobody renews ends by itself.
    await db.query(`update projects set moving_until = now() - interval '1 s' where id = $1`, [project.id])
    expect((await copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/late'])).code).toBe(0)
  })

  test('of a project without code, and of all projects of a storage', async () => {
    const empty = await world.project()
    const before = await storageOf(empty)
    expect(before).toBe('default')
    await world.root.post('/project_repository_storage_moves', {
      ...{ source_storage_name: 'default', destination_storage_name: 'fast' },
    })
    while ((await storageOf(empty)) !== 'fast') await new Promise((resolve) => setTimeout(resolve, 50))
    await copies.filled(empty)
  })

  test('goes nowhere that is not there', async () => {
    expect(await world.root.post(moves(project), { destination_storage_name: 'nowhere' })).toMatchObject({
      status: 400,
      body: { message: { destination_storage_name: ['is not included in the list'] } },
    })
    const same = { destination_storage_name: await storageOf(project) }
    expect((await world.root.post(moves(project), same)).status).toBe(400)
  })
})

describe('the wiki of a project that is moved', () => {
  let project: Made
  let pages: string
  let wiki: Json
  let copy: string

  beforeAll(async () => {
    project = await world.project()
    pages = `/projects/${project.id}/wikis`
    wiki = { path_with_namespace: `${project.path_with_namespace}.wiki` }
    await copies.filled(project)
    expectStatus(await world.root.post(pages, { title: 'home', content: '# Home' }), 201)
    copy = await copies.clone(wiki, world.root)
  })

  const placeOfWiki = async () => {
    const { rows } = await db.query<{ id: number; storage: string }>(
      'select id, storage from wikis where project_id = $1',
      [project.id],
    )
    const [{ id, storage }] = rows as [{ id: number; storage: string }]
    const hash = createHash('sha256').update(`wiki-${id}`).digest('hex')
    const place = (of: string) =>
      path.join(folder, of, '@hashed', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
    return { storage, place }
  }

  test('goes along with its history, also what is pushed meanwhile', async () => {
    expect((await placeOfWiki()).storage).toBe(await storageOf(project))
    const [here, there] = [await repositories('default'), await repositories('large')]
    const work = { done: false }
    const acknowledged: string[] = []
    const refusals = new Set<string>()
    const pushing = (async () => {
      for (let number = 0; !work.done; number += 1) {
        const told = await copies.try(copy, ['push', '--quiet', 'origin', `HEAD:refs/heads/side-${number}`])
        if (told.code === 0) acknowledged.push(`side-${number}`)
        else refusals.add(told.stderr)
      }
    })()
    const id = await move(project, 'large')
    expect(await finished(project, id)).toBe('replicated')
    await clean(project, id)
    work.done = true
    await pushing
    expect((await placeOfWiki()).storage).toBe('large')
    expect([await repositories('default'), await repositories('large')]).toEqual([here - 2, there + 2])
    const names = (await git(copy, 'ls-remote', '--heads', 'origin'))
      .split('\n')
      .map((line) => line.split('refs/heads/')[1])
    expect(acknowledged.filter((branch) => !names.includes(branch))).toEqual([])
    for (const told of refusals) expect(told).toContain('The repository is temporarily read-only.')

    expect((await world.root.get(`${pages}/home`)).body).toMatchObject({ content: '# Home' })
    expectStatus(await world.root.put(`${pages}/home`, { content: '# Moved' }), 200)
    await git(copy, 'pull', '--quiet', 'origin', 'main')
    expect(await git(copy, 'show', 'HEAD:home.md')).toBe('# Moved')
    expect(await git(copy, 'rev-list', '--count', 'HEAD')).toBe('2')
    // What its first reader finds as the branch that is checked out.
    await copies.clone(wiki, world.root)
  })

  test('takes nothing in while refs are copied', async () => {
    const message = 'The repository is temporarily read-only. Please try again later.'
    await db.query(`update projects set moving_until = now() + interval '1 hour' where id = $1`, [project.id])
    const told = await copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/late'])
    expect(told.stderr).toContain(`remote: Guildhall: ${message}`)
    expect(await world.root.put(`${pages}/home`, { content: '# Late' })).toMatchObject({
      status: 422,
      body: { message },
    })
    await db.query('update projects set moving_until = null where id = $1', [project.id])
    expect((await copies.try(copy, ['push', 'origin', 'HEAD:refs/heads/late'])).code).toBe(0)
  })

  test('that fails leaves both in use where they were', async () => {
    const before = await git(copy, 'ls-remote', 'origin')
    const failed = async (target: string) => {
      const id = await move(project, target)
      expect(await finished(project, id)).toBe('failed')
      expect([await storageOf(project), (await placeOfWiki()).storage]).toEqual(['large', 'large'])
    }
    // A storage that takes no files.
    await rm(path.join(folder, 'fast'), { recursive: true, force: true })
    await writeFile(path.join(folder, 'fast'), '')
    await failed('fast')
    await rm(path.join(folder, 'fast'))

    // An object is lost, and so the copy of the wiki is not whole: the repository, whose copy is, stays too.
    const objects = path.join((await placeOfWiki()).place('large'), 'objects')
    const aside = path.join(folder, 'aside')
    await rename(objects, aside)
    await cp(aside, objects, { recursive: true })
    for (const name of await readdir(objects, { recursive: true, withFileTypes: true })) {
      if (name.isFile() && !name.name.endsWith('.idx')) await rm(path.join(name.parentPath, name.name))
    }
    const there = await repositories('default')
    await failed('default')
    // What became of the move is told before its copies are gone.
    await expect.poll(() => repositories('default')).toBe(there)
    await rm(objects, { recursive: true })
    await rename(aside, objects)

    expect(await git(copy, 'ls-remote', 'origin')).toBe(before)
    expectStatus(await world.root.put(`${pages}/home`, { content: '# Still here' }), 200)
    await copies.clone(project, world.root)
    const again = await move(project, 'default')
    expect(await finished(project, again)).toBe('replicated')
    expect((await world.root.get(`${pages}/home`)).body).toMatchObject({ content: '# Still here' })
  })

  test('that has none gets one where the project lies', async () => {
    const other = await world.project()
    const id = await move(other, 'large')
    expect(await finished(other, id)).toBe('replicated')
    expectStatus(await world.root.post(`/projects/${other.id}/wikis`, { title: 'new', content: 'x' }), 201)
    const { rows } = await db.query('select storage from wikis where project_id = $1', [other.id])
    expect(rows).toEqual([{ storage: 'large' }])
    expect((await world.root.get(`/projects/${other.id}/wikis/new`)).status).toBe(200)
  })
})
