// @module-tag long
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { gitOf, repositoryFolder } from '../world/repositories.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let source: Made
beforeAll(async () => {
  world = await startWorld()
  source = await world.project({ visibility: 'public', description: 'What it is for' })
  await pushFiles(world, source, { 'README.md': '# Source', 'src/main.go': 'package main\n' }, [
    'main',
    'work',
  ])
  expectStatus(
    await world.root.post(`/projects/${source.id}/repository/tags`, {
      tag_name: 'v1',
      ref: 'main',
      message: 'x',
    }),
    201,
  )
})
afterAll(() => world[Symbol.asyncDispose]())

async function forkOf(project: Json, by: Person, fields: Json = {}): Promise<Json> {
  return expectStatus(await by.post(`/projects/${project['id'] as number}/fork`, fields), 201)
}

async function levelOf(id: number): Promise<string> {
  return bodyOf(await world.root.get(`/projects/${id}`))['visibility'] as string
}

describe('forking', () => {
  test('makes a project of its own with all branches and tags', async () => {
    const person = await world.user()
    const fork = await forkOf(source, person)
    expect(fork).toMatchObject({
      path_with_namespace: `${person.username}/${source.path}`,
      description: 'What it is for',
      visibility: 'public',
      empty_repo: false,
      default_branch: 'main',
      import_status: 'finished',
      mr_default_target_self: false,
      creator_id: person.id,
      forked_from_project: { id: source.id, path_with_namespace: source.path_with_namespace },
    })
    const id = fork['id'] as number
    expect(await gitOf(world, id, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      await gitOf(
        world,
        source.id,
        'for-each-ref',
        '--format=%(refname) %(objectname)',
        'refs/heads',
        'refs/tags',
      ),
    )
    await gitOf(world, id, 'fsck', '--strict')
    expect(
      rowsOf(await person.get(`/projects/${id}/protected_branches`)).map(({ name }) => name as string),
    ).toEqual(['main'])
    expect(bodyOf(await person.get(`/projects/${id}/repository/files/README.md?ref=main`))['size']).toBe(8)
    expect(rowsOf(await person.get(`/projects/${id}/pipelines`))).toEqual([])
  })

  test('takes no room: files are linked, and what is pushed to one is not in the other', async () => {
    const person = await world.user()
    const fork = (await forkOf(source, person)) as Made
    const [folder] = (await readdir(path.join(repositoryFolder(world, fork.id), 'objects'))).filter(
      (name) => name.length === 2,
    )
    const [file] = await readdir(path.join(repositoryFolder(world, fork.id), 'objects', folder!))
    expect(
      (await stat(path.join(repositoryFolder(world, fork.id), 'objects', folder!, file!))).nlink,
    ).toBeGreaterThan(1)
    await pushFiles(world, fork, { 'only-here.txt': 'x' }, ['mine'])
    const names = async (id: number) =>
      rowsOf(await world.root.get(`/projects/${id}/repository/branches`)).map(({ name }) => name as string)
    expect(await names(fork.id)).toEqual(['main', 'mine', 'work'])
    expect(await names(source.id)).toEqual(['main', 'work'])
  })

  test('outlives its source', async () => {
    const person = await world.user()
    const short = await world.project({ visibility: 'public' })
    await pushFiles(world, short, { 'a.txt': 'a' })
    const fork = await forkOf(short, person)
    const id = fork['id'] as number
    await world.service.services.db.writer.deleteFrom('projects').where('id', '=', short.id).execute()
    const after = bodyOf(await person.get(`/projects/${id}`))
    expect([after['forked_from_project'], after['mr_default_target_self']]).toEqual([null, null])
    await gitOf(world, id, 'fsck')
  })

  test('goes where it is told to, with the name, path and level it is told', async () => {
    const person = await world.user()
    const group = await world.group({ visibility: 'internal' }, person)
    const fork = await forkOf(source, person, {
      namespace_path: group.full_path,
      name: 'Another name',
      path: 'another-path',
      visibility: 'private',
      description: 'Mine',
      mr_default_target_self: true,
    })
    expect(fork).toMatchObject({
      path_with_namespace: `${group.full_path}/another-path`,
      name: 'Another name',
      visibility: 'private',
      description: 'Mine',
      mr_default_target_self: true,
    })
    const byId = await forkOf(source, person, { namespace_id: group.id, path: 'by-id', name: 'by id' })
    expect(byId['visibility']).toBe('internal')
    const old = await forkOf(source, person, { namespace: group.full_path, path: 'old', name: 'old' })
    expect(old['path_with_namespace']).toBe(`${group.full_path}/old`)
  })

  test('of one branch takes no other one and no tag', async () => {
    const person = await world.user()
    const fork = await forkOf(source, person, { branches: 'work' })
    expect(fork['default_branch']).toBe('work')
    expect(await gitOf(world, fork['id'] as number, 'for-each-ref', '--format=%(refname)')).toBe(
      'refs/heads/work',
    )
    const bad = await person.post(`/projects/${source.id}/fork`, { branches: 'none', path: 'x', name: 'x' })
    expect([bad.status, bad.body]).toEqual([404, { message: '404 Source Branch Not Found' }])
  })

  test('of an empty project makes an empty one', async () => {
    const person = await world.user()
    const empty = await world.project({ visibility: 'public', default_branch: 'trunk' })
    const fork = await forkOf(empty, person)
    expect([fork['empty_repo'], fork['default_branch']]).toEqual([true, 'trunk'])
    await pushFiles(world, fork, { 'a.txt': 'a' }, ['trunk'])
  })

  test('twice into one namespace is refused', async () => {
    const person = await world.user()
    await forkOf(source, person)
    const again = await person.post(`/projects/${source.id}/fork`)
    expect([again.status, again.body]).toEqual([
      409,
      { message: ['Name has already been taken', 'Path has already been taken'] },
    ])
    expect((await person.post(`/projects/${source.id}/fork`, { name: 'n', path: 'p' })).status).toBe(201)
  })

  test('is refused as if nothing were there to who may not', async () => {
    const person = await world.user()
    const foreign = await world.group()
    for (const target of [
      { namespace_id: foreign.id },
      { namespace_path: 'no/such' },
      { namespace_id: 999_999 },
    ]) {
      const reply = await person.post(`/projects/${source.id}/fork`, target)
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Target Namespace Not Found' }])
    }
    const closed = await world.project({ visibility: 'public', forking_access_level: 'disabled' })
    expect((await world.root.post(`/projects/${closed.id}/fork`)).body).toEqual({ message: '404 Not Found' })
    const codeless = await world.project({ visibility: 'public', repository_access_level: 'disabled' })
    expect((await person.post(`/projects/${codeless.id}/fork`)).status).toBe(404)
    const secret = await world.project()
    const guest = await world.member({ project: secret }, 'guest')
    expect((await guest.post(`/projects/${secret.id}/fork`)).status).toBe(404)
    expect(
      (await (await world.member({ project: secret }, 'reporter')).post(`/projects/${secret.id}/fork`))
        .status,
    ).toBe(201)
  })

  test('stays inside the group where that asks for it', async () => {
    const group = await world.group({ visibility: 'public' })
    const below = await world.group({ parent_id: group.id, visibility: 'public' })
    expectStatus(await world.root.put(`/groups/${group.id}`, { prevent_forking_outside_group: true }), 200)
    const project = await world.project({ namespace_id: group.id })
    expect((await world.root.post(`/projects/${project.id}/fork`)).status).toBe(404)
    await forkOf(project, world.root, { namespace_id: below.id })
  })

  test('never gets open to more people than its source', async () => {
    const person = await world.user()
    const group = await world.group({ visibility: 'public' })
    const project = await world.project({ namespace_id: group.id, visibility: 'internal' })
    const refused = await person.post(`/projects/${project.id}/fork`, { visibility: 'public' })
    const text = 'public is not allowed since the fork source project has lower visibility.'
    expect([refused.status, refused.body]).toEqual([400, { message: { visibility_level: [text] } }])
    const fork = await forkOf(project, person)
    const raised = await person.put(`/projects/${fork['id'] as number}`, { visibility: 'public' })
    expect([raised.status, raised.body]).toEqual([400, { message: { visibility_level: [text] } }])
    // The source goes where the fork does not follow.
    expectStatus(await world.root.put(`/projects/${project.id}`, { visibility: 'private' }), 200)
    const left = bodyOf(await person.get(`/projects/${fork['id'] as number}`))
    expect([left['visibility'], left['forked_from_project']]).toEqual(['internal', null])
  })
})

describe('forks of a project', () => {
  test('are counted and listed for who may see them', async () => {
    const project = await world.project({ visibility: 'public' })
    const [one, other] = [await world.user(), await world.user()]
    const open = await forkOf(project, one)
    const hidden = await forkOf(project, other, { visibility: 'private' })
    const ids = async (by: Person) =>
      rowsOf(await by.get(`/projects/${project.id}/forks`)).map(({ id }) => id as number)
    expect(await ids(one)).toEqual([open['id']])
    expect(await ids(other)).toEqual([hidden['id'], open['id']])
    expect(bodyOf(await one.get(`/projects/${project.id}`))['forks_count']).toBe(2)
    expect(rowsOf(await one.get(`/projects/${project.id}/forks?search=none`))).toEqual([])
    await world.service.services.db.writer
      .deleteFrom('projects')
      .where('id', '=', hidden['id'] as number)
      .execute()
    expect(bodyOf(await one.get(`/projects/${project.id}`))['forks_count']).toBe(1)
  })

  test('do not tell of a source that the reader may not see', async () => {
    const secret = await world.project()
    const person = await world.member({ project: secret }, 'developer')
    const fork = await forkOf(secret, person)
    const path = `/projects/${fork['id'] as number}`
    expect(bodyOf(await person.get(path))['forked_from_project']).toMatchObject({ id: secret.id })
    expectStatus(await world.root.delete(`/projects/${secret.id}/members/${person.id}`), 204)
    expect(bodyOf(await person.get(path))['forked_from_project']).toBeNull()
  })
})

describe('the tie between two projects', () => {
  test('is made and ended by hand', async () => {
    const person = await world.user()
    const mine = expectStatus(await person.post('/projects', { name: 'tied' }), 201)
    const path = `/projects/${mine['id'] as number}/fork`
    expect((await person.delete(path)).status).toBe(304)
    expect(expectStatus(await person.post(`${path}/${source.id}`), 201)['forked_from_project']).toMatchObject(
      {
        id: source.id,
      },
    )
    expect((await person.post(`${path}/${source.id}`)).body).toEqual({ message: 'Project already forked' })
    expect((await person.delete(path)).status).toBe(204)
    const self = await person.post(`${path}/${mine['id'] as number}`)
    expect([self.status, self.body]).toEqual([
      409,
      { message: 'Target project cannot be equal to source project' },
    ])
    const hidden = await world.project()
    expect((await person.post(`${path}/${hidden.id}`)).status).toBe(404)
  })

  test('makes no circle', async () => {
    const person = await world.user()
    const first = expectStatus(await person.post('/projects', { name: 'first' }), 201)
    const second = await forkOf(first, person, { name: 'second', path: 'second' })
    const third = await forkOf(second, person, { name: 'third', path: 'third' })
    const link = (fork: Json, to: Json) =>
      person.post(`/projects/${fork['id'] as number}/fork/${to['id'] as number}`)
    expect((await link(first, third)).status).toBe(409)
    // With its own forks the second one leaves the first, and may become its source.
    expect((await person.delete(`/projects/${second['id'] as number}/fork`)).status).toBe(204)
    expect((await link(first, third)).status).toBe(201)
    expect(await levelOf(first['id'] as number)).toBe('private')
  })

  test('is for owners', async () => {
    const project = await world.project({ visibility: 'public' })
    const maintainer = await world.member({ project }, 'maintainer')
    expect((await maintainer.post(`/projects/${project.id}/fork/${source.id}`)).status).toBe(403)
    expect((await maintainer.delete(`/projects/${project.id}/fork`)).status).toBe(403)
  })
})
