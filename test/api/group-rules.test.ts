import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { answerOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let copies: Copies
let top: Made
let project: Made
let owner: Person
let developer: Person

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate' })
  copies = await Copies.open(world)
  top = await world.group()
  const inner = await world.group({ parent_id: top.id })
  project = await world.project({ namespace_id: inner.id })
  owner = await world.member({ group: top }, 'owner')
  developer = await world.member({ project }, 'developer')
  await copies.filled(project, owner)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const ofGroup = (name = '') => `/groups/${top.id}/protected_branches${suffix(name)}`
const ofProject = (name = '') => `/projects/${project.id}/protected_branches${suffix(name)}`
const suffix = (name: string) => (name === '' ? '' : `/${encodeURIComponent(name)}`)
const entries = (body: Json, kind: string) => body[`${kind}_access_levels`] as Json[]

describe('rules of a group', () => {
  test('are made, changed and removed by its owners', async () => {
    const name = `${world.unique('kept')}/*`
    const made = await answerOf(owner.post(ofGroup(), { name, push_access_level: 30 }))
    expect(made).toMatchObject({ status: 201, body: { name, push_access_levels: [{ access_level: 30 }] } })
    expect(made.body).not.toHaveProperty('inherited')
    expect(await owner.post(ofGroup(), { name })).toMatchObject({
      status: 409,
      body: { message: `Protected branch '${name}' already exists` },
    })
    const id = entries(made.body, 'push')[0]!['id'] as number
    const changed = await answerOf(
      owner.patch(ofGroup(name), {
        allow_force_push: true,
        allowed_to_push: [{ id, access_level: 0 }, { access_level: 60 }],
      }),
    )
    expect(changed.body).toMatchObject({
      allow_force_push: true,
      push_access_levels: [{ id, access_level: 0 }, { access_level: 60 }],
    })
    expect((await owner.get(ofGroup(name))).body).toEqual(changed.body)
    expect(rowsOf(await owner.get(`${ofGroup()}?search=KEPT`))).toEqual([changed.body])
    expect((await owner.delete(ofGroup(name))).status).toBe(204)
    expect(await owner.get(ofGroup(name))).toMatchObject({
      status: 404,
      body: { message: '404 ProtectedBranch Not Found' },
    })
  })

  test('stand at the top only, and name levels only', async () => {
    const inner = await world.group({ parent_id: top.id })
    const path = `/groups/${inner.id}/protected_branches`
    expect((await owner.get(path)).status).toBe(404)
    expect((await owner.post(path, { name: 'x' })).status).toBe(404)
    expect(
      await owner.post(ofGroup(), { name: 'x', allowed_to_push: [{ user_id: developer.id }] }),
    ).toMatchObject({ status: 400, body: { error: 'allowed_to_push[0][access_level] is missing' } })
    expect((await owner.post(ofGroup(), { name: 'x', unprotect_access_level: 60 })).status).toBe(403)
  })

  test('hold in all its projects, where nobody changes them', async () => {
    const name = world.unique('inherited')
    await owner.post(ofGroup(), { name, push_access_level: 60 })
    const copy = await copies.clone(project, developer)
    const push = () => copies.try(copy, ['push', 'origin', `HEAD:${name}`])
    expect((await push()).stderr).toContain('You are not allowed to create protected branches')
    expect((await owner.get(ofProject(name))).body).toMatchObject({ name, inherited: true })
    expect(rowsOf(await owner.get(`${ofProject()}?search=${name}`))).toMatchObject([{ inherited: true }])
    expect((await owner.patch(ofProject(name), { allow_force_push: true })).status).toBe(404)
    expect((await owner.delete(ofProject(name))).status).toBe(404)

    // A rule of the project beside it: the most permissive of both counts, and it is the one that is got.
    expect((await owner.post(ofProject(), { name, push_access_level: 30 })).status).toBe(201)
    expect((await owner.get(ofProject(name))).body).not.toHaveProperty('inherited')
    expect(rowsOf(await owner.get(`${ofProject()}?search=${name}`))).toHaveLength(2)
    expect((await push()).code).toBe(0)
    expect((await owner.get(`/projects/${project.id}/repository/branches/${name}`)).body).toMatchObject({
      protected: true,
      developers_can_push: true,
    })
    expect((await owner.delete(ofProject(name))).status).toBe(204)
    await copies.commit(copy, 'later')
    expect((await push()).stderr).toContain('You are not allowed to push code to protected branches')
    await owner.delete(ofGroup(name))
    expect((await push()).code).toBe(0)
  })
})

describe('groups among those who are let in', () => {
  let invited: Made
  let insider: Person

  beforeAll(async () => {
    invited = await world.group()
    insider = await world.member({ group: invited }, 'developer')
  })

  test('must be let into the project for writing', async () => {
    const name = world.unique('branch')
    const wanted = { name, allowed_to_push: [{ group_id: invited.id }] }
    const refused = {
      status: 422,
      body: { message: ['Push access levels group does not have access to the project'] },
    }
    expect(await owner.post(ofProject(), wanted)).toMatchObject(refused)
    const share = { group_id: invited.id, group_access: 20 }
    await world.root.post(`/projects/${project.id}/share`, share)
    expect(await owner.post(ofProject(), wanted)).toMatchObject(refused)
    await world.root.delete(`/projects/${project.id}/share/${invited.id}`)
    await world.root.post(`/projects/${project.id}/share`, { ...share, group_access: 30 })
    const { status, body } = await answerOf(owner.post(ofProject(), wanted))
    expect(status).toBe(201)
    expect(entries(body, 'push')).toEqual([
      {
        id: expect.any(Number) as number,
        access_level: null,
        access_level_description: invited.name,
        user_id: null,
        group_id: invited.id,
      },
    ])
    const twice = { allowed_to_push: [{ group_id: invited.id }] }
    expect(await owner.patch(ofProject(name), twice)).toMatchObject({
      status: 422,
      body: { message: ['Push access levels group has already been taken'] },
    })
  })

  test('let their direct members push, as long as they are let in', async () => {
    const name = world.unique('shared')
    await owner.post(ofProject(), { name, allowed_to_push: [{ group_id: invited.id }] })
    const below = await world.group({ parent_id: invited.id })
    const deeper = await world.member({ group: below }, 'developer')
    const reporter = await world.member({ group: invited }, 'reporter')
    const copy = await copies.clone(project, owner)
    const push = (person: Person) => copies.try(copy, ['push', copies.url(project, person), `HEAD:${name}`])
    for (const person of [developer, deeper, reporter]) expect((await push(person)).code).not.toBe(0)
    expect((await push(insider)).code).toBe(0)
    const branch = `/projects/${project.id}/repository/branches/${name}`
    expect((await insider.get(branch)).body).toMatchObject({ can_push: true })
    expect((await developer.get(branch)).body).toMatchObject({ can_push: false })

    // He is a member by another way too, and the group is let in no more.
    await world.root.post(`/projects/${project.id}/members`, { user_id: insider.id, access_level: 30 })
    await world.root.delete(`/projects/${project.id}/share/${invited.id}`)
    await copies.commit(copy, 'unshared')
    expect((await push(insider)).stderr).toContain('You are not allowed to push code to protected branches')
    await world.root.post(`/projects/${project.id}/share`, { group_id: invited.id, group_access: 30 })
    expect((await push(insider)).code).toBe(0)
  })

  test('may unprotect, and nobody who is not in them makes such a rule', async () => {
    const name = world.unique('lifted')
    const wanted = { name, allowed_to_unprotect: [{ group_id: invited.id }] }
    expect((await owner.post(ofProject(), wanted)).status).toBe(403)
    await world.root.post(`/groups/${invited.id}/members`, { user_id: owner.id, access_level: 30 })
    expect((await owner.post(ofProject(), wanted)).status).toBe(201)
    expect((await owner.delete(ofProject(name))).status).toBe(204)
  })

  test('create tags', async () => {
    const name = world.unique('v')
    const tags = `/projects/${project.id}/protected_tags`
    const made = await answerOf(owner.post(tags, { name, allowed_to_create: [{ group_id: invited.id }] }))
    expect(made.body['create_access_levels']).toMatchObject([{ access_level: null, group_id: invited.id }])
    const copy = await copies.clone(project, owner)
    await git(copy, 'tag', name)
    const push = (person: Person) => copies.try(copy, ['push', copies.url(project, person), name])
    expect((await push(developer)).stderr).toContain('You are not allowed to create this tag')
    expect((await push(insider)).code).toBe(0)
  })
})

test('groups have no rules without the paid plan', async () => {
  const free = await world.sibling({ PLAN: 'free' })
  const at = (path: string) => `${free.address}/api/v4${path}`
  expect((await owner.get(at(ofGroup()))).status).toBe(403)
})
