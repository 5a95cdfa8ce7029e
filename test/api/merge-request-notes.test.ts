// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/* What the service writes down on a merge request. */

let world: World
let projects: MergeProjects
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
})
afterAll(() => world[Symbol.asyncDispose]())

async function notesOf(at: MergeProject, iid = 1, alone = true): Promise<[string, unknown][]> {
  const reply = await at.developer.get(`${at.one(iid)}/notes?sort=asc&per_page=100`)
  const notes = expectStatus(reply, 200) as unknown as Json[]
  if (alone) expect(notes.every(({ system }) => system === true)).toBe(true)
  return notes.map(({ body, author }) => [body as string, (author as Json | null)?.['id']])
}

test('changes are told, one note for each', async () => {
  const at = await projects.make()
  const { developer, maintainer } = at
  await at.branch({ 'b.txt': 'b\n' }, 'other')
  await at.request({ 'a.txt': 'a\n' }, { assignee_ids: [maintainer.id], title: 'One' })
  const change = async (fields: Json) => expectStatus(await developer.put(at.one(1), fields), 200)
  await change({ title: 'Draft: One' })
  await change({ title: 'Two', description: 'x' })
  await change({ title: 'Two', description: 'x' })
  await change({ assignee_ids: [developer.id], reviewer_ids: [maintainer.id] })
  await change({ target_branch: 'other', discussion_locked: true })
  expectStatus(await developer.post(`${at.one(1)}/time_estimate`, { duration: '1h' }), 200)
  expectStatus(await developer.post(`${at.one(1)}/reset_spent_time`), 200)
  expectStatus(await maintainer.post(`${at.one(1)}/approve`), 201)
  expectStatus(await maintainer.post(`${at.one(1)}/unapprove`), 201)
  expect(await notesOf(at)).toEqual(
    [
      [`assigned to @${maintainer.username}`, developer.id],
      ['marked this merge request as **draft**', developer.id],
      ['marked this merge request as **ready**', developer.id],
      ['changed title from **{-One-}** to **{+Two+}**', developer.id],
      ['changed the description', developer.id],
      [`assigned to @${developer.username} and unassigned @${maintainer.username}`, developer.id],
      [`requested review from @${maintainer.username}`, developer.id],
      ['changed target branch from `main` to `other`', developer.id],
      ['locked the discussion in this merge request', developer.id],
      ['changed time estimate to 1h', developer.id],
      ['removed time spent', developer.id],
      ['approved this merge request', maintainer.id],
      ['unapproved this merge request', maintainer.id],
    ].map(([body, id]) => [body, id]),
  )
})

test('pushes are told with their commits, and what they call off', async () => {
  const at = await projects.make()
  const { sha } = await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a', title: 'Draft: A' })
  expectStatus(await at.merge(1, { auto_merge: true }), 200)
  const second = await at.commit('a', { 'b.txt': 'b\n' }, { commit_message: 'Add <b>\n\nMore' })
  await eventually(async () => (await notesOf(at)).length === 3)
  const url = `${world.url}/${at.fullPath}/-/merge_requests/1/diffs?start_sha=${sha as string}`
  expect(await notesOf(at)).toEqual([
    [`enabled an automatic merge when all merge checks for ${sha as string} pass`, at.maintainer.id],
    [
      `added 1 commit\n\n<ul><li>${second.slice(0, 8)} - Add &lt;b&gt;</li></ul>\n\n[Compare with previous version](${url})`,
      world.root.id,
    ],
    ['aborted the automatic merge because source branch was updated', world.root.id],
  ])
  expectStatus(await at.merge(1, { auto_merge: true }), 200)
  expectStatus(await at.maintainer.post(`${at.one(1)}/cancel_merge_when_pipeline_succeeds`), 201)
  expect((await notesOf(at)).at(-1)).toEqual(['canceled the automatic merge', at.maintainer.id])
  expect((await at.maintainer.delete(`${at.base}/repository/branches/a`)).status).toBe(204)
  await eventually(async () => (await notesOf(at)).at(-1)?.[0] === 'deleted source branch `a`')
})

