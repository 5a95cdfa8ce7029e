import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Person } from '../world/client.ts'
import { startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let other: Made
let maintainer: Person
let rules: string

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web' })
  project = await world.project()
  other = await world.project()
  maintainer = await world.member({ project }, 'maintainer')
  rules = `/projects/${project.id}/registry/protection/repository/rules`
})
afterAll(() => world[Symbol.asyncDispose]())

const full = (rest: string, of: Made = project): string => of.path_with_namespace + rest

function create(rest: string, fields: Json = { minimum_access_level_for_push: 'maintainer' }) {
  return maintainer.post(rules, { repository_path_pattern: full(rest), ...fields })
}

describe('container protection rules', () => {
  test('are created, listed in pages, changed and deleted', async () => {
    const made = await create('/life*', {
      minimum_access_level_for_push: 'maintainer',
      minimum_access_level_for_delete: 'owner',
    })
    const { id } = made.body as { id: number }
    const rule = {
      id,
      project_id: project.id,
      repository_path_pattern: full('/life*'),
      minimum_access_level_for_push: 'maintainer',
      minimum_access_level_for_delete: 'owner',
    }
    expect([made.status, made.body]).toEqual([201, rule])
    expect(Object.keys(made.body as Json)).toEqual(Object.keys(rule))

    const listed = await maintainer.get(`${rules}?per_page=1`)
    expect(listed.body).toEqual([rule])
    expect(listed.headers.get('x-total')).toBe('1')

    const unset = await maintainer.patch(`${rules}/${id}`, { minimum_access_level_for_push: '' })
    expect([unset.status, unset.body]).toEqual([200, { ...rule, minimum_access_level_for_push: null }])
    const moved = await maintainer.patch(`${rules}/${id}`, { repository_path_pattern: full('*') })
    expect(moved.body).toMatchObject({ repository_path_pattern: full('*') })

    const nothing = await maintainer.patch(`${rules}/${id}`, { minimum_access_level_for_delete: null })
    expect([nothing.status, nothing.body]).toEqual([
      422,
      { message: { error: ['A rule requires at least the Maintainer role for either push or delete.'] } },
    ])

    const gone = await maintainer.delete(`${rules}/${id}`)
    expect([gone.status, gone.text, gone.headers.get('content-type')]).toEqual([204, '', null])
    const again = await maintainer.delete(`${rules}/${id}`)
    expect([again.status, again.body]).toEqual([404, { message: '404 Not found' }])
  })

  test('a rule of another project is not found', async () => {
    const made = await world.root.post(`/projects/${other.id}/registry/protection/repository/rules`, {
      repository_path_pattern: full('/x', other),
      minimum_access_level_for_push: 'admin',
    })
    const { id } = made.body as { id: number }
    expect((await maintainer.patch(`${rules}/${id}`, {})).status).toBe(404)
    expect((await maintainer.delete(`${rules}/${id}`)).status).toBe(404)
  })

  const neither =
    'minimum_access_level_for_push, minimum_access_level_for_delete are missing, at least one parameter must be provided'
  test.each<[Json, string]>([
    [{ minimum_access_level_for_push: 'owner' }, 'repository_path_pattern is missing'],
    [{ repository_path_pattern: 'x' }, neither],
    [
      { repository_path_pattern: 'x', minimum_access_level_for_push: 'developer' },
      'minimum_access_level_for_push does not have a valid value',
    ],
    [
      { repository_path_pattern: 'x', minimum_access_level_for_delete: '' },
      'minimum_access_level_for_delete does not have a valid value',
    ],
  ])('%j is answered 400', async (body, error) => {
    const reply = await maintainer.post(rules, body)
    expect([reply.status, reply.body]).toEqual([400, { error }])
    // Parameters are checked before who asks.
    expect((await world.anonymous.post(rules, body)).status).toBe(400)
  })

  const shape =
    'Repository path pattern should be a valid container repository path with optional wildcard characters.'
  const start = "Repository path pattern should start with the project's full path"
  test.each<[string, string[]]>([
    ['', ["Repository path pattern can't be blank"]],
    ['PROJECT/A', [shape]],
    ['PROJECT:latest', [shape]],
    ['PROJECT/', [shape]],
    ['PROJECT-', [shape]],
    ['elsewhere/app', [start]],
    ['*/app', [shape, start]],
    [`PROJECT/${'a'.repeat(255)}`, ['Repository path pattern is too long (maximum is 255 characters)']],
  ])('the pattern %s is refused', async (text, error) => {
    const repository_path_pattern = text.replace('PROJECT', project.path_with_namespace)
    const reply = await maintainer.post(rules, {
      repository_path_pattern,
      minimum_access_level_for_push: 'maintainer',
    })
    expect([reply.status, reply.body]).toEqual([422, { message: { error } }])
  })

  test.each(['', '*', '/a*b', '/a.b_c__d---e', '/*', '*/deep/**'])(
    'the pattern …%s is taken',
    async (rest) => {
      const made = await create(rest)
      expect(made.status, made.text).toBe(201)
      const twice = await create(rest)
      expect([twice.status, twice.body]).toEqual([
        422,
        { message: { error: ['Repository path pattern has already been taken'] } },
      ])
    },
  )

  test('an id that is none is 400, and a token that is none 401', async () => {
    expect((await maintainer.delete(`${rules}/x`)).body).toEqual({ error: 'protection_rule_id is invalid' })
    const blank = await maintainer.get('/projects/%20/registry/protection/repository/rules')
    expect([blank.status, blank.body]).toEqual([400, { error: 'id is invalid' }])
    const unknown = await maintainer.get('/projects/0/registry/protection/repository/rules')
    expect([unknown.status, unknown.body]).toEqual([404, { message: '404 Project Not Found' }])
    const nobody = new Client(world.url, { 'private-token': 'glpat-none' })
    expect((await nobody.get(rules)).body).toEqual({ message: '401 Unauthorized' })
  })

  test('a rule changed since is not deleted', async () => {
    const { id } = (await create('/since')).body as { id: number }
    const since = new Date(Date.now() - 60_000).toUTCString()
    const refused = await maintainer.delete(`${rules}/${id}`, undefined, { 'if-unmodified-since': since })
    expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }])
  })

  test('there are none where the registry is off, until it is on again', async () => {
    const closed = await world.project()
    const list = `/projects/${closed.id}/registry/protection/repository/rules`
    const rule = { repository_path_pattern: full('', closed), minimum_access_level_for_push: 'owner' }
    expect((await world.root.post(list, rule)).status).toBe(201)
    const set = (container_registry_access_level: string) =>
      world.root.put(`/projects/${closed.id}`, { container_registry_access_level })
    expect((await set('disabled')).status).toBe(200)
    for (const answer of [
      await world.root.get(list),
      await world.root.post(list, { ...rule, repository_path_pattern: full('/more', closed) }),
      await world.root.get(list.replace('repository/rules', 'tag/rules')),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    expect((await set('private')).status).toBe(200)
    expect((await world.root.get(list)).body).toMatchObject([rule])
  })

  test('a rule stays in force when its project is renamed', async () => {
    const renamed = await world.project()
    const list = `/projects/${renamed.id}/registry/protection/repository/rules`
    const repository_path_pattern = full('/prod', renamed)
    await world.root.post(list, { repository_path_pattern, minimum_access_level_for_push: 'owner' })
    const path = world.unique('new-name')
    expect((await world.root.put(`/projects/${renamed.id}`, { path })).status).toBe(200)
    const [rule] = (await world.root.get(list)).body as Json[]
    expect(rule!['repository_path_pattern']).toMatch(new RegExp(`/${path}/prod$`))
  })
})

