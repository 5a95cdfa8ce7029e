import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let place: MergeProject
let author: Person
let reviewer: Person
beforeAll(async () => {
  world = await startWorld()
  place = await new MergeProjects(world).make()
  author = place.developer
  reviewer = place.maintainer
})
afterAll(() => world[Symbol.asyncDispose]())

const requestOf = async (files: Record<string, string> = { 'a.txt': 'one\ntwo\n' }) => {
  const request = await place.request(files)
  return { request, at: place.one(request['iid'] as number) }
}
const draft = async (at: string, fields: Json, by = reviewer): Promise<Json> =>
  expectStatus(await by.post(`${at}/draft_notes`, fields), 201)
const drafts = async (at: string, by = reviewer): Promise<Json[]> => rowsOf(await by.get(`${at}/draft_notes`))
const threads = async (at: string): Promise<Json[]> =>
  rowsOf(await author.get(`${at}/discussions`)).filter((one) => !(one['notes'] as Json[])[0]!['system'])
const lineOf = (request: Json, new_line: number): Json => ({
  ...(request['diff_refs'] as Json),
  position_type: 'text',
  old_path: 'a.txt',
  new_path: 'a.txt',
  new_line,
})

test('a draft is its author’s alone until he publishes it', async () => {
  const { request, at } = await requestOf()
  const made = await draft(at, { note: 'first thought' })
  expect(made).toEqual({
    id: made['id'],
    author_id: reviewer.id,
    merge_request_id: request['id'],
    resolve_discussion: false,
    discussion_id: null,
    note: 'first thought',
    commit_id: null,
    line_code: null,
    position: {
      base_sha: null,
      start_sha: null,
      head_sha: null,
      old_path: null,
      new_path: null,
      position_type: 'text',
      old_line: null,
      new_line: null,
      line_range: null,
    },
  })
  const single = `${at}/draft_notes/${made['id'] as number}`
  expect(await drafts(at, author)).toEqual([])
  for (const [method, path] of [
    ['GET', single],
    ['PUT', single],
    ['DELETE', single],
    ['PUT', `${single}/publish`],
  ] as const) {
    const body = method === 'PUT' && path === single ? { note: 'x' } : undefined
    expect(bodyOf(await author.request(method, path, body))).toEqual({ message: '404 Not found' })
  }
  expect(await threads(at)).toEqual([])
  expect(expectStatus(await reviewer.put(single, { note: 'second thought' }), 200)['note']).toBe(
    'second thought',
  )
  expect((await reviewer.put(`${single}/publish`)).status).toBe(204)
  expect(await threads(at)).toMatchObject([{ notes: [{ body: 'second thought', type: 'DiscussionNote' }] }])
  expect(await drafts(at)).toEqual([])
  expect((await reviewer.put(`${single}/publish`)).status).toBe(404)
})

test('all are published together: threads at lines, answers that resolve or open again', async () => {
  const { request, at } = await requestOf()
  const open = expectStatus(await author.post(`${at}/discussions`, { body: 'is this right?' }), 201)
  const closed = expectStatus(await author.post(`${at}/discussions`, { body: 'done' }), 201)
  expectStatus(await author.put(`${at}/discussions/${closed['id'] as string}`, { resolved: true }), 200)

  const detail = expectStatus(await author.get(at), 200)
  const onLine = await draft(at, { note: 'here', position: lineOf(detail, 2) })
  expect(onLine).toMatchObject({
    position: { new_line: 2 },
    line_code: expect.stringMatching(/_0_2$/) as string,
  })
  await draft(at, { note: 'yes', in_reply_to_discussion_id: open['id'], resolve_discussion: true })
  await draft(at, { note: 'no', in_reply_to_discussion_id: closed['id'] })
  expect((await reviewer.post(`${at}/draft_notes/bulk_publish`)).status).toBe(204)

  const found = await threads(at)
  expect(found.map((one) => (one['notes'] as Json[]).map(({ body }) => body as string))).toEqual([
    ['is this right?', 'yes'],
    ['done', 'no'],
    ['here'],
  ])
  const resolved = found.map((one) => (one['notes'] as Json[]).every((note) => note['resolved'] === true))
  expect(resolved).toEqual([true, false, false])
  expect(found[2]).toMatchObject({ notes: [{ type: 'DiffNote', position: { new_line: 2 } }] })
  expect((await reviewer.post(`${at}/draft_notes/bulk_publish`)).status).toBe(204)
  expect(await threads(at)).toHaveLength(3)
  const todos = await eventually(async () => {
    const waiting = rowsOf(await author.get('/todos?action=review_submitted'))
    return waiting.length > 0 && waiting
  })
  expect(todos.map((one) => (one['target'] as Json)['id'])).toContain(request['id'])
})

test('a draft follows what was pushed before it is published', async () => {
  const { request, at } = await requestOf({ 'a.txt': 'one\ntwo\n' })
  const detail = expectStatus(await author.get(at), 200)
  await draft(at, { note: 'two', position: lineOf(detail, 2) })
  const head = await place.commit(request['source_branch'] as string, { 'a.txt': 'zero\none\ntwo\n' })
  await eventually(async () => (await author.get(at)).body.sha === head)
  expect((await reviewer.post(`${at}/draft_notes/bulk_publish`)).status).toBe(204)
  expect(await threads(at)).toMatchObject([{ notes: [{ position: { head_sha: head, new_line: 3 } }] }])
})

test('what cannot be said is refused', async () => {
  const { at } = await requestOf()
  const detail = expectStatus(await author.get(at), 200)
  const faults: [Json, number, string][] = [
    [{}, 400, '{"error":"note is missing"}'],
    [{ note: ' ' }, 400, `{"message":"400 Bad request - Note {:note=>[\\"can't be blank\\"]}"}`],
    [{ note: 'x', in_reply_to_discussion_id: 'f'.repeat(40) }, 404, '{"message":"404 Discussion Not Found"}'],
    [{ note: 'x', in_reply_to_discussion_id: "';--" }, 404, '{"message":"404 Discussion Not Found"}'],
    [{ note: 'x', position: { ...lineOf(detail, 99) } }, 400, 'must be a valid line code'],
    [{ note: 'x', position: { position_type: 'text' } }, 400, 'is missing'],
  ]
  for (const [body, status, text] of faults) {
    const reply = await reviewer.post(`${at}/draft_notes`, body)
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(text)])
  }
  const made = await draft(at, { note: 'x' })
  expect((await reviewer.put(`${at}/draft_notes/${made['id'] as number}`, {})).status).toBe(400)
  expect((await reviewer.delete(`${at}/draft_notes/${made['id'] as number}`)).status).toBe(204)
  expect(await drafts(at)).toEqual([])
})
