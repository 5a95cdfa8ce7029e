import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, Person } from '../world/client.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const keys = [
  'id',
  'name',
  'revoked',
  'created_at',
  'description',
  'scopes',
  'user_id',
  'last_used_at',
  'active',
  'expires_at',
]

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

async function issue(person: { id: number }, more: Json = {}): Promise<Json> {
  const fields = { name: world.unique('token'), scopes: ['api'], ...more }
  return expectStatus(await world.root.post(`/users/${person.id}/personal_access_tokens`, fields), 201)
}

const holder = (token: unknown) => new Client(world.url, { 'private-token': token as string })

test('an administrator makes a token for a user, and it is shown once', async () => {
  const person = await world.user()
  const token = await issue(person, {
    description: 'why',
    scopes: ['read_api', 'read_api', 'read_repository'],
  })
  expect(Object.keys(token)).toEqual([...keys, 'token'])
  expect(token).toMatchObject({
    description: 'why',
    scopes: ['read_api', 'read_repository'],
    user_id: person.id,
    revoked: false,
    active: true,
    last_used_at: null,
    expires_at: inDays(365),
  })
  expect(token['token']).toMatch(/^glpat-[\w-]{20}$/)
  const again = await person.get(`/personal_access_tokens/${token['id'] as number}`)
  expect(Object.keys(bodyOf(again))).toEqual(keys)
})

test.each(['ai_features', 'ai_workflows', 'mcp'])(
  'a token for assistants has the scope %s',
  async (scope) => {
    const person = await world.user()
    const token = await issue(person, { scopes: [scope] })
    expect(token['scopes']).toEqual([scope])
    expect((await holder(token['token']).get('/projects')).body).toMatchObject({
      error: 'insufficient_scope',
    })
  },
)

test('what no token may be', async () => {
  const person = await world.user()
  const path = `/users/${person.id}/personal_access_tokens`
  const tried = async (body: Json) => {
    const answer = await world.root.post(path, body)
    expect(answer.status).toBe(400)
    return answer.body as Json
  }
  expect(await tried({})).toEqual({ error: 'name is missing, scopes is missing' })
  expect(await tried({ name: ' ', scopes: ['nonsense'] })).toEqual({
    error: 'name is empty, scopes does not have a valid value',
  })
  expect(await tried({ name: 'a', scopes: [] })).toEqual({ message: "Scopes can't be blank" })
  expect(await tried({ name: 'a', scopes: ['sudo'] })).toEqual({
    message: { scopes: ['can only contain available scopes'] },
  })
  expect(await tried({ name: 'a'.repeat(256), scopes: ['api'], description: 'd'.repeat(256) })).toEqual({
    message: {
      name: ['is too long (maximum is 255 characters)'],
      description: ['is too long (maximum is 255 characters)'],
    },
  })
  expect(await tried({ name: 'a', scopes: ['api'], expires_at: 'soon' })).toEqual({
    error: 'expires_at is invalid',
  })
  expect(await tried({ name: 'a', scopes: ['api'], expires_at: inDays(366) })).toEqual({
    message: `Expiration date must be before ${inDays(365)}`,
  })
  expect((await issue(person, { expires_at: inDays(365) }))['expires_at']).toBe(inDays(365))
  const missing = await world.root.post('/users/999999/personal_access_tokens', {
    name: 'a',
    scopes: ['api'],
  })
  expect([missing.status, missing.body]).toEqual([404, { message: '404 User Not Found' }])
  expect((await person.post(path, { name: 'a', scopes: ['api'] })).status).toBe(403)
})

test('a token is refused from the day on that it ends, and one without an end needs a setting', async () => {
  const person = await world.user()
  for (const expires_at of [inDays(0), '2020-01-01']) {
    const token = await issue(person, { expires_at })
    expect(token['active']).toBe(false)
    const answer = await holder(token['token']).get('/user')
    expect([answer.status, answer.body]).toEqual([
      401,
      {
        error: 'invalid_token',
        error_description: 'Token is expired. You can either do re-authorization or token refresh.',
      },
    ])
  }
  const { settings } = world.service.services
  await settings.change({ require_personal_access_token_expiry: false, personal_access_token_prefix: 'own-' })
  const endless = await issue(person)
  const late = await issue(person, { expires_at: inDays(5000) })
  await settings.change({
    require_personal_access_token_expiry: true,
    personal_access_token_prefix: 'glpat-',
  })
  expect(endless).toMatchObject({ expires_at: null, active: true })
  expect(endless['token']).toMatch(/^own-/)
  expect(late['expires_at']).toBe(inDays(5000))
  expect((await holder(endless['token']).get('/user')).status).toBe(200)
})