describe('the preview', () => {
  const preview = (caller: Client, of: Made, rest: string) =>
    caller.get(
      `/projects/${of.id}/registry/protection/repository/preview?repository_path=${encodeURIComponent(full(rest, of))}`,
    )

  test('names the strictest rule for each action', async () => {
    const place = await world.project()
    const somebody = await world.member({ project: place }, 'maintainer')
    const list = `/projects/${place.id}/registry/protection/repository/rules`
    const add = (rest: string, push: string | null, remove: string | null) =>
      world.root.post(list, {
        repository_path_pattern: full(rest, place),
        minimum_access_level_for_push: push,
        minimum_access_level_for_delete: remove,
      })
    await add('*', 'maintainer', 'owner')
    await add('/prod*', 'owner', null)

    const inside = (await preview(somebody, place, '/PROD/web')).body as Json
    expect(inside['push']).toMatchObject({
      minimum_access_level: 'owner',
      rule: { repository_path_pattern: full('/prod*', place) },
      allowed: false,
    })
    expect(inside['delete']).toMatchObject({
      minimum_access_level: 'owner',
      rule: { repository_path_pattern: full('*', place) },
      allowed: false,
    })
    expect(inside['rules']).toHaveLength(2)

    const outside = (await preview(somebody, place, '/test')).body as Json
    expect(outside['push']).toMatchObject({ minimum_access_level: 'maintainer', allowed: true })
    const byRoot = (await preview(world.root, place, '/prod')).body as Json
    expect(byRoot['push']).toMatchObject({ minimum_access_level: 'owner', allowed: true })
  })

  test('without a rule Developers push and Maintainers delete', async () => {
    const place = await world.project()
    const found = (await preview(world.root, place, '/x')).body as Json
    expect(found).toMatchObject({
      push: { minimum_access_level: 'developer', rule: null },
      delete: { minimum_access_level: 'maintainer', rule: null },
      rules: [],
    })
  })
})

