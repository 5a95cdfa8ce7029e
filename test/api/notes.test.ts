import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Client, Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let developer: Person
let guest: Person
beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'public' })
  developer = await world.member({ project }, 'developer')
  guest = await world.member({ project }, 'guest')
  await pushFiles(world, project, { 'a.txt': 'one\n' }, ['main'])
})
afterAll(() => world[Symbol.asyncDispose]())

/** The address of a new snippet: the simplest thing that can be discussed. */
async function snippet(): Promise<string> {
  const fields = { title: 'T', visibility: 'public', file_name: 'a', content: 'x' }
  const made = expectStatus(await developer.post(`/projects/${project.id}/snippets`, fields), 201)
  return `/projects/${project.id}/snippets/${made['id'] as number}`
}

const start = async (at: string, by: Client = guest, body = 'text'): Promise<Json> =>
  expectStatus(await by.post(`${at}/discussions`, { body }), 201)
const comment = async (at: string, by: Client = guest, body = 'text'): Promise<Json> =>
  expectStatus(await by.post(`${at}/notes`, { body }), 201)
const list = async (at: string): Promise<Json[]> => rowsOf(await guest.get(`${at}/discussions`))
const notesOf = (discussion: Json): Json[] => discussion['notes'] as Json[]
const said = (discussion: Json): string[] => notesOf(discussion).map((note) => note['body'] as string)

describe('threads', () => {
  test('a thread has notes of people, in the order they were written', async () => {
    const at = await snippet()
    const thread = await start(at)
    expect(Object.keys(thread)).toEqual(['id', 'individual_note', 'notes'])
    expect(thread).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      individual_note: false,
    })
    const [first] = notesOf(thread)
    expect(Object.keys(first!)).toEqual([
      'id',
      'type',
      'body',
      'attachment',
      'author',
      'created_at',
      'updated_at',
      'system',
      'noteable_id',
      'noteable_type',
      'project_id',
      'noteable_iid',
      'resolvable',
      'confidential',
      'internal',
      'imported',
      'imported_from',
      'commands_changes',
    ])
    expect(first).toMatchObject({
      type: 'DiscussionNote',
      body: 'text',
      author: { username: guest.username },
      system: false,
      noteable_id: Number(at.split('/').at(-1)),
      noteable_type: 'Snippet',
      project_id: project.id,
      noteable_iid: null,
      resolvable: false,
      internal: false,
      commands_changes: {},
    })
    const single = `${at}/discussions/${thread['id'] as string}`
    const answer = expectStatus(await developer.post(`${single}/notes`, { body: 'answer', note_id: 1 }), 201)
    expect(answer).toMatchObject({ type: 'DiscussionNote', body: 'answer' })
    expect(said(bodyOf(await guest.get(single)))).toEqual(['text', 'answer'])
    const listed = await guest.get(`${single}/notes?per_page=1&page=2`)
    expect([rowsOf(listed).map(({ id }) => id as number), listed.headers.get('x-total')]).toEqual([
      [answer['id']],
      '2',
    ])
    expect(await guest.get(`${single}/notes/${answer['id'] as number}`)).toMatchObject({ body: answer })
  })

  test('a single comment becomes a thread by an answer, and keeps its id', async () => {
    const at = await snippet()
    const made = await comment(at)
    expect(made).toMatchObject({ type: null })
    const [before] = await list(at)
    expect(before).toMatchObject({ individual_note: true })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expectStatus(await guest.post(`${at}/discussions/${before!['id'] as string}/notes`, { body: 'x' }), 201)
    const [after] = await list(at)
    expect(after).toMatchObject({ id: before!['id'], individual_note: false })
    const [first, second] = notesOf(after!)
    expect([first!['type'], second!['type']]).toEqual(['DiscussionNote', 'DiscussionNote'])
    expect(first!['updated_at']).not.toBe(made['updated_at'])
    expectStatus(await guest.get(`${at}/notes/${made['id'] as number}`), 200)
    await guest.delete(`${at}/notes/${second!['id'] as number}`)
    expect((await list(at))[0]).toMatchObject({ individual_note: false })
  })

  test('a discussion goes with its last note', async () => {
    const at = await snippet()
    const thread = await start(at)
    const single = `${at}/discussions/${thread['id'] as string}`
    const second = expectStatus(await guest.post(`${single}/notes`, { body: 'second' }), 201)
    const drop = (note: Json) => guest.delete(`${single}/notes/${note['id'] as number}`)
    expect((await drop(notesOf(thread)[0]!)).status).toBe(204)
    expect(said(bodyOf(await guest.get(single)))).toEqual(['second'])
    expect((await drop(second)).status).toBe(204)
    expect(await guest.get(single)).toMatchObject({
      status: 404,
      body: { message: '404 Discussion Not Found' },
    })
    const empty = await guest.get(`${at}/discussions`)
    expect([rowsOf(empty), empty.headers.get('x-total')]).toEqual([[], '0'])
  })

  test('are listed in pages, and counted', async () => {
    const at = await snippet()
    for (const body of ['a', 'b', 'c', 'd', 'e']) await start(at, guest, body)
    const page = await guest.get(`${at}/discussions?per_page=2&page=2`)
    expect(rowsOf(page).flatMap(said)).toEqual(['c', 'd'])
    expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['5', '3'])
  })
})

