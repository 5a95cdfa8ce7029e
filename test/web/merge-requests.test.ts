import { afterAll, beforeAll, expect, test } from 'vitest'
import { Visitor } from '../world/browser.ts'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/** The pages of merge requests, used as their visitors use them. */
const password = 'correct horse battery staple'
const hostile = '<img src=x onerror=alert(1)>'

let world: World
let merge: MergeProject
let path: string
let developer: Visitor
let guest: Visitor
let stranger: Visitor

beforeAll(async () => {
  world = await startWorld()
  merge = await new MergeProjects(world).make()
  // Developers merge into branches that no rule protects.
  await world.root.delete(`${merge.base}/protected_branches/main`)
  path = `/${merge.fullPath}/-/merge_requests`
  const member = async (access_level: number): Promise<Visitor> => {
    const { id, username } = await world.user({ force_random_password: undefined, password })
    expectStatus(await world.root.post(`${merge.base}/members`, { user_id: id, access_level }), 201)
    const visitor = new Visitor(world.url)
    await visitor.signIn(username, password)
    return visitor
  }
  developer = await member(30)
  guest = await member(20)
  stranger = new Visitor(world.url)
})
afterAll(async () => {
  for (const one of [developer, guest, stranger]) await one[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const stateOf = async (iid: unknown): Promise<unknown> =>
  expectStatus(await world.root.get(merge.one(Number(iid))), 200)['state'] as unknown
const words = (visitor: Visitor): string =>
  [...visitor.document.querySelectorAll('main button')].map((one) => one.textContent).join(', ')

test('a branch is brought, looked at, approved and merged', async () => {
  const branch = await merge.branch({ 'brought.txt': 'one\n' })
  await developer.visit(path)
  await developer.press('New merge request')
  developer.fill({ 'Branch to bring': branch, Title: 'Bring it', Description: 'Some **bold** words' })
  await developer.press('Create the merge request')
  const iid = developer.address.split('/').at(-1)
  expect(developer.address).toBe(`${path}/${iid}`)
  expect(developer.document.querySelector('.prose strong')?.textContent).toBe('bold')
  await expect.poll(() => developer.text).toContain('It can be merged.')

  await developer.press('Changes')
  expect(developer.address).toBe(`${path}/${iid}/diffs`)
  expect(developer.document.querySelector('.diff .added .text')?.textContent).toBe('one')
  await developer.visit(`${path}/${iid}/commits`)
  expect(developer.text).toContain('Write brought.txt')

  await developer.visit(`${path}/${iid}`)
  await developer.press('Merge')
  expect(developer.document.querySelector('.state')?.textContent).toBe('merged')
  expect(await stateOf(iid)).toBe('merged')
  await developer.visit(path)
  expect(developer.text).not.toContain('Bring it')
  await developer.press('Merged')
  expect(developer.text).toContain('Bring it')
})

test('it is told what is in the way; approvals are given and taken back', async () => {
  const request = await merge.request({ 'a.txt': 'a\n' }, { title: 'Draft: Not yet' })
  await developer.visit(`${path}/${request['iid']}`)
  await expect.poll(() => developer.text).toContain('It is a draft.')
  expect(words(developer)).not.toContain('Merge')
  await developer.press('Approve')
  expect(developer.text).toContain('Approved by ')
  await developer.press('Take back the approval')
  expect(developer.text).not.toContain('Approved by ')
})

test('threads are resolved; it is closed and opened again', async () => {
  const request = await merge.request({ 'b.txt': 'b\n' })
  expectStatus(
    await world.root.post(`${merge.one(request['iid'] as number)}/discussions`, { body: 'Why?' }),
    201,
  )
  await developer.visit(`${path}/${request['iid']}`)
  await developer.press('Resolve')
  expect(developer.document.querySelector('.thread .badge')?.textContent).toBe('resolved')
  await developer.press('Open the thread again')
  expect(developer.document.querySelector('.thread .badge')).toBeNull()
  await developer.press('Close')
  expect([await stateOf(request['iid']), developer.text.includes('Closed without being merged.')]).toEqual([
    'closed',
    true,
  ])
  await developer.press('Open it again')
  expect(await stateOf(request['iid'])).toBe('opened')
})

test('who only reads it is offered nothing else, and a refusal is told', async () => {
  const request = await merge.request({ 'c.txt': 'c\n' }, { title: hostile, description: hostile })
  await guest.visit(`${path}/${request['iid']}`)
  await expect.poll(() => guest.text).toContain('It can be merged.')
  expect(words(guest)).toBe('Comment')
  expect(guest.document.querySelector('h1')?.textContent).toContain(hostile)
  expect(guest.document.querySelectorAll('main [onerror]')).toHaveLength(0)

  await developer.visit(`${path}/${request['iid']}`)
  await expect.poll(() => words(developer)).toContain('Merge')
  const source = request['source_branch'] as string
  await merge.commit(source, { 'd.txt': 'pushed meanwhile\n' })
  await developer.press('Merge')
  expect(developer.text).toContain('SHA does not match HEAD of source branch')
  expect(await stateOf(request['iid'])).toBe('opened')
})

test('strangers see the same as where nothing is', async () => {
  const request: Json = await merge.request({ 'e.txt': 'e\n' })
  const seen = async (address: string): Promise<string> => {
    await stranger.visit(address)
    return stranger.text
  }
  const nothing = await seen('/nothing/here/-/merge_requests/1')
  const one = `${path}/${request['iid']}`
  for (const address of [path, `${path}/new`, one, `${one}/diffs`, `${one}/commits`]) {
    expect(await seen(address)).toBe(nothing)
  }
})
