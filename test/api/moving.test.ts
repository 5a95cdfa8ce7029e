// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { Copies } from '../git/copies.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const idsOf = async (by: Person, path: string) => rowsOf(await by.get(path)).map(({ id }) => id as number)

describe('transferring a project', () => {
  const transfer = (by: Person, project: Json, namespace: unknown) =>
    by.put(`/projects/${project['id'] as number}/transfer`, { namespace })
  const failed = (text: string) => ({ message: `Failed to transfer project {:new_namespace=>["${text}"]}` })

  test('gives it another path, to which the old one leads, and other members', async () => {
    const [from, to] = [await world.group(), await world.group()]
    const owner = await world.member({ group: from }, 'owner')
    const stayer = await world.member({ group: from }, 'developer')
    const newcomer = await world.member({ group: to }, 'developer')
    expectStatus(
      await world.root.post(`/groups/${to.id}/members`, { user_id: owner.id, access_level: 30 }),
      201,
    )
    const project = await world.project({ namespace_id: from.id })
    await pushFiles(world, project, { 'a.txt': 'a' })
    const moved = expectStatus(await transfer(owner, project, to.full_path), 200)
    expect([moved['path_with_namespace'], (moved['namespace'] as Json)['id']]).toEqual([
      `${to.full_path}/${project.path}`,
      to.id,
    ])
    expect((await stayer.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await newcomer.get(`/projects/${project.id}`)).status).toBe(200)
    const old = await newcomer.get(`/projects/${encodeURIComponent(project.path_with_namespace)}`)
    expect([old.status, old.headers.get('location')]).toEqual([
      301,
      `${world.url}/api/v4/projects/${project.id}`,
    ])
    await using copies = await Copies.open(world)
    const login = { username: 'x', token: newcomer.token }
    await copies.clone(project, login)
    await copies.clone(moved, login)
  })

  test('into a personal namespace makes its owner the Owner', async () => {
    const person = await world.user()
    const group = await world.group({}, person)
    const project = await world.project({ namespace_id: group.id }, person)
    expectStatus(await transfer(person, project, person.username), 200)
    expect(rowsOf(await person.get(`/projects/${project.id}/members`))).toMatchObject([
      { id: person.id, access_level: 50 },
    ])
    expectStatus(await transfer(person, project, group.id), 200)
  })

  test('makes it no more open than the group that it goes to', async () => {
    const project = await world.project({ visibility: 'public' })
    const fork = expectStatus(await (await world.user()).post(`/projects/${project.id}/fork`), 201)
    const target = await world.group({ visibility: 'private' })
    expect(expectStatus(await transfer(world.root, project, target.id), 200)['visibility']).toBe('private')
    expect(
      bodyOf(await world.root.get(`/projects/${fork['id'] as number}`))['forked_from_project'],
    ).toBeNull()
  })

  test('is refused with the reason', async () => {
    const [from, to] = [await world.group(), await world.group()]
    const owner = await world.member({ group: from }, 'owner')
    const project = await world.project({ namespace_id: from.id })
    expect((await transfer(owner, project, from.id)).body).toEqual(
      failed('Project is already in this namespace.'),
    )
    expect((await transfer(owner, project, to.id)).body).toEqual({ message: '404 Namespace Not Found' })
    expect((await transfer(owner, project, 'no/such')).status).toBe(404)
    expectStatus(
      await world.root.post(`/groups/${to.id}/members`, { user_id: owner.id, access_level: 20 }),
      201,
    )
    const weak = await transfer(owner, project, to.id)
    expect([weak.status, weak.body]).toEqual([
      400,
      failed("You don't have permission to transfer projects into that namespace."),
    ])
    await world.project({ namespace_id: to.id, path: project.path, name: 'another' })
    expect((await transfer(world.root, project, to.id)).body).toEqual(
      failed('Project with same name or path in target namespace already exists'),
    )
    const maintainer = await world.member({ project }, 'maintainer')
    expect((await transfer(maintainer, project, to.id)).status).toBe(403)
  })

  test('has a list of where it may go', async () => {
    const person = await world.user()
    const [own, other] = [await world.group({}, person), await world.group({}, person)]
    const closed = await world.group({ project_creation_level: 'noone' }, person)
    const project = await world.project({ namespace_id: own.id }, person)
    expect(await idsOf(person, `/projects/${project.id}/transfer_locations`)).toEqual([other.id])
    expect(await idsOf(person, `/projects/${project.id}/transfer_locations?search=${closed.path}`)).toEqual(
      [],
    )
  })

  test('can be asked of the group too', async () => {
    const person = await world.user()
    const [from, to] = [await world.group({}, person), await world.group({}, person)]
    const project = await world.project({ namespace_id: from.id }, person)
    expect(expectStatus(await person.post(`/groups/${to.id}/projects/${project.id}`), 201)['id']).toBe(to.id)
    expect(await idsOf(person, `/groups/${to.id}/projects`)).toEqual([project.id])
  })
})

