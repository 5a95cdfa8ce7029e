import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '../world/client.ts'
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

async function issue(): Promise<string> {
  const made = expectStatus(await guest.post(`/projects/${project.id}/issues`, { title: 'T' }), 201)
  return `/projects/${project.id}/issues/${made['iid'] as number}`
}

test('a hundred write into one thread at once, and all who follow on any node see each of them once', async () => {
  const at = await issue()
  const thread = expectStatus(await guest.post(`${at}/discussions`, { body: 'first' }), 201)
  const single = `${at}/discussions/${thread['id'] as string}/notes`
  await using here = await Follower.open(at, guest, world.url)
  await using there = await Follower.open(at, reporter, elsewhere)
  const bodies = Array.from({ length: 100 }, (_, number) => `note ${number}`)
  await Promise.all(bodies.map((body) => reporter.post(single, { body })))
  for (const follower of [here, there]) {
    const events = await follower.until(100)
    expect(events.map(({ type }) => type)).toEqual(bodies.map(() => 'created'))
    expect(events.map(({ data }) => (data['note'] as Json)['body'] as string).sort()).toEqual(
      [...bodies].sort(),
    )
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).sort((a, b) => a - b))
  }
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