describe('rules for tags', () => {
  const levels = { minimum_access_level_for_push: 'maintainer', minimum_access_level_for_delete: 'owner' }

  test('are created, listed, changed and deleted, five at most', async () => {
    const place = await world.project()
    const list = `/projects/${place.id}/registry/protection/tag/rules`
    const made = await world.root.post(list, { tag_name_pattern: '^v\\d+', ...levels })
    const { id } = made.body as { id: number }
    const rule = { id, project_id: place.id, tag_name_pattern: '^v\\d+', ...levels }
    expect([made.status, made.body]).toEqual([201, rule])
    const changed = await world.root.patch(`${list}/${id}`, { tag_name_pattern: 'stable' })
    expect(changed.body).toEqual({ ...rule, tag_name_pattern: 'stable' })
    for (const name of ['b', 'c', 'd', 'e']) {
      expect((await world.root.post(list, { tag_name_pattern: name, ...levels })).status).toBe(201)
    }
    const sixth = await world.root.post(list, { tag_name_pattern: 'f', ...levels })
    expect([sixth.status, sixth.body]).toEqual([
      422,
      { message: { error: ['Maximum number of protection rules have been reached.'] } },
    ])
    expect((await world.root.delete(`${list}/${id}`)).status).toBe(204)
    expect((await world.root.get(list)).body).toHaveLength(4)
  })

  test.each<[Json, string]>([
    [{ tag_name_pattern: '(', ...levels }, 'Tag name pattern not valid RE2 syntax'],
    [{ tag_name_pattern: '', ...levels }, "Tag name pattern can't be blank"],
    [
      { tag_name_pattern: 'x', minimum_access_level_for_push: 'owner' },
      'Access levels should either both be present or both be nil',
    ],
  ])('%j is refused', async (body, text) => {
    const reply = await world.root.post(`/projects/${project.id}/registry/protection/tag/rules`, body)
    expect([reply.status, reply.body]).toEqual([422, { message: { error: [text] } }])
  })
})