describe('transferring a group', () => {
  const transfer = (by: Person, group: Json, group_id?: number) =>
    by.post(`/groups/${group['id'] as number}/transfer`, group_id === undefined ? {} : { group_id })

  test('takes all below along, with paths, redirects and access', async () => {
    const [top, target] = [await world.group(), await world.group()]
    const moving = await world.group({ parent_id: top.id })
    const below = await world.group({ parent_id: moving.id })
    const project = await world.project({ namespace_id: below.id })
    const before = await world.member({ group: top }, 'developer')
    const after = await world.member({ group: target }, 'developer')
    const moved = expectStatus(await transfer(world.root, moving, target.id), 201)
    expect([moved['full_path'], moved['parent_id']]).toEqual([
      `${target.full_path}/${moving.path}`,
      target.id,
    ])
    const found = bodyOf(await after.get(`/projects/${project.id}`))
    expect(found['path_with_namespace']).toBe(
      `${target.full_path}/${moving.path}/${below.path}/${project.path}`,
    )
    expect((await before.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await after.get(`/projects/${encodeURIComponent(project.path_with_namespace)}`)).status).toBe(301)
    expect(bodyOf(await world.root.get(`/groups/${below.id}`))['full_name']).toBe(
      `${target.name} / ${moving.name} / ${below.name}`,
    )
    // And to the top.
    const up = expectStatus(await transfer(world.root, moving), 201)
    expect([up['full_path'], up['parent_id']]).toEqual([moving.path, null])
    expect((await after.get(`/projects/${project.id}`)).status).toBe(404)
    expect(await idsOf(world.root, `/groups/${moving.id}/descendant_groups`)).toEqual([below.id])
  })

  test('makes nothing more open than the new parent', async () => {
    const group = await world.group({ visibility: 'public' })
    const project = await world.project({ namespace_id: group.id, visibility: 'public' })
    const parent = await world.group({ visibility: 'internal' })
    expect(expectStatus(await transfer(world.root, group, parent.id), 201)['visibility']).toBe('internal')
    expect(bodyOf(await world.root.get(`/projects/${project.id}`))['visibility']).toBe('internal')
  })

  test('is refused with the reason', async () => {
    const person = await world.user()
    const group = await world.group({}, person)
    const below = await world.group({ parent_id: group.id }, person)
    const other = await world.group({}, person)
    const failed = (text: string) => [400, { message: `Transfer failed: ${text}` }]
    const tried = async (of: Json, to?: number) => {
      const { status, body } = await transfer(person, of, to)
      return [status, body] as unknown
    }
    expect(await tried(group)).toEqual(failed('Group is already a root group.'))
    expect(await tried(below, group.id)).toEqual(failed('Group is already associated to the parent group.'))
    expect(await tried(group, below.id)).toEqual(failed('Cannot transfer group to one of its subgroup.'))
    expect(await tried(group, group.id)).toEqual(failed('Cannot transfer group to one of its subgroup.'))
    expect(await tried(group, 999_999)).toEqual([404, { message: '404 Group Not Found' }])
    await world.project({ namespace_id: other.id, path: group.path, name: 'x' }, person)
    expect(await tried(group, other.id)).toEqual(
      failed('The parent group already has a subgroup or a project with the same path.'),
    )
    const readable = await world.group({ visibility: 'public' })
    expect(await tried(group, readable.id)).toEqual(failed("You don't have enough permissions."))
    const maintainer = await world.member({ group }, 'maintainer')
    expect((await transfer(maintainer, group, other.id)).status).toBe(403)
    const ids = await idsOf(person, `/groups/${group.id}/transfer_locations`)
    expect(ids).toEqual([other.id])
  })

  test('two that go below one another end with one of them refused', async () => {
    const [one, other] = [await world.group(), await world.group()]
    const replies = await Promise.all([
      transfer(world.root, one, other.id),
      transfer(world.root, other, one.id),
    ])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400])
  })
})