describe('notes', () => {
  test('are listed by what is asked for', async () => {
    const at = await snippet()
    const first = await comment(at, guest, 'first')
    await start(at, guest, 'second')
    await comment(at, guest, 'third')
    await guest.put(`${at}/notes/${first['id'] as number}`, { body: 'first, edited' })
    const bodies = async (query: string): Promise<unknown[]> =>
      rowsOf(await guest.get(`${at}/notes${query}`)).map((note) => note['body'] as string)
    expect(await bodies('')).toEqual(['third', 'second', 'first, edited'])
    expect(await bodies('?sort=asc')).toEqual(['first, edited', 'second', 'third'])
    expect(await bodies('?order_by=updated_at')).toEqual(['first, edited', 'third', 'second'])
    expect(await bodies('?activity_filter=only_activity')).toEqual([])
    expect(await bodies('?activity_filter=only_comments&per_page=1&page=3')).toEqual(['first, edited'])
  })

  test('say when they were written where the owner says so', async () => {
    const at = await snippet()
    const created_at = '2020-01-02T03:04:05.000Z'
    const early = expectStatus(await world.root.post(`${at}/notes`, { body: 'x', created_at }), 201)
    expect(early).toMatchObject({ created_at, updated_at: created_at })
    const refused = expectStatus(await developer.post(`${at}/notes`, { body: 'x', created_at }), 201)
    expect(refused['created_at']).not.toBe(created_at)
    const ahead = '2999-01-01T00:00:00.000Z'
    expect(
      expectStatus(await world.root.post(`${at}/notes`, { body: 'x', created_at: ahead }), 201),
    ).toMatchObject({ created_at: ahead, updated_at: ahead })
    for (const bad of ['never', '1969-01-01T00:00:00Z']) {
      expect(await world.root.post(`${at}/notes`, { body: 'x', created_at: bad })).toMatchObject({
        status: 400,
        body: { error: 'created_at is invalid' },
      })
    }
  })

  test('are not written faster than the limit allows, but by those who are let off', async () => {
    const at = await snippet()
    const [quick, free] = [await world.user(), await world.user()]
    const thread = await start(at)
    const statuses = async (by: Person): Promise<number[]> => {
      const answers = [
        await by.post(`${at}/notes`, { body: 'x' }),
        await by.post(`${at}/discussions`, { body: 'x' }),
        await by.post(`${at}/discussions/${thread['id'] as string}/notes`, { body: 'x' }),
      ]
      return answers.map(({ status }) => status)
    }
    const values = { notes_create_limit: 2, notes_create_limit_allowlist_raw: `x; ${free.username}` }
    await during(world, values, async () => {
      expect(await statuses(quick)).toEqual([201, 201, 429])
      expect(await statuses(free)).toEqual([201, 201, 201])
      await set(world, { notes_create_limit_allowlist_raw: '' })
      expect((await statuses(free)).at(-1)).toBe(429)
    })
    expect(await statuses(quick)).toEqual([201, 201, 201])
  })
})

