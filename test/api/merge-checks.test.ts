// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person, Reply } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/* What else stands before a merge: other requests, titles; and what explains a request. */

let world: World
let projects: MergeProjects
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): [number, unknown] => [status, body]
const statusOf = async (at: MergeProject, iid: number): Promise<unknown> =>
  expectStatus(await at.developer.get(at.one(iid)), 200)['detailed_merge_status']
const set = async (at: MergeProject, fields: Json) =>
  expectStatus(await at.maintainer.put(at.base, fields), 200)

describe('a request that waits for another one', () => {
  test('is merged after it, by itself too', async () => {
    const at = await projects.make()
    const first = await at.request({ 'a.txt': 'a\n' })
    const second = await at.request({ 'b.txt': 'b\n' })
    const blocks = `${at.one(2)}/blocks`
    const wanted = { blocking_merge_request_id: first['id'] }
    const made = expectStatus(await at.developer.post(blocks, wanted), 201)
    expect(made).toMatchObject({
      project_id: at.id,
      blocking_merge_request: { id: first['id'], iid: 1 },
      blocked_merge_request: { id: second['id'], iid: 2 },
    })
    expect(answer(await at.developer.post(blocks, wanted))).toEqual([
      409,
      { message: 'Block already exists' },
    ])
    const circle = { message: { base: ['This block would make a circle'] } }
    for (const [iid, id] of [
      [1, second['id']],
      [2, second['id']],
    ]) {
      const body = { blocking_merge_request_id: id }
      expect(answer(await at.developer.post(`${at.one(iid as number)}/blocks`, body))).toEqual([400, circle])
    }
    expect(expectStatus(await at.developer.get(blocks), 200)).toEqual([made])
    expect(expectStatus(await at.developer.get(`${at.one(1)}/blockees`), 200)).toEqual([made])
    expect(await statusOf(at, 2)).toBe('merge_request_blocked')
    expect((await at.merge(2)).status).toBe(405)
    expect(expectStatus(await at.merge(2, { auto_merge: true }), 200)['state']).toBe('opened')
    expectStatus(await at.merge(1), 200)
    await eventually(async () => ((await at.developer.get(at.one(2))).body as Json)['state'] === 'merged')
  })

  test('can be let go, and shows nobody what he may not see', async () => {
    const at = await projects.make()
    const other = await projects.make()
    await at.request({ 'a.txt': 'a\n' })
    const hidden = await other.request({ 'b.txt': 'b\n' })
    const blocks = `${at.one(1)}/blocks`
    const wanted = { blocking_merge_request_id: hidden['id'] }
    expect((await at.developer.post(blocks, wanted)).status).toBe(404)
    const made = expectStatus(await world.root.post(blocks, wanted), 201)
    const single = `${blocks}/${made['id'] as number}`
    expect(expectStatus(await at.developer.get(blocks), 200)).toEqual([])
    expect((await at.developer.get(single)).status).toBe(404)
    expect(expectStatus(await world.root.get(single), 200)).toMatchObject({ id: made['id'] })
    expect(await statusOf(at, 1)).toBe('merge_request_blocked')
    expect((await at.developer.delete(single)).status).toBe(204)
    expect((await at.developer.delete(single)).status).toBe(404)
    expect(await statusOf(at, 1)).toBe('mergeable')
  })
})

test('titles have to be as the project wants them', async () => {
  const at = await projects.make()
  expect(answer(await at.maintainer.put(at.base, { merge_request_title_regex: '(' }))).toEqual([
    400,
    { message: { merge_request_title_regex: ['not valid RE2 syntax'] } },
  ])
  const fields = {
    merge_request_title_regex: '^(feat|fix): ',
    merge_request_title_regex_description: 'feat: or fix:',
  }
  await set(at, fields)
  expect(expectStatus(await at.maintainer.get(at.base), 200)).toMatchObject(fields)
  await at.request({ 'a.txt': 'a\n' }, { title: 'Add a' })
  expect(await statusOf(at, 1)).toBe('title_regex')
  expect((await at.merge(1)).status).toBe(405)
  expectStatus(await at.merge(1, { auto_merge: true }), 200)
  expectStatus(await at.developer.put(at.one(1), { title: 'feat: a' }), 200)
  await eventually(async () => ((await at.developer.get(at.one(1))).body as Json)['state'] === 'merged')
})

