// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Reply } from '../world/client.ts'
import { oneJob, Triggers } from '../world/triggers.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'

let world: World
let triggers: Triggers
beforeAll(async () => {
  world = await startWorld()
  triggers = await Triggers.open(world)
})
afterAll(async () => {
  await triggers[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const answer = ({ status, body }: Reply): unknown[] => [status, body]
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe('making one', () => {
  test('answers it with its token in full', async () => {
    const { path, maintainer } = await triggers.place()
    const reply = await maintainer.post(path, { description: 'nightly from scheduler' })
    const made = expectStatus(reply, 201)
    expect(Object.keys(made)).toEqual([
      'id',
      'description',
      'created_at',
      'updated_at',
      'last_used',
      'token',
      'expires_at',
      'owner',
    ])
    expect(made).toMatchObject({
      description: 'nightly from scheduler',
      last_used: null,
      token: expect.stringMatching(/^glptt-[\w-]{20}$/) as string,
      expires_at: null,
      owner: {
        id: maintainer.id,
        username: maintainer.username,
        name: `Name of ${maintainer.username}`,
        state: 'active',
        avatar_url: expect.any(String) as string,
        web_url: `${world.url}/${maintainer.username}`,
      },
    })
    expect(made['created_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect((await maintainer.get(`${path}/${made.id}`)).text).toBe(reply.text)
  })

  test('keeps the token sealed', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { token } = await triggers.make(maintainer, path)
    const { rows } = await sql<{ row: string }>`
      select t::text as row from ci_triggers t where t.project_id = ${ci.id}`.execute(
      world.service.services.db.reader,
    )
    const secret = token.slice('glptt-'.length)
    expect(rows).toHaveLength(1)
    expect(rows[0]!.row).not.toContain(secret)
    expect(rows[0]!.row).not.toContain(Buffer.from(token).toString('base64').slice(0, -4))
  })

  test.each([
    ['2031-02-30', 400, { error: 'expires_at is invalid' }],
    ['soon', 400, { error: 'expires_at is invalid' }],
    [day(367), 400, { message: `400 Bad request - {"expires_at":["must be before ${day(365)}"]}` }],
  ])('to end at %s is refused', async (expires_at, status, body) => {
    const { path, maintainer } = await triggers.place()
    expect(answer(await maintainer.post(path, { description: 'x', expires_at }))).toEqual([status, body])
    expect((await maintainer.get(path)).body).toEqual([])
  })

  test('takes an end within a year', async () => {
    const { path, maintainer } = await triggers.place()
    expect((await triggers.make(maintainer, path, { expires_at: day(365) }))['expires_at']).toBe(
      `${day(365)}T00:00:00.000Z`,
    )
    const end = `${day(7)}T10:30:00.000Z`
    expect(
      (await triggers.make(maintainer, path, { expires_at: `${day(7)}T12:30:00+02:00` }))['expires_at'],
    ).toBe(end)
    expect((await triggers.make(maintainer, path, { expires_at: null }))['expires_at']).toBeNull()
  })

  test('needs a description', async () => {
    const { path, maintainer } = await triggers.place()
    expect(answer(await maintainer.post(path, {}))).toEqual([400, { error: 'description is missing' }])
  })

  test('is refused once there are 25000', async () => {
    const { ci, path, maintainer } = await triggers.place()
    await sql`
      insert into ci_triggers (project_id, description, secret, token_digest, token_hint)
      select ${ci.id}, '', '', ${ci.id} || '-' || n, '' from generate_series(1, 24999) n`.execute(
      world.service.services.db.writer,
    )
    await triggers.make(maintainer, path)
    expect(answer(await maintainer.post(path, { description: 'x' }))).toEqual([
      400,
      { message: '400 Bad request - {"base":["Maximum number of pipeline triggers (25000) exceeded"]}' },
    ])
  })
})

describe('who may', () => {
  test('look after them: Maintainers; parameters are told before', async () => {
    const { ci, path } = await triggers.place(oneJob, { visibility: 'public' })
    const id = (await triggers.make(world.root, path)).id
    const developer = await world.member({ project: ci.project }, 'developer')
    const stranger = await world.user()
    const calls = [
      ['GET', ''],
      ['GET', `/${id}`],
      ['GET', '/0'],
      ['POST', ''],
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`],
    ] as const
    for (const [method, rest] of calls) {
      const body = method === 'POST' ? { description: 'x' } : undefined
      for (const person of [developer, stranger]) {
        expect(answer(await person.request(method, path + rest, body)), `${method} ${rest}`).toEqual([
          403,
          { message: '403 Forbidden' },
        ])
      }
      expect(answer(await world.anonymous.request(method, path + rest, body))).toEqual([
        401,
        { message: '401 Unauthorized' },
      ])
    }
    expect(answer(await world.anonymous.post(path, {}))).toEqual([400, { error: 'description is missing' }])
    expect(answer(await world.anonymous.get(`${path}/x`))).toEqual([400, { error: 'trigger_id is invalid' }])
    expect(answer(await developer.put(`${path}/0`))).toEqual([404, { message: '404 Not found' }])
  })

  test('see one where the project is not visible: nobody', async () => {
    const { path } = await triggers.place()
    const stranger = await world.user()
    expect(answer(await stranger.get(path))).toEqual([404, { message: '404 Project Not Found' }])
  })

  test('write in an archived project: nobody', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const id = (await triggers.make(maintainer, path)).id
    expectStatus(await world.root.post(`/projects/${ci.id}/archive`), 201)
    expect((await maintainer.get(`${path}/${id}`)).status).toBe(200)
    expect((await maintainer.post(path, { description: 'x' })).status).toBe(403)
    expect((await maintainer.put(`${path}/${id}`, { description: 'x' })).status).toBe(403)
    expect((await maintainer.delete(`${path}/${id}`)).status).toBe(403)
  })
})

describe('reading', () => {
  test('shows a token in full to its owner only, to all others four characters', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const made = await triggers.make(maintainer, path)
    const short = made.token.slice(6, 10)
    const owner = await world.member({ project: ci.project }, 'owner')
    for (const person of [owner, world.root]) {
      expect(bodyOf(await person.get(`${path}/${made.id}`))).toEqual({ ...made, token: short })
      expect(rowsOf(await person.get(path))).toEqual([{ ...made, token: short }])
    }
    expect(rowsOf(await maintainer.get(path))).toEqual([made])
  })

  test('lists them in the order of creation, in pages', async () => {
    const { path, maintainer } = await triggers.place()
    const ids: number[] = []
    for (let index = 0; index < 5; index += 1) ids.push((await triggers.make(maintainer, path)).id)
    const page = await maintainer.get(`${path}?per_page=2&page=2`)
    expect(rowsOf(page).map(({ id }) => id as number)).toEqual(ids.slice(2, 4))
    expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['5', '3'])
  })

  test('knows only those of the project', async () => {
    const [first, second] = [await triggers.place(), await triggers.place()]
    const id = (await triggers.make(first.maintainer, first.path)).id
    for (const missing of [id, 0, 999_999_999]) {
      expect(answer(await second.maintainer.get(`${second.path}/${missing}`))).toEqual([
        404,
        { message: '404 Not found' },
      ])
      expect((await second.maintainer.put(`${second.path}/${missing}`, {})).status).toBe(404)
      expect((await second.maintainer.delete(`${second.path}/${missing}`)).status).toBe(404)
    }
  })

  test('tells when the newest pipeline was started', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const made = await triggers.make(maintainer, path)
    const { token } = made
    expectStatus(await triggers.fire(ci, { token, ref: 'main' }), 201)
    const newest = expectStatus(await triggers.fire(ci, { token, ref: 'main' }), 201)
    const now = bodyOf(await maintainer.get(`${path}/${made.id}`))
    expect(now).toEqual({ ...made, last_used: newest['created_at'] as string })
  })
})

describe('changing', () => {
  test('the description is all that changes', async () => {
    const { path, maintainer } = await triggers.place()
    const made = await triggers.make(maintainer, path)
    const one = `${path}/${made.id}`
    const changed = await maintainer.put(one, { description: 'weekly', token: 'mine', expires_at: day(3) })
    expect(answer(changed)).toEqual([
      200,
      { ...made, description: 'weekly', updated_at: bodyOf(changed)['updated_at'] as string },
    ])
    expect(answer(await maintainer.put(one))).toEqual([200, changed.body])
    expect((await maintainer.get(one)).body).toEqual(changed.body)
  })

  test('is for its owner and administrators', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const one = `${path}/${(await triggers.make(maintainer, path)).id}`
    const owner = await world.member({ project: ci.project }, 'owner')
    expect(answer(await owner.put(one, { description: 'mine' }))).toEqual([
      403,
      {
        message: '403 Forbidden - The current user is not authorized to update the pipeline trigger token',
      },
    ])
    expect(bodyOf(await world.root.put(one, { description: 'fine' }))['description']).toBe('fine')
  })
})

describe('deleting', () => {
  test('answers nothing, and ends what the token may', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { id, token } = await triggers.make(maintainer, path)
    const pipeline = expectStatus(await triggers.fire(ci, { token, ref: 'main' }), 201)
    const reply = await maintainer.delete(`${path}/${id}`)
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect((await maintainer.get(`${path}/${id}`)).status).toBe(404)
    expect(answer(await triggers.fire(ci, { token, ref: 'main' }))).toEqual([
      404,
      { message: '404 Not Found' },
    ])
    expect((await maintainer.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}`)).status).toBe(
      200,
    )
  })

  test('is for every Maintainer', async () => {
    const { ci, path, maintainer } = await triggers.place()
    const { id } = await triggers.make(maintainer, path)
    const other = await world.member({ project: ci.project }, 'maintainer')
    expect((await other.delete(`${path}/${id}`)).status).toBe(204)
  })

  test('is refused where it was changed since', async () => {
    const { path, maintainer } = await triggers.place()
    const one = `${path}/${(await triggers.make(maintainer, path)).id}`
    const since = (date: string) => ({ 'if-unmodified-since': date })
    expect(answer(await maintainer.delete(one, undefined, since('Thu, 01 Jan 2015 00:00:00 GMT')))).toEqual([
      412,
      { message: '412 Precondition Failed' },
    ])
    expect((await maintainer.get(one)).status).toBe(200)
    expect((await maintainer.delete(one, undefined, since(new Date().toUTCString()))).status).toBe(204)
  })
})
