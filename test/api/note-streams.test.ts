// @module-tag long
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgetDeletedNotes } from '../../src/areas/notes/streams/index.ts'
import { statementChannel, type SentStatement } from '../../src/kernel/log/index.ts'
import type { Person } from '../world/client.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let guest: Person
let reporter: Person
let elsewhere: string
beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'private' })
  guest = await world.member({ project }, 'guest')
  reporter = await world.member({ project }, 'reporter')
  elsewhere = (await world.sibling({})).address
})
afterAll(() => world[Symbol.asyncDispose]())

interface Event {
  readonly id: number
  readonly type: string
  readonly data: Json
}

/** Somebody who follows: what came so far, and a promise of the next `count` events. */
class Follower implements AsyncDisposable {
  readonly events: Event[] = []
  readonly #ending = new AbortController()
  #reading: Promise<void> | undefined
  #told: () => void = () => undefined

  static async open(
    at: string,
    by: Person,
    base: string,
    headers: Record<string, string> = {},
  ): Promise<Follower> {
    const follower = new Follower()
    const response = await fetch(`${base}/api/v4${at}/discussions/stream`, {
      headers: { ...by.headers, accept: 'text/event-stream', ...headers },
      signal: follower.#ending.signal,
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    follower.#reading = follower.#read(response.body!).catch(() => undefined)
    return follower
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let left = ''
    const decoder = new TextDecoder()
    for await (const chunk of body) {
      const parts = (left + decoder.decode(chunk, { stream: true })).split('\n\n')
      left = parts.pop() ?? ''
      for (const part of parts) {
        const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(part) ?? []
        if (data !== undefined)
          this.events.push({ id: Number(id), type: type!, data: JSON.parse(data) as Json })
      }
      this.#told()
    }
  }

  async until(count: number): Promise<readonly Event[]> {
    while (this.events.length < count)
      await new Promise<void>((resolve) => {
        this.#told = resolve
      })
    return this.events
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#reading
  }
}

let people: Person[] = []

/** Members of the project, the same each time. */
async function crowd(size: number): Promise<Person[]> {
  people = people.length > 0 ? people : await Promise.all(Array.from({ length: size }, () => world.user()))
  const path = `/projects/${project.id}/members`
  const user_id = people.map(({ id }) => id).join(',')
  await world.root.post(path, { user_id, access_level: 10 })
  return people
}

async function issue(): Promise<string> {
  const made = expectStatus(await guest.post(`/projects/${project.id}/issues`, { title: 'T' }), 201)
  return `/projects/${project.id}/issues/${made['iid'] as number}`
}

test('a hundred people write into one thread at once: nothing is lost, all see each of them, in one order', async () => {
  const at = await issue()
  const thread = expectStatus(await guest.post(`${at}/discussions`, { body: 'first' }), 201)
  const single = `${at}/discussions/${thread['id'] as string}/notes`
  const people = await crowd(100)
  await using followers = new AsyncDisposableStack()
  const open = await Promise.all(
    people.map(async (person, number) =>
      followers.use(await Follower.open(at, person, number % 2 === 0 ? world.url : elsewhere)),
    ),
  )
  const bodies = people.map(({ username }) => `by ${username}`)
  const replies = await Promise.all(
    people.map((person, number) => person.post(single, { body: bodies[number]! })),
  )
  expect(replies.map(({ status }) => status)).toEqual(people.map(() => 201))
  const listed = (await guest.get(single.replace(/\/notes$/, ''))).body as { notes: Json[] }
  const order = listed.notes.slice(1).map(({ body }) => body as string)
  expect([...order].sort()).toEqual([...bodies].sort())
  for (const follower of open) {
    const events = await follower.until(100)
    expect(events.map(({ type }) => type)).toEqual(bodies.map(() => 'created'))
    expect(events.map(({ data }) => (data['note'] as Json)['body'])).toEqual(order)
  }
})

test('one piece of news costs one statement, however many follow', async () => {
  const at = await issue()
  const people = await crowd(100)
  await using followers = new AsyncDisposableStack()
  const open = await Promise.all(
    people.slice(0, 50).map(async (person) => followers.use(await Follower.open(at, person, world.url))),
  )
  expectStatus(await guest.post(`${at}/notes`, { body: 'first' }), 201)
  for (const follower of open) await follower.until(1)
  const reads: string[] = []
  const listen = (message: unknown): void => {
    const { text } = message as SentStatement
    if (text.includes('audience')) reads.push(text)
  }
  subscribe(statementChannel, listen)
  try {
    expectStatus(await guest.post(`${at}/notes`, { body: 'second' }), 201)
    for (const follower of open) await follower.until(2)
  } finally {
    unsubscribe(statementChannel, listen)
  }
  expect(reads).toHaveLength(1)
})

test('changes and deletions are told, internal notes only to those who read them, also to who was away', async () => {
  const at = await issue()
  await using followed = await Follower.open(at, guest, world.url)
  await using inside = await Follower.open(at, reporter, world.url)
  const note = expectStatus(await guest.post(`${at}/notes`, { body: 'a' }), 201)
  await followed.until(1)
  expectStatus(await reporter.post(`${at}/notes`, { body: 'hidden', internal: true }), 201)
  expectStatus(await guest.put(`${at}/notes/${note['id'] as number}`, { body: 'b' }), 200)
  await followed.until(2)
  expect((await guest.delete(`${at}/notes/${note['id'] as number}`)).status).toBe(204)
  expect((await followed.until(3)).map(({ type }) => type)).toEqual(['created', 'updated', 'deleted'])
  expect(
    (await inside.until(4)).map(({ data }) => (data['note'] as Json | undefined)?.['body'] as unknown),
  ).toContain('hidden')
  const [first] = followed.events
  await using back = await Follower.open(at, guest, elsewhere, { 'last-event-id': String(first!.id) })
  expect((await back.until(1))[0]).toMatchObject({ type: 'deleted', data: { note_id: note['id'] } })
})

test('notes of everything that can be discussed are told, each to those alone who may see it', async () => {
  const group = await world.group({ visibility: 'private' })
  const { id, path_with_namespace } = await world.project({ namespace_id: group.id, visibility: 'private' })
  const member = await world.member({ group }, 'reporter')
  const stranger = await world.user()
  await pushFiles(world, { path_with_namespace }, { a: 'one\n' })
  const place = `/projects/${id}`
  const made = async (path: string, fields: Json) => expectStatus(await world.root.post(path, fields), 201)
  const commit = await made(`${place}/repository/commits`, {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Two',
    actions: [{ action: 'update', file_path: 'a', content: 'two\n' }],
  })
  const one = await made(`${place}/issues`, { title: 'T' })
  const request = await made(`${place}/merge_requests`, {
    title: 'T',
    source_branch: 'topic',
    target_branch: 'main',
  })
  const files = [{ file_path: 'x', content: 'x' }]
  const snippet = await made(`${place}/snippets`, { title: 'T', visibility: 'private', files })
  const epic = await made(`/groups/${group.id}/epics`, { title: 'T' })
  const noteables = [
    `${place}/issues/${one['iid'] as number}`,
    `${place}/merge_requests/${request['iid'] as number}`,
    `${place}/snippets/${snippet['id'] as number}`,
    `/groups/${group.id}/epics/${epic['id'] as number}`,
    `${place}/repository/commits/${commit['id'] as string}`,
  ]
  for (const at of noteables) {
    expect((await stranger.get(`${at}/discussions/stream`)).status, at).toBe(404)
    expect((await world.anonymous.get(`${at}/discussions/stream`)).status, at).toBe(401)
    await using here = await Follower.open(at, member, world.url)
    await using there = await Follower.open(at, member, elsewhere)
    const thread = (await made(`${at}/discussions`, { body: 'first' })) as { id: string; notes: Json[] }
    const note = thread.notes[0]!['id'] as number
    const address = `${at}/discussions/${thread.id}/notes/${note}`
    expectStatus(await world.root.put(address, { body: 'changed' }), 200)
    expect((await world.root.delete(address)).status).toBe(204)
    for (const follower of [here, there]) {
      // Who is slow may find a note created and changed at once: what came last is always told.
      while (follower.events.at(-1)?.type !== 'deleted') await follower.until(follower.events.length + 1)
      expect(follower.events.at(-1)!.data, at).toEqual({ discussion_id: thread.id, note_id: note })
    }
    await using back = await Follower.open(at, member, elsewhere, { 'last-event-id': '0' })
    expect((await back.until(1)).at(-1), at).toMatchObject({ type: 'deleted', data: { note_id: note } })
  }
})

test('a stream ends when its follower may not see the issue any more', async () => {
  const at = await issue()
  const leaver = await world.member({ project }, 'guest')
  const response = await fetch(`${world.url}/api/v4${at}/discussions/stream`, {
    headers: { ...leaver.headers, accept: 'text/event-stream' },
  })
  expect((await world.root.delete(`/projects/${project.id}/members/${leaver.id}`)).status).toBe(204)
  expectStatus(await guest.post(`${at}/notes`, { body: 'secret' }), 201)
  expect(await response.text()).not.toContain('secret')
})

test('who was away for long is told everything in pieces, in order', async () => {
  const at = await issue()
  const thread = expectStatus(await guest.post(`${at}/discussions`, { body: 'first' }), 201)
  const { db } = world.service.services
  await sql`
    with counted as (
      update noteables nb set version = nb.version + 450 from discussions d
      where d.key = ${thread['id']} and nb.id = d.noteable_id returning nb.id, nb.version - 450 as version, d.id as thread)
    insert into notes (discussion_id, noteable_id, author_id, body, created_version, version, created_at, updated_at)
    select c.thread, c.id, ${guest.id}::bigint, 'note ' || n, c.version + n, c.version + n, now(), now()
    from counted c, generate_series(1, 450) n`.execute(db.writer)
  await using back = await Follower.open(at, guest, world.url, { 'last-event-id': '1' })
  const bodies = Array.from({ length: 450 }, (_, index) => `note ${index + 1}`)
  const events = await back.until(450)
  expect(events.map(({ data }) => (data['note'] as Json)['body'])).toEqual(bodies)
  // Who does not wait for more gets the same, and the end.
  const all = await guest.get(`${at}/discussions/stream`, { 'last-event-id': '1' })
  expect(all.text.match(/^event: created$/gm)).toHaveLength(450)
})

test('deletions are forgotten after a month', async () => {
  const at = await issue()
  const note = expectStatus(await guest.post(`${at}/notes`, { body: 'a' }), 201)
  expect((await guest.delete(`${at}/notes/${note['id'] as number}`)).status).toBe(204)
  const { db } = world.service.services
  const left = async () =>
    (await sql`select from deleted_notes where note_id = ${note['id']}`.execute(db.reader)).rows.length
  await forgetDeletedNotes(db)
  expect(await left()).toBe(1)
  await sql`update deleted_notes set deleted_at = now() - interval '31 days' where note_id = ${note['id']}`.execute(
    db.writer,
  )
  await forgetDeletedNotes(db)
  expect(await left()).toBe(0)
})