test('the branch that others wait for tells them where it went', async () => {
  const at = await projects.make()
  await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a', remove_source_branch: true })
  await at.branch({ 'b.txt': 'b\n' }, 'b')
  const fields = { source_branch: 'b', target_branch: 'a', title: 'B' }
  expectStatus(await at.developer.post(at.path, fields), 201)
  expectStatus(await at.merge(1), 200)
  const body = 'deleted the `a` branch. This merge request now targets the `main` branch'
  await eventually(async () => (await notesOf(at, 2)).some(([told]) => told === body))
})

test('an issue goes on with the open threads of a merge request, and resolves them', async () => {
  const at = await projects.make({ visibility: 'public' })
  const { developer, maintainer } = at
  const request = await at.request({ 'a.txt': 'a\n' })
  const iid = request['iid'] as number
  const start = async (body: string): Promise<string> =>
    expectStatus(await maintainer.post(`${at.one(iid)}/discussions`, { body }), 201)['id'] as string
  const threads = [await start('Too slow.\nMeasure it.'), await start('Too long.'), await start('Done.')]
  expectStatus(await developer.post(`${at.one(iid)}/notes`, { body: 'A single comment' }), 201)
  const internal = expectStatus(
    await maintainer.post(`${at.one(iid)}/notes`, { body: 'Secret', internal: true }),
    201,
  )
  const hidden = (
    expectStatus(await maintainer.get(`${at.one(iid)}/discussions`), 200) as unknown as Json[]
  ).find(({ notes }) => (notes as Json[])[0]!['id'] === internal['id'])!
  expectStatus(
    await maintainer.post(`${at.one(iid)}/discussions/${hidden['id'] as string}/notes`, { body: 'y' }),
    201,
  )
  const one = (id: string) => `${at.one(iid)}/discussions/${id}`
  expectStatus(await developer.put(one(threads[2]!), { resolved: true }), 200)
  const create = async (fields: Json, by = developer): Promise<Json> =>
    expectStatus(await by.post(`${at.base}/issues`, { title: 'Later', ...fields }), 201)
  const of = { merge_request_to_resolve_discussions_of: iid }
  const last = async (id: string): Promise<unknown[]> => {
    const { notes } = expectStatus(await developer.get(one(id)), 200)
    const told = (notes as Json[]).find(({ system }) => system === true)
    return [(notes as Json[])[0]!['resolved'], told?.['body']]
  }

  // Who may resolve nothing makes an issue, and that is all.
  const stranger = await world.user()
  expect(await create(of, stranger)).toMatchObject({ description: null })
  expect(await last(threads[0]!)).toEqual([false, undefined])

  const first = await create({ ...of, discussion_to_resolve: threads[0], description: 'Mine' })
  expect(first['description']).toBe('Mine')
  expect(await last(threads[0]!)).toEqual([
    true,
    `created #${first['iid'] as number} to continue this discussion`,
  ])
  expect(await last(threads[1]!)).toEqual([false, undefined])
  expect(expectStatus(await developer.get(at.one(iid)), 200)['blocking_discussions_resolved']).toBe(false)

  const second = await create(of)
  expect(second['description']).toContain(`@${maintainer.username} wrote:\n\n  > Too long.`)
  for (const other of ['Measure it', 'Done.', 'Secret', 'single'])
    expect(second['description']).not.toContain(other)
  expect(second['description']).toContain('And 1 more.')
  for (const id of [threads[1]!, hidden['id'] as string])
    expect(await last(id)).toEqual([true, `created #${second['iid'] as number} to continue this discussion`])
  expect(await last(threads[2]!)).toEqual([true, undefined])
  expect(expectStatus(await developer.get(at.one(iid)), 200)['blocking_discussions_resolved']).toBe(true)
  // Once, among the mentions by the issues, which are told of later.
  const bodies = (await notesOf(at, iid, false)).map(([body]) => body)
  expect(bodies.filter((body) => body === 'resolved all threads')).toHaveLength(1)

  for (const [fields, status] of [
    [{ merge_request_to_resolve_discussions_of: 999 }, 404],
    [{ ...of, discussion_to_resolve: '0'.repeat(40) }, 404],
    [{ discussion_to_resolve: threads[0] }, 400],
    [{ merge_request_to_resolve_discussions_of: 'x' }, 400],
  ] as const)
    expectStatus(await developer.post(`${at.base}/issues`, { title: 'x', ...fields }), status)
})
