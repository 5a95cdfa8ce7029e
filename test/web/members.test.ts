import { afterAll, beforeAll, expect, test } from 'vitest'
import { Visitor } from '../world/browser.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** The pages of members, used as their visitors use them. */
const password = 'correct horse battery staple'

let world: World
let group: Made
let project: Made
let keeper: Visitor
let reader: Visitor
let stranger: Visitor

beforeAll(async () => {
  world = await startWorld()
  group = await world.group({ visibility: 'private' })
  project = await world.project({ visibility: 'private', namespace_id: group.id })
  const member = async (access_level: number): Promise<Visitor> => {
    const { id, username } = await world.user({ force_random_password: undefined, password })
    expectStatus(await world.root.post(`/groups/${group.id}/members`, { user_id: id, access_level }), 201)
    const visitor = new Visitor(world.url)
    await visitor.signIn(username, password)
    return visitor
  }
  keeper = await member(50)
  reader = await member(20)
  stranger = new Visitor(world.url)
})
afterAll(async () => {
  for (const one of [keeper, reader, stranger]) await one[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** The row of this user. */
const rowOf = (visitor: Visitor, username: string): string =>
  [...visitor.document.querySelectorAll('main .rows > li')]
    .map((row) => row.textContent)
    .find((text) => text.includes(`@${username}`)) ?? 'none'

test.each(['project', 'group'] as const)('of a %s are added, changed and removed', async (kind) => {
  const path =
    kind === 'project'
      ? `/${project.path_with_namespace}/-/project_members`
      : `/groups/${group.full_path}/-/group_members`
  const base = `/${kind}s/${kind === 'project' ? project.id : group.id}/members`
  const { id, username } = await world.user()
  const membership = async (): Promise<Json> => expectStatus(await world.root.get(`${base}/${id}`), 200)
  await keeper.visit(path)
  keeper.fill({ 'User name': username, Role: 'Reporter', Until: '2099-12-31' })
  await keeper.press('Add')
  expect(rowOf(keeper, username)).toMatch(/Reporter.*2099-12-31/)
  expect(await membership()).toMatchObject({ access_level: 20, expires_at: '2099-12-31' })

  await keeper.visit(`${path}?search=${username}`)
  const change = keeper.document.querySelector('.rows form')!
  Object.assign(change.querySelector('select')!, { value: '30' })
  Object.assign(change.querySelector('input')!, { value: '' })
  await keeper.press('Save')
  expect(rowOf(keeper, username)).toContain('Developer')
  expect(await membership()).toMatchObject({ access_level: 30, expires_at: null })

  await keeper.press('Remove')
  expect(rowOf(keeper, username)).toBe('none')
  expect((await world.root.get(`${base}/${id}`)).status).toBe(404)
})

test('from above are shown, and changed there', async () => {
  const above = await world.member({ group }, 'developer')
  await keeper.visit(`/${project.path_with_namespace}/-/project_members?search=${above.username}`)
  expect(rowOf(keeper, above.username)).toContain('Developer from above')
  expect(keeper.document.querySelectorAll('.rows form')).toHaveLength(0)
})

test('a refusal is told where it was tried', async () => {
  await keeper.visit(`/groups/${group.full_path}/-/group_members`)
  keeper.fill({ 'User name': 'nobody-of-this-name' })
  await keeper.press('Add')
  expect(keeper.document.querySelector('.fields [role=alert]')?.textContent).toContain('404')
})

test('are shown to those who may not change them, without what changes them', async () => {
  for (const path of [
    `/${project.path_with_namespace}/-/project_members`,
    `/groups/${group.full_path}/-/group_members`,
  ]) {
    await reader.visit(path)
    expect(reader.text).toContain('Reporter')
    expect(reader.document.querySelectorAll('main .fields, main .action')).toHaveLength(0)
    await stranger.visit(path)
    expect(stranger.text).toContain('Nothing is at this address, or nothing that you may see.')
  }
})