test('a commit is discussed under every name it has', async () => {
  const at = `/projects/${project.id}/repository/commits`
  const thread = await start(`${at}/main`)
  const { id } = bodyOf(await guest.get(`${at}/main`)) as { id: string }
  expect(notesOf(thread)[0]).toMatchObject({ noteable_type: 'Commit', noteable_id: null, noteable_iid: null })
  for (const name of [id, id.slice(0, 8), 'main'])
    expect((await list(`${at}/${name}`)).map((one) => one['id'] as string)).toEqual([thread['id']])
  expect(await guest.get(`${at}/none/discussions`)).toMatchObject({
    status: 404,
    body: { message: '404 Commit Not Found' },
  })
})

describe('what does not fit', () => {
  test.for<[string, unknown, unknown]>([
    ['no body', {}, { error: 'body is missing' }],
    ['a blank body', { body: ' \n' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    [
      'a long body',
      { body: 'x'.repeat(1_000_001) },
      { message: '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}' },
    ],
    ['a NUL', { body: 'a\0b' }, { error: 'body is invalid' }],
  ])('%s is refused', async ([, fields, body]) => {
    const at = await snippet()
    const thread = await start(at)
    for (const place of ['discussions', `discussions/${thread['id'] as string}/notes`, 'notes'])
      expect(await guest.post(`${at}/${place}`, fields)).toMatchObject({ status: 400, body })
  })

  test('the longest body, deep quotes and marks of direction are taken', async () => {
    const at = await snippet()
    const emoji = '😀'.repeat(1_000_000)
    for (const body of [
      'x'.repeat(1_000_000),
      emoji,
      '>'.repeat(10_000) + ' deep',
      'a\u202eb',
      '@a '.repeat(10_000),
    ])
      expect(expectStatus(await guest.post(`${at}/notes`, { body }), 201)['body'] === body).toBe(true)
  })

  test('what is unknown, or of another thing, is not found', async () => {
    const [at, other] = [await snippet(), await snippet()]
    const [thread, foreign] = [await start(at), await start(other)]
    const second = await start(at)
    const place = (discussion: Json, note: Json): string =>
      `${at}/discussions/${discussion['id'] as string}/notes/${note['id'] as number}`
    const missing = { status: 404, body: { message: '404 Discussion Not Found' } }
    expect(await guest.get(`${at}/discussions/${foreign['id'] as string}`)).toMatchObject(missing)
    expect(await guest.get(`${at}/discussions/${randomBytes(20).toString('hex')}`)).toMatchObject(missing)
    expect(await guest.get(`${at}/discussions/1`)).toMatchObject(missing)
    expect(await guest.get(`${at}/discussions/${foreign['id'] as string}/notes`)).toMatchObject({
      status: 404,
      body: { message: '404 Notes Not Found' },
    })
    const noNote = { status: 404, body: { message: '404 Not found' } }
    expect(await guest.get(place(thread, notesOf(second)[0]!))).toMatchObject(noNote)
    expect(await guest.put(place(thread, notesOf(second)[0]!), { body: 'x' })).toMatchObject(noNote)
    expect(await guest.get(`${at}/notes/${notesOf(foreign)[0]!['id'] as number}`)).toMatchObject(noNote)
    expect(await guest.get(`/projects/${project.id}/snippets/0/discussions`)).toMatchObject({
      status: 404,
      body: { message: '404 Snippet Not Found' },
    })
  })

  test('a note is not changed to nothing', async () => {
    const at = await snippet()
    const thread = await start(at)
    const note = `${at}/discussions/${thread['id'] as string}/notes/${notesOf(thread)[0]!['id'] as number}`
    for (const nothing of [{ body: null }, { body: '' }, { resolved: null }])
      expect(await guest.put(note, nothing)).toMatchObject({
        status: 400,
        body: { message: `400 Bad request - Note {:note=>["can't be blank"]}` },
      })
  })

  test('nothing but a thread of a merge request is resolved', async () => {
    const at = await snippet()
    const thread = await start(at)
    const note = `${at}/discussions/${thread['id'] as string}/notes/${notesOf(thread)[0]!['id'] as number}`
    expect(await guest.put(note, { resolved: true })).toMatchObject({
      status: 400,
      body: { message: '400 Bad request - Note is not resolvable' },
    })
    const single = `${at}/discussions/${thread['id'] as string}`
    for (const person of [guest, developer, world.root])
      expect(await person.put(single, { resolved: true })).toMatchObject({
        status: 403,
        body: { message: '403 Forbidden' },
      })
    expect((await guest.put(single, {})).body).toEqual({ error: 'resolved is missing' })
    expect(await guest.put(note, { resolved: true, body: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'body, resolved are mutually exclusive' },
    })
    expect(await guest.put(note, {})).toMatchObject({
      status: 400,
      body: { error: 'body, resolved are missing, exactly one parameter must be provided' },
    })
    expect(await developer.post(`${at}/notes`, { body: 'x', internal: true })).toMatchObject({
      status: 400,
      body: { message: '400 Bad request - Note {:confidential=>["can not be set for this resource"]}' },
    })
  })
})

test('a hundred write into one thread at once: nothing is lost, and all see the same order', async () => {
  const at = await snippet()
  const thread = await start(at, guest, 'first')
  const single = `${at}/discussions/${thread['id'] as string}`
  const bodies = Array.from({ length: 100 }, (_, number) => `note ${number}`)
  const answers = await Promise.all(bodies.map((body) => developer.post(`${single}/notes`, { body })))
  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 201))
  const seen = bodyOf(await guest.get(single))
  expect([...said(seen)].sort()).toEqual(['first', ...bodies].sort())
  const times = notesOf(seen).map((note) => note['created_at'] as string)
  expect(times).toEqual([...times].sort())
  const flat = rowsOf(await guest.get(`${at}/notes?sort=asc&per_page=100`)).map(({ body }) => body as string)
  expect(flat).toEqual(said(seen).slice(0, 100))
})