describe('deletion that waits', () => {
  const today = new Date().toISOString().slice(0, 10)
  const runTask = async (name: string) => {
    const { db } = world.service.services
    await sql`select graphile_worker.add_job(${name}::text, '{}'::json)`.execute(db.writer)
  }

  async function pass(days: number, table: 'projects' | 'namespaces', id: number): Promise<void> {
    await sql`
      update ${sql.table(table)} set marked_for_deletion_at = now() - make_interval(days => ${days})
      where id = ${id}`.execute(world.service.services.db.writer)
  }

  test('leaves a project to be read, closed to writes, until it is restored', async () => {
    const project = await world.project({ initialize_with_readme: true })
    const owner = await world.member({ project }, 'owner')
    const path = `/projects/${project.id}`
    expectStatus(await owner.delete(path), 202)
    expect(bodyOf(await owner.get(path))).toMatchObject({
      marked_for_deletion_on: today,
      marked_for_deletion_at: today,
      archived: true,
    })
    expect(await idsOf(owner, '/projects?archived=true&membership=true')).toEqual([project.id])
    expect(await idsOf(owner, '/projects?archived=false&membership=true')).toEqual([])
    expect((await owner.post(`${path}/variables`, { key: 'A', value: 'b' })).status).toBe(403)
    expect(await idsOf(owner, `/projects?marked_for_deletion_on=${today}&membership=true`)).toEqual([
      project.id,
    ])
    expectStatus(await owner.delete(path), 202)
    expect(expectStatus(await owner.post(`${path}/restore`), 201)).toMatchObject({
      marked_for_deletion_on: null,
      archived: false,
    })
    expect((await owner.post(`${path}/variables`, { key: 'A', value: 'b' })).status).toBe(201)
    expect((await owner.post(`${path}/restore`)).status).toBe(400)
  })

  test('ends at once for who says so twice', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}`
    const now = (full_path?: string) => world.root.delete(path, { permanently_remove: true, full_path })
    expect((await now(project.path_with_namespace)).body).toEqual({
      message: 'Project must be marked for deletion first.',
    })
    expectStatus(await world.root.delete(path), 202)
    const wrong = '`full_path` is incorrect. You must enter the complete path for the project.'
    expect((await now()).body).toEqual({ message: wrong })
    expect((await now('a/b')).body).toEqual({ message: wrong })
    expectStatus(await now(project.path_with_namespace), 202)
    expect((await world.root.get(path)).status).toBe(404)
  })

  test('ends a group at once only below another one', async () => {
    const top = await world.group()
    const below = await world.group({ parent_id: top.id })
    const now = (group: Made, full_path: unknown = group['full_path']) =>
      world.root.delete(`/groups/${group.id}`, { permanently_remove: true, full_path })
    const refusal = '`permanently_remove` option is only available for subgroups.'
    expect((await now(top)).body).toEqual({ message: refusal })
    expect((await now(below)).body).toEqual({ message: 'Group must be marked for deletion first.' })
    for (const group of [top, below]) expectStatus(await world.root.delete(`/groups/${group.id}`), 202)
    const refused = await now(top)
    expect([refused.status, refused.body]).toEqual([400, { message: refusal }])
    expect((await now(below, 'a/b')).body).toEqual({
      message: '`full_path` is incorrect. You must enter the complete path for the subgroup.',
    })
    expectStatus(await now(below), 202)
    expect((await world.root.get(`/groups/${below.id}`)).status).toBe(404)
    expect((await world.root.get(`/groups/${top.id}`)).status).toBe(200)
  })

  test('is not for personal projects, nor without a plan', async () => {
    const person = await world.user()
    const mine = expectStatus(await person.post('/projects', { name: 'mine' }), 201)
    expectStatus(await person.delete(`/projects/${mine['id'] as number}`), 202)
    expect((await person.get(`/projects/${mine['id'] as number}`)).status).toBe(404)
    const free = await world.sibling({ PLAN: 'free' })
    const project = await world.project()
    const headers = { 'private-token': world.root.token }
    await fetch(`${free.address}/api/v4/projects/${project.id}`, { method: 'DELETE', headers })
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(404)
  })

  test('of a group closes all below, and is taken back for all', async () => {
    const group = await world.group()
    const below = await world.group({ parent_id: group.id })
    const project = await world.project({ namespace_id: below.id })
    const owner = await world.member({ group }, 'owner')
    const write = async () =>
      (
        await owner.post(`/projects/${project.id}/variables`, {
          key: world.unique('K').replace('-', '_'),
          value: 'b',
        })
      ).status
    expect(await write()).toBe(201)
    expectStatus(await owner.delete(`/groups/${group.id}`), 202)
    expect(bodyOf(await owner.get(`/groups/${group.id}`))['marked_for_deletion_on']).toBe(today)
    expect(await write()).toBe(403)
    expect((await owner.post('/projects', { name: 'x', namespace_id: below.id })).status).toBe(400)
    expect((await owner.post('/groups', { name: 'x1', path: 'x1', parent_id: below.id })).status).toBe(403)
    expectStatus(await owner.post(`/groups/${group.id}/restore`), 201)
    expect(await write()).toBe(201)
    expect((await owner.post(`/groups/${group.id}/restore`)).body).toEqual({
      message: 'Group has not been marked for deletion',
    })
  })

  test('ends when its days are over, not before', async () => {
    const [early, late] = [await world.project(), await world.project()]
    const group = await world.group()
    const inside = await world.project({ namespace_id: group.id })
    for (const one of [early, late]) expectStatus(await world.root.delete(`/projects/${one.id}`), 202)
    expectStatus(await world.root.delete(`/groups/${group.id}`), 202)
    await pass(6, 'projects', early.id)
    await pass(8, 'projects', late.id)
    await pass(8, 'namespaces', group.id)
    await runTask('projects:end-marked')
    await runTask('groups:end-marked')
    const status = async (path: string) => (await world.root.get(path)).status
    await expect.poll(() => status(`/projects/${late.id}`), { timeout: 20_000 }).toBe(404)
    await expect.poll(() => status(`/groups/${group.id}`), { timeout: 20_000 }).toBe(404)
    expect(await status(`/projects/${inside.id}`)).toBe(404)
    expect(await status(`/projects/${early.id}`)).toBe(200)
  })

  test('can be left to administrators', async () => {
    const project = await world.project()
    const owner = await world.member({ project }, 'owner')
    await during(world, { default_project_deletion_protection: true }, async () => {
      expect((await owner.delete(`/projects/${project.id}`)).status).toBe(403)
    })
    expectStatus(await owner.delete(`/projects/${project.id}`), 202)
  })
})

describe('stars', () => {
  test('are given and taken back once, counted and listed', async () => {
    const project = await world.project({ visibility: 'public' })
    const [one, other] = [await world.user(), await world.user({ private_profile: true })]
    const path = `/projects/${project.id}`
    expect(expectStatus(await one.post(`${path}/star`), 201)['star_count']).toBe(1)
    const again = await one.post(`${path}/star`)
    expect([again.status, again.text]).toEqual([304, ''])
    expectStatus(await other.post(`${path}/star`), 201)
    const starrers = async (by: Person) =>
      rowsOf(await by.get(`${path}/starrers`)).map(({ user }) => (user as Json)['id'] as number)
    expect(await starrers(one)).toEqual([one.id])
    expect(await starrers(other)).toEqual([other.id, one.id])
    expect(rowsOf(await one.get(`${path}/starrers?search=nobody`))).toEqual([])
    expect(await idsOf(one, '/projects?starred=true')).toEqual([project.id])
    expect(await idsOf(other, `/users/${one.username}/starred_projects`)).toEqual([project.id])
    expect(await idsOf(one, `/users/${other.id}/starred_projects`)).toEqual([])
    expect((await one.get('/users/nobody-there/starred_projects')).status).toBe(404)
    const least: Made = await world.project({ visibility: 'public' })
    const ordered = await idsOf(one, '/projects?order_by=star_count&sort=desc')
    expect(ordered.indexOf(project.id)).toBeLessThan(ordered.indexOf(least.id))
    expect(expectStatus(await one.post(`${path}/unstar`), 201)['star_count']).toBe(1)
    expect((await one.post(`${path}/unstar`)).status).toBe(304)
    expect((await world.anonymous.post(`${path}/star`)).status).toBe(401)
  })
})
