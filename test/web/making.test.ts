import { afterAll, beforeAll, expect, test } from 'vitest'
import { Visitor } from '../world/browser.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

/** The pages on which projects and groups are made. */
const password = 'correct horse battery staple'

let world: World
let person: Person
let visitor: Visitor
let stranger: Visitor

beforeAll(async () => {
  world = await startWorld()
  person = await world.user({ force_random_password: undefined, password })
  visitor = new Visitor(world.url)
  stranger = new Visitor(world.url)
  await visitor.signIn(person.username, password)
})
afterAll(async () => {
  await visitor[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test('a group is made, and a project in it', async () => {
  await visitor.visit('/explore/groups')
  await visitor.press('New group')
  visitor.fill({ Name: 'The Makers', Path: 'makers', 'Who sees it': 'Everybody' })
  await visitor.press('Create the group')
  expect(visitor.address).toBe('/groups/makers')
  expect(expectStatus(await person.get('/groups/makers'), 200)['visibility']).toBe('public')

  await visitor.press('New project')
  visitor.fill({ Name: 'Their Tool', Repository: 'With a README' })
  await visitor.press('Create the project')
  expect(visitor.address).toBe('/makers/their-tool')
  expect(visitor.text).toContain('README.md')
})

test('a project of one’s own is made, with the path that is asked for', async () => {
  await visitor.visit('/explore')
  await visitor.press('New project')
  visitor.fill({ Name: 'Mine', Path: 'another-path' })
  await visitor.press('Create the project')
  expect(visitor.address).toBe(`/${person.username}/another-path`)
})

test('a group is made in another; what is refused is told', async () => {
  const { id } = expectStatus(await person.post('/groups', { name: 'Outer', path: 'outer' }), 201)
  await visitor.visit(`/groups/new?parent_id=${id}`)
  visitor.fill({ Name: 'Inner', Path: 'not a path' })
  await visitor.press('Create the group')
  expect(visitor.document.querySelector('.fields [role=alert]')?.textContent).toContain('path')
  visitor.fill({ Path: 'inner' })
  await visitor.press('Create the group')
  expect(visitor.address).toBe('/groups/outer/inner')
})

test('who is not signed in, or may make none, is not led there', async () => {
  await stranger.visit('/explore')
  expect(stranger.text).not.toContain('New project')
  for (const address of ['/projects/new', '/groups/new']) {
    await stranger.visit(address)
    expect(stranger.text).toContain('Sign in to see what is yours.')
  }
  expectStatus(
    await world.root.put(`/users/${person.id}`, { can_create_group: false, projects_limit: 0 }),
    200,
  )
  await visitor.visit('/explore')
  expect(visitor.text).not.toContain('New project')
  await visitor.visit('/explore/groups')
  expect(visitor.text).not.toContain('New group')
})
