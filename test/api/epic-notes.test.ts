import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let writer: Person
let guest: Person
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  group = await world.group()
  writer = await world.member({ group }, 'planner')
  guest = await world.member({ group }, 'guest')
  // Ids of epics are not their numbers.
  const other = await world.group()
  expectStatus(await world.root.post(`/groups/${other.id}/epics`, { title: 'other' }), 201)
})
afterAll(() => world[Symbol.asyncDispose]())

const epicOf = async (fields: Json = {}): Promise<{ epic: Json; byId: string; byNumber: string }> => {
  const epic = expectStatus(await writer.post(`/groups/${group.id}/epics`, { title: 'E', ...fields }), 201)
  const epics = `/groups/${group.id}/epics`
  return { epic, byId: `${epics}/${epic['id'] as number}`, byNumber: `${epics}/${epic['iid'] as number}` }
}

test('discussions of an epic go by its id, and show what epics have', async () => {
  const { epic, byId, byNumber } = await epicOf()
  const thread = expectStatus(await guest.post(`${byId}/discussions`, { body: 'why' }), 201)
  const [note] = thread['notes'] as Json[]
  expect(note).toMatchObject({
    noteable_type: 'Epic',
    noteable_id: epic['id'],
    noteable_iid: null,
    project_id: null,
    resolvable: false,
  })
  expectStatus(
    await writer.post(`${byId}/discussions/${thread['id'] as string}/notes`, { body: 'because' }),
    201,
  )
  expect(rowsOf(await guest.get(`${byId}/notes?sort=asc`)).map((one) => one['body'])).toEqual([
    'why',
    'because',
  ])
  expect(bodyOf(await guest.get(`${byNumber}/discussions`))).toEqual({ message: '404 Epic Not Found' })
  // Told without counting.
  const counted = rowsOf(await guest.get(`/groups/${group.id}/epics?search=E`))
  expect(counted.map((one) => one['id'])).toContain(epic['id'])
})

test('reactions go by the number, and are counted', async () => {
  const { byId, byNumber } = await epicOf()
  const award = expectStatus(await guest.post(`${byNumber}/award_emoji`, { name: 'thumbsup' }), 201)
  expect(award).toMatchObject({ awardable_type: 'Epic', name: 'thumbsup' })
  expect(expectStatus(await guest.get(byNumber), 200)).toMatchObject({ upvotes: 1 })
  const note = expectStatus(await writer.post(`${byId}/notes`, { body: 'text' }), 201)
  const path = `${byNumber}/notes/${note['id'] as number}/award_emoji`
  expectStatus(await guest.post(path, { name: 'tada' }), 201)
  expect(rowsOf(await guest.get(path))).toHaveLength(1)
})

test('what is confidential or internal is not for guests', async () => {
  const secret = await epicOf({ confidential: true })
  expectStatus(await writer.post(`${secret.byId}/notes`, { body: 'text' }), 201)
  expect((await guest.get(`${secret.byId}/notes`)).status).toBe(404)
  const { byId } = await epicOf()
  expectStatus(await writer.post(`${byId}/notes`, { body: 'inside', internal: true }), 201)
  expect(rowsOf(await guest.get(`${byId}/discussions`))).toEqual([])
  expect(rowsOf(await writer.get(`${byId}/discussions`))).toHaveLength(1)
})

test('are not there below the plan of epics, which themselves are refused', async () => {
  const { byId, byNumber } = await epicOf()
  const premium = await world.sibling({ PLAN: 'premium' })
  const api = `${premium.address}/api/v4`
  for (const path of ['/discussions', '/notes']) {
    const { status, body } = await writer.get(`${api}${byId}${path}`)
    expect([status, body]).toEqual([404, { message: '404 Epic Not Found' }])
  }
  expect((await writer.get(`${api}${byNumber}`)).status).toBe(403)
})