test('people make tokens of few scopes for themselves, which end today', async () => {
  const person = await world.user()
  const made = await person.post('/user/personal_access_tokens', { name: 'mine', scopes: ['self_rotate'] })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ user_id: person.id, scopes: ['self_rotate'], expires_at: inDays(1) })
  const more = await person.post('/user/personal_access_tokens', { name: 'mine', scopes: ['api'] })
  expect([more.status, more.body]).toEqual([400, { error: 'scopes does not have a valid value' }])
  const reading = holder(await world.token(person.id, ['read_api']))
  expect(
    (await reading.post('/user/personal_access_tokens', { name: 'a', scopes: ['k8s_proxy'] })).status,
  ).toBe(403)
})

test('one lists one’s own tokens; administrators list everybody’s', async () => {
  const person = await world.user()
  const other = await world.user()
  const second = await issue(person, { name: 'Second of mine', expires_at: inDays(9) })
  await world.root.post(`/users/${person.id}/impersonation_tokens`, { name: 'not shown', scopes: ['api'] })
  const list = await person.get('/personal_access_tokens')
  expect(rowsOf(list).map((token) => token['user_id'] as number)).toEqual([person.id, person.id])
  expect(Object.keys(rowsOf(list)[0]!)).toEqual(keys)
  expect(list.headers.get('x-total')).toBe('2')
  const names = async (query: string, by: Person = person) =>
    rowsOf(await by.get(`/personal_access_tokens?${query}`)).map((token) => token['id'] as number)

  expect(await names('search=SECOND of')).toEqual([second['id']])
  expect(await names(`user_id=${person.id}`)).toHaveLength(2)
  expect(await names(`user_id=${person.id}`, world.root)).toHaveLength(3)
  expect(await names('user_id=999999', world.root)).toEqual([])
  expect(await names(`expires_before=${inDays(10)}`)).toEqual([second['id']])
  expect(await names(`expires_after=${inDays(10)}&created_after=2020-01-01`)).toHaveLength(1)
  expect(await names('created_before=2020-01-01')).toEqual([])
  expect(await names('last_used_before=2020-01-01')).toEqual([])
  expect((await names('sort=expires_asc'))[0]).toBe(second['id'])
  expect(await names('sort=name_desc')).toHaveLength(2)
  await person.delete(`/personal_access_tokens/${second['id'] as number}`)
  expect(await names('revoked=true')).toEqual([second['id']])
  expect(await names('state=inactive')).toEqual([second['id']])
  expect(await names('state=active')).toHaveLength(1)
  const foreign = await person.get(`/personal_access_tokens?user_id=${other.id}`)
  expect([foreign.status, foreign.body]).toEqual([401, { message: '401 Unauthorized' }])
  const wrong = await person.get('/personal_access_tokens?state=odd&sort=odd')
  expect(wrong.body).toEqual({ error: 'state does not have a valid value, sort does not have a valid value' })
})

test('a token of somebody else does not exist: 401, and for administrators 404 when it really does not', async () => {
  const person = await world.user()
  const foreign = await issue(await world.user())
  const path = `/personal_access_tokens/${foreign['id'] as number}`
  for (const answer of [
    await person.get(path),
    await person.delete(path),
    await person.post(`${path}/rotate`),
  ]) {
    expect([answer.status, answer.body]).toEqual([401, { message: '401 Unauthorized' }])
  }
  expect((await person.get('/personal_access_tokens/999999')).status).toBe(401)
  for (const answer of [
    await world.root.get('/personal_access_tokens/999999'),
    await world.root.delete('/personal_access_tokens/999999'),
    await world.root.post('/personal_access_tokens/999999/rotate'),
  ]) {
    expect([answer.status, answer.body]).toEqual([404, { message: '404 Not Found' }])
  }
  expect(bodyOf(await world.root.get(path))['id']).toBe(foreign['id'])
  expect((await world.root.post(`${path}/rotate`)).status).toBe(200)
  expect((await world.anonymous.get(path)).status).toBe(401)
})