test('a note of the service is seen by those who see what it names', async () => {
  const open = await world.project({ visibility: 'public' })
  const secret = await world.project()
  const inside = await world.member({ project: secret }, 'guest')
  const trusted = await world.member({ project: secret }, 'planner')
  const make = async (of: Made, fields: Json) =>
    expectStatus(await world.root.post(`/projects/${of.id}/issues`, fields), 201)
  const { iid } = await make(open, { title: 'open' })
  const at = `/projects/${open.id}/issues/${iid as number}`
  for (const fields of [{ title: 'private' }, { title: 'confidential', confidential: true }]) {
    const target = await make(secret, fields)
    const link = { target_project_id: secret.id, target_issue_iid: target['iid'] }
    expectStatus(await world.root.post(`${at}/links`, link), 201)
  }
  const seen = async (by: Client): Promise<[number, string | null]> => {
    const reply = await by.get(`${at}/discussions`)
    return [rowsOf(reply).length, reply.headers.get('x-total')]
  }
  const stranger = await world.user()
  expect(await seen(stranger)).toEqual([0, '0'])
  expect(await seen(inside)).toEqual([1, '1'])
  expect(await seen(trusted)).toEqual([2, '2'])
  expect(await seen(world.root)).toEqual([2, '2'])
  // An assignee reads what is confidential; with issues switched off nobody hears of them.
  expectStatus(await world.root.put(`/projects/${secret.id}/issues/2`, { assignee_ids: [inside.id] }), 200)
  expect(await seen(inside)).toEqual([2, '2'])
  expectStatus(await world.root.put(`/projects/${secret.id}`, { issues_access_level: 'disabled' }), 200)
  expect(await seen(trusted)).toEqual([0, '0'])
})