test('earlier commits explain a request', async () => {
  const at = await projects.make()
  const first = (await at.head('main'))!
  const second = await at.commit('main', { 'a.txt': 'a\n' })
  await at.request({ 'b.txt': 'b\n' })
  const path = `${at.one(1)}/context_commits`
  const commits = [first, second]
  const added = expectStatus(await at.developer.post(path, { commits }), 201) as Json[]
  expect(added.map(({ id }) => id as string).sort()).toEqual([...commits].sort())
  const [row] = expectStatus(await at.developer.get(`${path}?per_page=1&page=1`), 200) as Json[]
  expect(row).toMatchObject({ short_id: expect.any(String), author_email: expect.any(String) })
  const notValid = { message: "One or more context commits' sha is not valid." }
  for (const wrong of [['0'.repeat(40)], ['main'], [second, 'f'.repeat(40)]]) {
    expect(answer(await at.developer.post(path, { commits: wrong }))).toEqual([400, notValid])
  }
  expect(answer(await at.developer.post(path, { commits: [first] }))).toEqual([
    400,
    { message: `Context commits: ["${first}"] are already created` },
  ])
  const gone = new URLSearchParams([['commits[]', first]])
  expect((await at.developer.delete(`${path}?${gone.toString()}`)).status).toBe(204)
  expect(answer(await at.developer.delete(`${path}?${gone.toString()}`))).toEqual([400, notValid])
  const left = expectStatus(await at.developer.get(path), 200) as Json[]
  expect(left.map(({ id }) => id as string)).toEqual([second])
})

describe('changes that a reviewer wants', () => {
  const review = (at: MergeProject, body: Json) =>
    at.maintainer.post(`${at.one(1)}/draft_notes/bulk_publish`, body)
  const stateOf = async (at: MergeProject): Promise<unknown> =>
    (expectStatus(await at.developer.get(`${at.one(1)}/reviewers`), 200) as Json[]).map(
      ({ state }) => state as string,
    )

  test('stand before the merge until he approves', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' })
    await at.maintainer.post(`${at.one(1)}/draft_notes`, { note: 'One thing' })
    const wish = { reviewer_state: 'requested_changes', note: 'All in all', internal: false }
    expect((await review(at, wish)).status).toBe(204)
    await eventually(async () => (await statusOf(at, 1)) === 'requested_changes')
    expect(await stateOf(at)).toEqual(['requested_changes'])
    const notes = expectStatus(await at.developer.get(`${at.one(1)}/notes?sort=asc`), 200) as Json[]
    expect(notes.map(({ body }) => body as string)).toEqual(['One thing', 'All in all', 'requested changes'])
    expect((await at.merge(1)).status).toBe(405)
    expectStatus(await at.maintainer.post(`${at.one(1)}/approve`), 201)
    expect(await statusOf(at, 1)).toBe('mergeable')
    expect(await stateOf(at)).toEqual(['approved'])
  })

  test('are wanted by a command, too, which leaves drafts alone', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' })
    expectStatus(await at.maintainer.post(`${at.one(1)}/draft_notes`, { note: 'Later' }), 201)
    const say = (who: Person) => who.post(`${at.one(1)}/notes`, { body: '/request_changes' })
    expect(answer(await say(at.maintainer))).toEqual([
      202,
      { commands_changes: {}, summary: ['Requested changes to this merge request.'] },
    ])
    await eventually(async () => (await statusOf(at, 1)) === 'requested_changes')
    expect(await stateOf(at)).toEqual(['requested_changes'])
    expect(expectStatus(await at.maintainer.get(`${at.one(1)}/draft_notes`), 200)).toHaveLength(1)
  })

  test('are for whoever may change the request, or was asked to review it', async () => {
    const at = await projects.make({ visibility: 'public' })
    const [stranger, reporter] = [await world.user(), await world.member(at, 'reporter')]
    await at.request({ 'a.txt': 'a\n' }, { reviewer_ids: [reporter.id] })
    const wants = (who: Person) =>
      who.post(`${at.one(1)}/draft_notes/bulk_publish`, { reviewer_state: 'requested_changes' })
    expect((await stranger.post(`${at.one(1)}/notes`, { body: '/request_changes' })).status).toBe(400)
    expect((await wants(stranger)).status).toBe(204)
    expect((await wants(reporter)).status).toBe(204)
    await eventually(async () => (await statusOf(at, 1)) === 'requested_changes')
    await world.settled()
    const reviewers = expectStatus(await at.developer.get(`${at.one(1)}/reviewers`), 200) as Json[]
    expect(reviewers.map(({ user }) => (user as Json)['id'] as number)).toEqual([reporter.id])
  })

  test('are forgotten with a newer review', async () => {
    const at = await projects.make()
    await at.request({ 'a.txt': 'a\n' }, { reviewer_ids: [at.maintainer.id] })
    expectStatus(await at.maintainer.post(`${at.one(1)}/draft_notes`, { note: 'Hm' }), 201)
    expect(await stateOf(at)).toEqual(['review_started'])
    expect((await review(at, { reviewer_state: 'requested_changes' })).status).toBe(204)
    await eventually(async () => (await statusOf(at, 1)) === 'requested_changes')
    expectStatus(await at.merge(1, { auto_merge: true }), 200)
    expect((await review(at, { note: 'Fine' })).status).toBe(204)
    await eventually(async () => ((await at.developer.get(at.one(1))).body as Json)['state'] === 'merged')
    expect(await stateOf(at)).toEqual(['reviewed'])
    expect((await review(at, { reviewer_state: 'angry' })).status).toBe(400)
  })
})