test('a revoked token is of no use, and cannot be revoked again', async () => {
  const person = await world.user()
  const token = await issue(person)
  const path = `/personal_access_tokens/${token['id'] as number}`
  const answer = await person.delete(path)
  expect([answer.status, answer.text]).toEqual([204, ''])
  const refused = await holder(token['token']).get('/user')
  expect([refused.status, refused.body]).toEqual([
    401,
    {
      error: 'invalid_token',
      error_description: 'Token was revoked. You have to re-authorize from the user.',
    },
  ])
  const again = await person.delete(path)
  expect([again.status, again.body]).toEqual([400, { message: '400 Bad request - Token already revoked' }])
  expect((await person.post(`${path}/rotate`)).body).toEqual({
    message: '400 Bad request - Token already revoked',
  })
})

test('a token tells about itself and ends itself, whatever its scopes', async () => {
  const person = await world.user()
  for (const scope of ['read_api', 'read_repository', 'self_rotate']) {
    const token = await issue(person, { scopes: [scope] })
    const self = holder(token['token'])
    const shown = await self.get('/personal_access_tokens/self')
    expect([shown.status, bodyOf(shown)['id'], bodyOf(shown)['scopes']]).toEqual([200, token['id'], [scope]])
    expect((await self.delete('/personal_access_tokens/self')).status).toBe(204)
    expect((await self.get('/personal_access_tokens/self')).status).toBe(401)
  }
})

test('rotation: a new token with the same facts, the old one revoked', async () => {
  const person = await world.user()
  const token = await issue(person, { description: 'kept', scopes: ['read_api', 'api'] })
  const rotated = await person.post(`/personal_access_tokens/${token['id'] as number}/rotate`)
  expect(rotated.status).toBe(200)
  expect(Object.keys(bodyOf(rotated))).toEqual([...keys, 'token'])
  expect(rotated.body).toMatchObject({
    name: token['name'] as string,
    description: 'kept',
    scopes: ['read_api', 'api'],
    expires_at: inDays(7),
    active: true,
  })
  expect(bodyOf(rotated)['token']).not.toBe(token['token'])
  expect((await holder(token['token']).get('/user')).status).toBe(401)
  const next = holder(bodyOf(rotated)['token'])
  // An old token that only tries to read ends nothing.
  expect((await next.get('/user')).status).toBe(200)
  const late = await next.post('/personal_access_tokens/self/rotate', { expires_at: inDays(400) })
  expect([late.status, late.body]).toEqual([
    400,
    { message: `Expiration date must be before ${inDays(365)}` },
  ])
  const dated = await next.post('/personal_access_tokens/self/rotate', { expires_at: inDays(30) })
  expect([dated.status, bodyOf(dated)['expires_at']]).toEqual([200, inDays(30)])
})

test('who rotates with a token that was rotated already ends the whole line', async () => {
  const person = await world.user()
  const first = await issue(person)
  const rotate = async (token: unknown) =>
    (await holder(token).post('/personal_access_tokens/self/rotate')).body as Json
  const second = await rotate(first['token'])
  const third = await rotate(second['token'])
  expect((await holder(third['token']).get('/user')).status).toBe(200)
  const reuse = await holder(first['token']).post('/personal_access_tokens/self/rotate')
  expect([reuse.status, bodyOf(reuse)['error']]).toEqual([401, 'invalid_token'])
  expect((await holder(third['token']).get('/user')).status).toBe(401)
  // Other tokens of the same user go on.
  expect((await person.get('/user')).status).toBe(200)
})

