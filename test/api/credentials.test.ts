import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Person, type Reply } from '../world/client.ts'
import { startWorld, type Json, type World } from '../world/world.ts'

/** Who asks (completions of part 1, 1.9). */
let world: World
let publicProject: Json
let maintainer: Person
let stranger: Person
let variables: string

beforeAll(async () => {
  world = await startWorld()
  const project = await world.project({ visibility: 'private' })
  publicProject = await world.project({ visibility: 'public' })
  maintainer = await world.member({ project }, 'maintainer')
  stranger = await world.user()
  variables = `/projects/${project['id']}/variables`
})
afterAll(() => world[Symbol.asyncDispose]())

const withToken = (token: string) => new Client(world.url, { 'private-token': token })

describe('credentials (1.9)', () => {
  test.each<[string, (token: string) => Promise<Reply>]>([
    ['the header PRIVATE-TOKEN', (token) => withToken(token).get('/version')],
    ['a bearer', (token) => new Client(world.url, { authorization: `Bearer ${token}` }).get('/version')],
    ['the query', (token) => world.anonymous.get(`/version?private_token=${token}`)],
    ['the parameter access_token', (token) => world.anonymous.get(`/version?access_token=${token}`)],
  ])('are taken from %s', async (_, send) => {
    expect((await send(maintainer.token)).status).toBe(200)
    expect((await send('wrong'.repeat(6))).status).toBe(401)
  })

  test('are taken from a form', async () => {
    const body = new URLSearchParams({ private_token: maintainer.token, key: 'BY_FORM', value: 'x' })
    expect((await world.anonymous.post(variables, body)).status).toBe(201)
  })

  test('that are unknown are refused where nobody needs any', async () => {
    expect((await world.anonymous.get(`/projects/${publicProject['id']}`)).status).toBe(200)
    const answer = await withToken('x'.repeat(30)).get(`/projects/${publicProject['id']}`)
    expect([answer.status, answer.text]).toEqual([401, '{"message":"401 Unauthorized"}'])
  })

  const oauth = (error: string, description: string) =>
    `Bearer realm="Protected by OAuth 2.0", error="${error}", error_description="${description}"`

  test.each([
    ['expires_at', '2020-01-01', 'Token is expired. You can either do re-authorization or token refresh.'],
    ['revoked', true, 'Token was revoked. You have to re-authorize from the user.'],
  ])('%s: the token says why', async (column, value, description) => {
    const token = await world.token(stranger.id, ['api'])
    await sql`
      update personal_access_tokens set ${sql.ref(column)} = ${value}
      where id = (select max(id) from personal_access_tokens where user_id = ${stranger.id})`.execute(
      world.service.services.db.writer,
    )
    const answer = await withToken(token).get('/version')
    expect([answer.status, answer.body]).toEqual([
      401,
      { error: 'invalid_token', error_description: description },
    ])
    expect(answer.headers.get('www-authenticate')).toBe(oauth('invalid_token', description))
  })

  test.each([
    ['read_user', '/version', 200],
    ['read_api', '/version', 200],
    ['read_repository', '/version', 403],
  ])('scope %s on %s is %i', async (scope, path, status) => {
    const answer = await withToken(await world.token(stranger.id, [scope])).get(path)
    expect(answer.status).toBe(status)
  })

  test('a scope that is too small is named', async () => {
    const token = await world.token(maintainer.id, ['read_api'])
    expect((await withToken(token).get(variables)).status).toBe(200)
    const answer = await withToken(token).post(variables, { key: 'A', value: 'b' })
    const description = 'The request requires higher privileges than provided by the access token.'
    expect([answer.status, answer.text]).toEqual([
      403,
      JSON.stringify({ error: 'insufficient_scope', error_description: description, scope: 'api' }),
    ])
    expect(answer.headers.get('www-authenticate')).toBe(oauth('insufficient_scope', description))
    const userOnly = withToken(await world.token(maintainer.id, ['read_user']))
    expect((await userOnly.get(variables)).body).toMatchObject({ scope: 'api read_api' })
  })

  test.each(['projects', 'starred_projects', 'contributed_projects', 'status', 'events', 'keys'])(
    'read_user reads /users/:id/%s',
    async (what) => {
      const token = await world.token(stranger.id, ['read_user'])
      expect(await withToken(token).get(`/users/${stranger.id}/${what}`)).toMatchObject({ status: 200 })
    },
  )

  test('a deactivated user is told so, and where to come back; that is no use of the token', async () => {
    const person = await world.user()
    expect((await world.root.post(`/users/${person.id}/deactivate`)).status).toBe(201)
    const answer = await person.get('/user')
    const where = `Please log back in from a web browser to reactivate your account at ${world.url}`
    expect([answer.status, answer.body]).toEqual([
      403,
      { message: `403 Forbidden - Your account has been deactivated by your administrator. ${where}` },
    ])
    await world.settled()
    expect((await world.root.get(`/users/${person.id}`)).body).toMatchObject({ last_activity_on: null })
  })

  test('a blocked user is told so', async () => {
    const blocked = await world.user()
    expect((await world.root.post(`/users/${blocked.id}/block`)).status).toBe(201)
    const answer = await blocked.get('/version')
    expect([answer.status, answer.body]).toEqual([
      403,
      { message: '403 Forbidden - Your account has been blocked.' },
    ])
  })
})

describe('acting as another user (1.9)', () => {
  test.each<[string, (name: string) => Promise<Reply>]>([
    ['a header', (name) => world.root.get('/user', { sudo: name })],
    ['the query', (name) => world.root.get(`/user?sudo=${name}`)],
  ])('by %s, with name or id', async (_, send) => {
    for (const name of [stranger.username, String(stranger.id)]) {
      expect((await send(name)).body).toMatchObject({ id: stranger.id, username: stranger.username })
    }
  })

  test('it has the rights of the other user', async () => {
    expect((await world.root.get(variables, { sudo: stranger.username })).status).toBe(404)
    expect((await world.root.get(variables, { sudo: maintainer.username })).status).toBe(200)
  })

  test('needs an administrator', async () => {
    const answer = await maintainer.get('/user', { sudo: stranger.username })
    expect([answer.status, answer.text]).toEqual([
      403,
      '{"message":"403 Forbidden - Must be admin to use sudo"}',
    ])
  })

  test('needs a token', async () => {
    const answer = await world.anonymous.get(`/projects/${publicProject['id']}`, { sudo: stranger.username })
    expect([answer.status, answer.text]).toEqual([
      403,
      '{"message":"403 Forbidden - Must be authenticated using an OAuth or personal access token to use sudo"}',
    ])
  })

  test('needs the scope sudo', async () => {
    const token = await world.token(world.root.id, ['api'])
    const answer = await withToken(token).get('/user', { sudo: stranger.username })
    expect([answer.status, answer.body]).toMatchObject([403, { error: 'insufficient_scope', scope: 'sudo' }])
  })

  test.each(['sudo[]=2', 'sudo[a]=2'])(
    '%s is nobody: the call is not made in one’s own name',
    async (query) => {
      const answer = await world.root.get(`/user?${query}`)
      expect([answer.status, answer.body]).toEqual([400, { error: 'sudo is invalid' }])
    },
  )

  test('needs somebody to be', async () => {
    const answer = await world.root.get('/user', { sudo: '987654' })
    expect([answer.status, answer.text]).toEqual([
      404,
      `{"message":"404 User with ID or username '987654' Not Found"}`,
    ])
  })
})
