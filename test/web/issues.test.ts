import { afterAll, beforeAll, expect, test } from 'vitest'
import { Visitor } from '../world/browser.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

/** The pages of issues, used as their visitors use them. */
const password = 'correct horse battery staple'
const hostile = '<img src=x onerror=alert(1)> & "quotes"'

let world: World
let project: Made
let base: string
let path: string
let reporter: Person
let insider: Visitor
let stranger: Visitor

beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'private' })
  base = `/projects/${project.id}/issues`
  path = `/${project.path_with_namespace}/-/issues`
  reporter = await world.user({ force_random_password: undefined, password })
  const membership = { user_id: reporter.id, access_level: 20 }
  expectStatus(await world.root.post(`/projects/${project.id}/members`, membership), 201)
  insider = new Visitor(world.url)
  stranger = new Visitor(world.url)
  await insider.signIn(reporter.username, password)
})
afterAll(async () => {
  await insider[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const make = async (fields: Json): Promise<Json> => expectStatus(await world.root.post(base, fields), 201)
const notesOf = async (iid: string): Promise<Json[]> =>
  expectStatus(
    await world.root.get(`${base}/${iid}/notes?sort=asc&activity_filter=only_comments`),
    200,
  ) as Json[]

test('an issue is made, talked about, closed and opened again', async () => {
  await insider.visit(path)
  await insider.press('New issue')
  insider.fill({ Title: 'It breaks', Description: 'Some **bold** words' })
  await insider.press('Create the issue')
  expect(insider.address).toMatch(/\/-\/issues\/\d+$/)
  const iid = insider.address.split('/').at(-1)!
  expect(insider.document.querySelector('h1')?.textContent).toContain('It breaks')
  expect(insider.document.querySelector('.prose strong')?.textContent).toBe('bold')

  expectStatus(await world.root.put(`${base}/${iid}`, { assignee_ids: [reporter.id] }), 200)
  insider.fill({ Comment: 'I see it *too*' })
  await insider.press('Comment')
  expect(insider.document.querySelector('.thread .prose em')?.textContent).toBe('too')
  expect(insider.document.querySelector('.system-note')?.textContent).toContain('assigned to')
  insider.fill({ Reply: 'So do I' })
  await insider.press('Send the reply')
  expect(insider.document.querySelectorAll('.thread .note')).toHaveLength(2)
  expect((await notesOf(iid)).map(({ body }) => body as string)).toEqual(['I see it *too*', 'So do I'])

  await insider.press('Close the issue')
  expect(insider.document.querySelector('.byline .state')?.textContent).toBe('closed')
  await insider.press('Open it again')
  expect(expectStatus(await world.root.get(`${base}/${iid}`), 200)['state']).toBe('opened')
})

test('lists show those of one state, with these words or this label', async () => {
  await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#d9534f' })
  const labelled = await make({ title: 'With a label', labels: 'bug' })
  const closed = await make({ title: 'Done long ago' })
  await world.root.put(`${base}/${closed['iid']}`, { state_event: 'close' })
  await insider.visit(path)
  expect(insider.text).toContain('With a label')
  expect(insider.text).not.toContain('Done long ago')
  await insider.press('Closed')
  expect(insider.text).toContain('Done long ago')
  expect(insider.text).not.toContain('With a label')
  await insider.visit(`${path}?state=all&search=long`)
  expect(insider.text).toContain('Done long ago')
  expect(insider.text).not.toContain('With a label')
  await make({ title: 'Without one' })
  await insider.visit(`${path}/${labelled['iid']}`)
  await insider.press('bug')
  expect(insider.text).toContain('With a label')
  expect(insider.text).not.toContain('Without one')
})

test('what people wrote is text, and no markup of theirs', async () => {
  await world.root.post(`/projects/${project.id}/labels`, { name: '<b>label</b>', color: '#d9534f' })
  const issue = await make({ title: hostile, description: hostile, labels: '<b>label</b>' })
  await world.root.post(`${base}/${issue['iid']}/notes`, { body: hostile })
  await insider.visit(path)
  expect(insider.text).toContain(hostile)
  expect(insider.text).toContain('<b>label</b>')
  await insider.visit(`${path}/${issue['iid']}`)
  expect(insider.document.querySelector('h1')?.textContent).toContain(hostile)
  expect(insider.document.querySelectorAll('main [onerror], main b')).toHaveLength(0)
})

test('what is refused is told where it was tried, and what was written stays', async () => {
  const issue = await make({ title: 'Moved on' })
  await insider.visit(`${path}/${issue['iid']}`)
  insider.fill({ Comment: 'Too late' })
  expectStatus(await world.root.post(`/projects/${project.id}/archive`), 201)
  await insider.press('Comment')
  expect(insider.document.querySelector('.fields [role=alert]')?.textContent).toContain('403 Forbidden')
  expect(Reflect.get(insider.document.querySelector('.fields textarea')!, 'value')).toBe('Too late')
  await insider.visit(`${path}/${issue['iid']}`)
  expect(insider.document.querySelectorAll('main form, main .action')).toHaveLength(0)
  expectStatus(await world.root.post(`/projects/${project.id}/unarchive`), 201)
})

test('who sees the project only sees what may be done nowhere', async () => {
  const open = await world.project({ visibility: 'public' })
  const issue = expectStatus(
    await world.root.post(`/projects/${open.id}/issues`, { title: 'Open to all', description: '**bold**' }),
    201,
  )
  await insider.visit(`/${open.path_with_namespace}/-/issues/${issue['iid']}`)
  expect(insider.document.querySelector('.fields')).not.toBeNull()
  expect(insider.text).not.toContain('Close the issue')
  await stranger.visit(`/${open.path_with_namespace}/-/issues/${issue['iid']}`)
  expect(stranger.document.querySelector('.prose strong')?.textContent).toBe('bold')
  expect(stranger.text).toContain('Sign in to read and write comments.')
  expect(stranger.document.querySelector('.fields')).toBeNull()
  await stranger.visit(`/${open.path_with_namespace}/-/issues/new`)
  expect(stranger.text).toContain('Sign in to see what is yours.')
})

test('strangers see the same as where nothing is', async () => {
  const issue = await make({ title: 'Secret' })
  const seen = async (address: string): Promise<string> => {
    await stranger.visit(address)
    return stranger.text
  }
  const nothing = await seen('/nothing/here/-/issues/1')
  for (const address of [path, `${path}/${issue['iid']}`, `${path}/new`]) {
    expect(await seen(address)).toBe(nothing)
  }
  await insider.visit(`${path}/99999`)
  expect(insider.text).toContain('Nothing is at this address, or nothing that you may see.')
})
