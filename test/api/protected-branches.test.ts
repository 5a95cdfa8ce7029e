import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Copies } from '../git/copies.ts'
import type { Client, Person } from '../world/client.ts'
import { answerOf } from '../world/bodies.ts'
import { startWorld, type Json, type RoleName, type World } from '../world/world.ts'

let world: World
let copies: Copies
let project: Json
let base: string
const people = {} as Record<RoleName, Person>
let stranger: Person

beforeAll(async () => {
  world = await startWorld({ PLAN: 'ultimate' })
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project['id'] as number}/protected_branches`
  for (const role of ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const) {
    people[role] = await world.member({ project }, role)
  }
  stranger = await world.user()
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

let name: string
beforeEach(() => {
  name = world.unique('branch')
})

const at = (branch: string) => `${base}/${encodeURIComponent(branch)}`
const protect = (fields: Json = {}, by: Client = people.maintainer) => by.post(base, { name, ...fields })
const levels = (body: Json, kind: string) =>
  (body[`${kind}_access_levels`] as Json[]).map((entry) => entry['access_level'] as number | null)

describe('create', () => {
  test('Maintainers by default', async () => {
    const { status, body } = await answerOf(protect())
    expect(status).toBe(201)
    const maintainers = {
      id: expect.any(Number) as number,
      access_level: 40,
      access_level_description: 'Maintainers',
      user_id: null,
      group_id: null,
    }
    expect(body).toEqual({
      id: expect.any(Number) as number,
      name,
      push_access_levels: [maintainers],
      merge_access_levels: [maintainers],
      unprotect_access_levels: [maintainers],
      allow_force_push: false,
      code_owner_approval_required: false,
    })
    expect(Object.keys(body)).toEqual([
      ...[
        'id',
        'name',
        'push_access_levels',
        'merge_access_levels',
        'unprotect_access_levels',
        'allow_force_push',
      ],
      'code_owner_approval_required',
    ])
    expect((await people.planner.get(at(name))).body).toEqual(body)
  })

  test('levels and entries are put together; a kind nothing is said of has its default', async () => {
    const { body } = await answerOf(
      protect({
        push_access_level: 0,
        allowed_to_push: [{ user_id: people.developer.id }, { access_level: 60 }],
        allowed_to_merge: [{ access_level: 30 }],
        allow_force_push: true,
        code_owner_approval_required: true,
      }),
    )
    expect(body).toMatchObject({
      push_access_levels: [
        { access_level: 0, access_level_description: 'No one' },
        {
          access_level: null,
          access_level_description: `Name of ${people.developer.username}`,
          user_id: people.developer.id,
        },
        { access_level: 60, access_level_description: 'Instance admins' },
      ],
      merge_access_levels: [{ access_level: 30, access_level_description: 'Developers + Maintainers' }],
      unprotect_access_levels: [{ access_level: 40 }],
      allow_force_push: true,
      code_owner_approval_required: true,
    })
  })

  test('form encoding, brackets and JSON text in it', async () => {
    const form = new URLSearchParams([
      ['name', `${name}/*`],
      ['allowed_to_push[][user_id]', String(people.developer.id)],
      ['allowed_to_push[][access_level]', '40'],
      ['allowed_to_merge[]', '{"access_level":30}'],
    ])
    const { status, body } = await answerOf(people.maintainer.post(base, form))
    expect(status).toBe(201)
    expect(body['push_access_levels']).toHaveLength(1)
    expect(levels(body, 'merge')).toEqual([30])
    expect((await people.maintainer.get(at(`${name}/*`))).status).toBe(200)
  })

  test.each<[Json, string]>([
    [{ name: undefined }, 'name is missing'],
    [{ push_access_level: 20 }, 'push_access_level does not have a valid value'],
    [{ push_access_level: 'x' }, 'push_access_level is invalid'],
    [{ merge_access_level: 50 }, 'merge_access_level does not have a valid value'],
    [{ unprotect_access_level: 0 }, 'unprotect_access_level does not have a valid value'],
    [
      { allowed_to_push: [{ access_level: 20 }] },
      'allowed_to_push[0][access_level] does not have a valid value',
    ],
    [{ allowed_to_push: 'x' }, 'allowed_to_push is invalid'],
    [
      { allowed_to_unprotect: [{ access_level: 0 }] },
      'allowed_to_unprotect[0][access_level] does not have a valid value',
    ],
  ])('%j: 400 %s', async (fields, error) => {
    expect(await people.maintainer.post(base, { name, ...fields })).toMatchObject({
      status: 400,
      body: { error },
    })
  })

  test.each<[Json, string]>([
    [
      { allowed_to_push: [{ access_level: 30 }, { access_level: 30 }] },
      'Push access levels access level has already been taken',
    ],
    [
      { merge_access_level: 40, allowed_to_merge: [{ access_level: 40 }] },
      'Merge access levels access level has already been taken',
    ],
    [{ allowed_to_push: [{ group_id: 999_999_999 }] }, "Push access levels group can't be blank"],
    [{ allowed_to_merge: [{ user_id: 999_999_999 }] }, "Merge access levels user can't be blank"],
    [
      { allowed_to_push: [{ deploy_key_id: 1 }] },
      'Push access levels deploy key is not enabled for this project',
    ],
  ])('%j: 422 %s', async (fields, message) => {
    expect(await protect(fields)).toMatchObject({ status: 422, body: { message: [message] } })
  })

  test('users of entries are members, each once', async () => {
    expect(await protect({ allowed_to_merge: [{ user_id: stranger.id }] })).toMatchObject({
      status: 422,
      body: { message: ['Merge access levels user is not a member of the project'] },
    })
    const twice = [{ user_id: people.developer.id }, { user_id: people.developer.id }]
    expect(await protect({ allowed_to_push: twice })).toMatchObject({
      status: 422,
      body: { message: ['Push access levels user has already been taken'] },
    })
    expect((await people.maintainer.get(at(name))).status).toBe(404)
  })

  test('once only, also at the same time', async () => {
    const answers = await Promise.all([protect(), protect(), protect()])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      message: `Protected branch '${name}' already exists`,
    })
  })

  test('nobody locks himself out', async () => {
    expect((await protect({ unprotect_access_level: 60 })).status).toBe(403)
    expect((await protect({ allowed_to_unprotect: [{ user_id: people.owner.id }] })).status).toBe(403)
    expect((await protect({ unprotect_access_level: 60 }, world.root)).status).toBe(201)
  })
})

describe('list and get', () => {
  test('pages, and a search in any letter case', async () => {
    const common = world.unique('Listed')
    for (const end of ['a', 'b', 'c']) await people.maintainer.post(base, { name: `${common}-${end}` })
    const { rows, headers } = await answerOf(
      people.planner.get(`${base}?search=${common.toLowerCase()}&per_page=2`),
    )
    expect(rows.map((rule) => rule['name'] as string)).toEqual([`${common}-a`, `${common}-b`])
    expect(headers.get('x-total')).toBe('3')
    expect((await people.planner.get(`${base}?search=%25`)).body).toEqual([])
  })

  test('by the rule’s own name only', async () => {
    await people.maintainer.post(base, { name: `${name}/*` })
    expect((await people.planner.get(at(`${name}/*`))).status).toBe(200)
    expect(await people.planner.get(at(`${name}/1`))).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    })
  })
})

describe('change', () => {
  test('entries are added, changed and removed; what is not named stays', async () => {
    const made = (
      await protect({ allowed_to_push: [{ user_id: people.developer.id }, { access_level: 40 }] })
    ).body as Json
    const [forUser, forLevel] = made['push_access_levels'] as Json[]
    const { status, body } = await answerOf(
      people.maintainer.patch(at(name), {
        allow_force_push: true,
        allowed_to_push: [
          { access_level: 30 },
          { id: forUser!['id'] as number, _destroy: true },
          { id: forLevel!['id'] as number, user_id: people.reporter.id },
        ],
      }),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({ allow_force_push: true, merge_access_levels: [{ access_level: 40 }] })
    expect(
      (body['push_access_levels'] as Json[]).map((entry) => [
        entry['access_level'] as unknown,
        entry['user_id'] as unknown,
      ]),
    ).toEqual([
      [null, people.reporter.id],
      [30, null],
    ])
  })

  test('without push entries nobody may push', async () => {
    const made = (await protect()).body as Json
    const id = (made['push_access_levels'] as Json[])[0]!['id'] as number
    const { body } = await answerOf(
      people.maintainer.patch(at(name), { allowed_to_push: [{ id, _destroy: true }] }),
    )
    expect(body).toMatchObject({ push_access_levels: [] })
  })

  test.each<[Json, number, Json]>([
    [{ allow_force_push: null }, 400, { error: 'allow_force_push is empty' }],
    [{ allowed_to_push: [{ id: 999_999, _destroy: true }] }, 404, { message: '404 Not found' }],
    [
      { allowed_to_push: [{ access_level: 40 }] },
      422,
      { message: ['Push access levels access level has already been taken'] },
    ],
    [{ push_access_level: 30 }, 200, { push_access_levels: [{ access_level: 40 }] }],
    [{ name: 'another' }, 200, {}],
    [{}, 200, { allow_force_push: false }],
  ])('%j: %d', async (fields, status, body) => {
    await protect()
    const answer = await people.maintainer.patch(at(name), fields)
    expect(answer).toMatchObject({ status, body })
    if (status === 200) expect(answer.body).toMatchObject({ name })
  })

  test('an entry of another kind or rule is unknown', async () => {
    const made = (await protect()).body as Json
    const id = (made['merge_access_levels'] as Json[])[0]!['id'] as number
    expect(
      (await people.maintainer.patch(at(name), { allowed_to_push: [{ id, access_level: 30 }] })).status,
    ).toBe(404)
  })
})

describe('unprotect', () => {
  test('once', async () => {
    await protect()
    expect(await people.maintainer.delete(at(name))).toMatchObject({ status: 204, text: '' })
    expect(await people.maintainer.delete(at(name))).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    })
  })

  test('not when it changed since', async () => {
    await protect()
    const before = { 'if-unmodified-since': new Date(Date.now() - 60_000).toUTCString() }
    expect(await people.maintainer.delete(at(name), undefined, before)).toMatchObject({
      status: 412,
      body: { message: '412 Precondition Failed' },
    })
    const after = { 'if-unmodified-since': new Date(Date.now() + 60_000).toUTCString() }
    expect((await people.maintainer.delete(at(name), undefined, after)).status).toBe(204)
  })

  test('a date that is none is ignored', async () => {
    await protect()
    expect(
      (await people.maintainer.delete(at(name), undefined, { 'if-unmodified-since': 'soon' })).status,
    ).toBe(204)
  })
})

/** The rows of the permission grid: anonymous, stranger, guest to owner, administrator. */
describe('the grid', () => {
  const everybody = (): Client[] => [
    world.anonymous,
    stranger,
    ...(['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const).map(
      (role) => people[role],
    ),
    world.root,
  ]
  const statuses = (ask: (person: Client) => Promise<{ status: number }>) =>
    Promise.all(everybody().map(async (person) => (await ask(person)).status))

  test('reading', async () => {
    await protect()
    expect(await statuses((person) => person.get(base))).toEqual([
      404, 404, 403, 200, 200, 200, 200, 200, 200,
    ])
    expect(await statuses((person) => person.get(at(name)))).toEqual([
      404, 404, 403, 200, 200, 200, 200, 200, 200,
    ])
  })

  test('creating', async () => {
    const created = await statuses((person) => person.post(base, { name: world.unique('grid') }))
    expect(created).toEqual([401, 404, 403, 403, 403, 403, 201, 201, 201])
    await protect()
    expect(await statuses((person) => protect({}, person))).toEqual([
      401, 404, 403, 403, 403, 403, 409, 409, 409,
    ])
  })

  test('changing', async () => {
    await protect()
    const changed = await statuses((person) => person.patch(at(name), { allow_force_push: true }))
    expect(changed).toEqual([401, 404, 403, 403, 403, 403, 200, 200, 200])
    const unknown = await statuses((person) => person.patch(at('unknown'), {}))
    expect(unknown).toEqual([401, 404, 404, 404, 404, 404, 404, 404, 404])
  })

  test('removing', async () => {
    const removed: number[] = []
    for (const person of everybody()) {
      await protect({}, world.root)
      removed.push((await person.delete(at(name))).status)
    }
    expect(removed).toEqual([401, 404, 403, 403, 403, 403, 204, 204, 204])
  })

  test('what only administrators may unprotect', async () => {
    await protect({ unprotect_access_level: 60 }, world.root)
    const changed = await statuses((person) => person.patch(at(name), { allow_force_push: true }))
    expect(changed).toEqual([401, 404, 403, 403, 403, 403, 403, 403, 200])
    const removed: number[] = []
    for (const person of everybody()) removed.push((await person.delete(at(name))).status)
    expect(removed).toEqual([401, 404, 403, 403, 403, 403, 403, 403, 204])
  })

  test('a public project', async () => {
    const open = await world.project({ visibility: 'public' })
    const there = `/projects/${open['id']}/protected_branches`
    await world.root.post(there, { name: 'main' })
    expect((await world.anonymous.get(there)).status).toBe(200)
    expect((await stranger.get(`${there}/main`)).status).toBe(200)
    expect((await world.anonymous.post(there, { name: 'x' })).status).toBe(401)
    expect((await stranger.post(there, { name: 'x' })).status).toBe(403)
  })

  test('tokens: read-only, expired or unknown, blocked', async () => {
    const token = (scopes: string[]) => world.token(people.maintainer.id, scopes)
    const reading = { 'private-token': await token(['read_api']) }
    expect((await world.anonymous.get(base, reading)).status).toBe(200)
    expect((await world.anonymous.post(base, { name }, reading)).status).toBe(403)
    expect((await world.anonymous.get(base, { 'private-token': 'nothing' })).status).toBe(401)
    const blocked = await world.member({ project }, 'maintainer')
    await world.root.post(`/users/${blocked.id}/block`)
    expect((await blocked.get(base)).status).toBe(403)
    expect((await blocked.post(base, { name })).status).toBe(403)
  })
})

test('without the paid plan the paid parameters are ignored', async () => {
  await using free = await startWorld({ PLAN: 'free' })
  const own = await free.project()
  const there = `/projects/${own['id']}/protected_branches`
  const { status, body } = await answerOf(
    free.root.post(there, {
      name: 'main',
      allowed_to_push: [{ user_id: 1 }, { group_id: 7 }],
      code_owner_approval_required: true,
    }),
  )
  expect(status).toBe(201)
  expect(body).toMatchObject({
    push_access_levels: [{ access_level: 40 }],
    code_owner_approval_required: false,
  })
  const changed = await free.root.patch(`${there}/main`, {
    allowed_to_push: [{ access_level: 30 }],
    allow_force_push: true,
  })
  expect(changed.body).toMatchObject({ allow_force_push: true, push_access_levels: [{ access_level: 40 }] })
})