test('two rotations at once make one token', async () => {
  const person = await world.user()
  const { id } = await issue(person)
  const answers = await Promise.all(
    [1, 2, 3].map(() => person.post(`/personal_access_tokens/${id as number}/rotate`)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
})

test('the scope self_rotate is for the token itself', async () => {
  const person = await world.user()
  const other = await issue(person)
  const token = await issue(person, { scopes: ['self_rotate'] })
  const self = holder(token['token'])
  const refused = await self.post(`/personal_access_tokens/${other['id'] as number}/rotate`)
  expect([refused.status, bodyOf(refused)['error']]).toEqual([403, 'insufficient_scope'])
  expect((await self.get('/personal_access_tokens')).status).toBe(403)
  const rotated = await self.post(`/personal_access_tokens/${token['id'] as number}/rotate`)
  expect([rotated.status, bodyOf(rotated)['scopes']]).toEqual([200, ['self_rotate']])
  const reading = holder(await world.token(person.id, ['read_api']))
  expect(bodyOf(await reading.post('/personal_access_tokens/self/rotate'))['scope']).toBe('api self_rotate')
})

test('administrators make, show and revoke impersonation tokens', async () => {
  const person = await world.user()
  const path = `/users/${person.id}/impersonation_tokens`
  const made = expectStatus(await world.root.post(path, { name: 'as somebody', scopes: ['api'] }), 201)
  expect(Object.keys(made)).toEqual([...keys, 'impersonation', 'token'])
  expect(made).toMatchObject({ impersonation: true, user_id: person.id, active: true })
  expect(bodyOf(await holder(made['token']).get('/user'))['id']).toBe(person.id)
  expect(rowsOf(await world.root.get(path)).map((token) => token['id'] as number)).toEqual([made['id']])
  const one = await world.root.get(`${path}/${made['id'] as number}`)
  expect(Object.keys(bodyOf(one))).toEqual([...keys, 'impersonation'])
  expect((await world.root.delete(`${path}/${made['id'] as number}`)).status).toBe(204)
  expect((await world.root.get(`${path}?state=active`)).body).toEqual([])
  expect((await world.root.get(`${path}?state=inactive`)).body).toHaveLength(1)
  expect((await world.root.delete(`${path}/${made['id'] as number}`)).status).toBe(400)
  expect((await world.root.get(`${path}/999999`)).body).toEqual({
    message: '404 Impersonation Token Not Found',
  })
  expect((await world.root.delete(`${path}/999999`)).body).toEqual({
    message: '404 Impersonation Token Not Found',
  })
  expect(
    (await world.root.delete(`/users/999999/impersonation_tokens/${made['id'] as number}`)).body,
  ).toEqual({
    message: '404 User Not Found',
  })
  expect((await world.root.get('/users/999999/impersonation_tokens')).body).toEqual({
    message: '404 User Not Found',
  })
  expect((await person.get(path)).status).toBe(403)
})

test('a token tells of what its user is a member', async () => {
  const person = await world.user()
  const group = await world.group()
  const below = await world.group({ parent_id: group.id })
  const inGroup = await world.project({ namespace_id: below.id })
  const alone = await world.project()
  await world.project({ visibility: 'public' })
  await world.root.post(`/groups/${group.id}/members`, { user_id: person.id, access_level: 20 })
  await world.root.post(`/projects/${alone.id}/members`, { user_id: person.id, access_level: 40 })
  const told = async (query = '') =>
    bodyOf(await person.get(`/personal_access_tokens/self/associations${query}`))
  const all = await told()
  expect(all['groups']).toEqual(
    [group, below].map((one) => ({
      id: one.id,
      web_url: one['web_url'],
      name: one['name'],
      parent_id: one['parent_id'],
      organization_id: 1,
      access_levels: 20,
      visibility: 'private',
    })),
  )
  expect(all['projects']).toMatchObject([
    {
      id: inGroup.id,
      path_with_namespace: inGroup['path_with_namespace'],
      access_levels: { project_access_level: null, group_access_level: 20 },
      namespace: inGroup['namespace'],
    },
    { id: alone.id, access_levels: { project_access_level: 40, group_access_level: null } },
  ])
  expect(await told('?min_access_level=30')).toMatchObject({ groups: [], projects: [{ id: alone.id }] })
  expect(await told('?page=2&per_page=1')).toMatchObject({
    groups: [{ id: below.id }],
    projects: [{ id: alone.id }],
  })
})
