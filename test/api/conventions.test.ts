import { rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Person, type Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/** Conventions of the API (completions of part 1, section 1), seen from outside. */
let world: World
let project: Json
let publicProject: Json
let maintainer: Person
let developer: Person
let stranger: Person
let variables: string

beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'private' })
  publicProject = await world.project({ visibility: 'public' })
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  stranger = await world.user()
  variables = `/projects/${project['id']}/variables`
})
afterAll(() => world[Symbol.asyncDispose]())

const withToken = (token: string) => new Client(world.url, { 'private-token': token })

/** Header values of an answer, null where there is none. */
function headersOf({ headers }: Reply, ...names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]))
}

describe('the wire (1.0)', () => {
  test.each([
    ['an answer', 'GET', '/version', 200],
    ['a parameter error', 'GET', '/projects/1/variables?page=x', 401],
    ['a missing record', 'GET', '/projects/999999', 404],
    ['an unknown path', 'GET', '/nothing/here', 404],
    ['a verb that is not served', 'PATCH', '/version', 405],
  ])('%s is application/json without any parameter', async (_, method, path, status) => {
    const answer = await (status === 401 ? world.anonymous : maintainer).request(method, path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
    expect(answer.text).toBe(JSON.stringify(answer.body))
  })

  test('204 has neither body nor type', async () => {
    await maintainer.post(variables, { key: 'GONE', value: 'x' })
    const answer = await maintainer.delete(`${variables}/GONE`)
    expect(answer.status).toBe(204)
    expect(answer.text).toBe('')
    expect(answer.headers.get('content-type')).toBeNull()
  })

  test('HEAD is the GET without its body', async () => {
    await maintainer.post(variables, { key: 'HEADED', value: 'x' })
    const [get, head] = await Promise.all([maintainer.get(variables), maintainer.request('HEAD', variables)])
    const names = ['content-type', 'content-length', 'etag', 'link', 'x-total', 'x-page', 'x-next-page']
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(headersOf(head, ...names)).toEqual(headersOf(get, ...names))
  })

  test.each([
    ['application/xml', 'xml'],
    ['image/png;q=0.9, text/html', 'png'],
  ])('who takes nothing but %s gets nothing else', async (accept, format) => {
    const { status, body } = await world.anonymous.get('/projects', { accept })
    expect([status, body]).toEqual([406, { error: `The requested format '${format}' is not supported.` }])
  })

  test.each(['/projects.xml', '/projects/1/variables.xml?page=2', '/users/1.xml', '/projects.xml/'])(
    '%s asks for a format that is not served',
    async (path) => {
      const { status, body } = await world.root.get(path)
      expect([status, body]).toEqual([406, { error: "The requested format 'xml' is not supported." }])
    },
  )

  test('a path may say that JSON is wanted', async () => {
    const list = await world.root.get('/projects.json?per_page=1')
    expect(list.status).toBe(200)
    expect(list.headers.get('link')).toContain('/projects.json?')
    expect(await world.root.get('/users/1.json')).toMatchObject({ status: 200, body: { id: 1 } })
    expect((await world.root.post('/projects.json', { name: world.unique('a') })).status).toBe(201)
    expect((await world.root.post('/version.json')).headers.get('allow')).toBe('OPTIONS, GET, HEAD')
    expect((await world.root.get('/no-such-list.json')).body).toEqual({ error: '404 Not Found' })
  })

  test('what looks like a format at the end of a name is part of it', async () => {
    const { id } = await world.project({ initialize_with_readme: true })
    const branches = `/projects/${id}/repository/branches`
    expectStatus(await world.root.post(branches, { branch: 'v.json', ref: 'main' }), 201)
    expect(await world.root.get(`${branches}/v.json`)).toMatchObject({
      status: 200,
      body: { name: 'v.json' },
    })
    expect((await world.root.get(`${branches}/main.json`)).body).toEqual({ message: '404 Branch Not Found' })
  })

  test.each([
    'application/json',
    'text/html, */*;q=0.1',
    'application/*',
    'application/vnd.x+json',
    '*',
    '',
    'x',
  ])('%j leaves room for JSON', async (accept) =>
    expect(await world.anonymous.get('/projects', { accept })).toMatchObject({ status: 200 }),
  )

  test.each(['%zz', '%FF', 'a%2F%C3%28'])(
    '%s is no text, and refused as the parameter that it is',
    async (text) => {
      const origin = { origin: 'https://elsewhere.example' }
      const { status, body, headers } = await maintainer.get(`/projects/${text}`, origin)
      expect([status, body]).toEqual([400, { error: 'id is invalid' }])
      expect(headers.get('x-request-id')).toMatch(/./)
      expect(headers.get('access-control-allow-origin')).toBe('*')
      const branch = await maintainer.get(`/projects/${project['id']}/protected_branches/${text}`)
      expect([branch.status, branch.body]).toEqual([400, { error: 'name is invalid' }])
      expect(await maintainer.get(`/unknown/${text}`)).toMatchObject({
        status: 404,
        body: { error: '404 Not Found' },
      })
    },
  )

  test('times are UTC with three decimals', async () => {
    const answer = await maintainer.get(`/projects/${project['id']}`)
    expect((answer.body as Json)['created_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s of an unknown path is 404 whatever the credentials',
    async (method) => {
      for (const client of [world.anonymous, maintainer, withToken('nobody-has-this-token')]) {
        const answer = await client.request(method, '/unknown/path?page=x')
        expect([answer.status, answer.text]).toEqual([404, '{"error":"404 Not Found"}'])
      }
    },
  )

  test('a known path says which verbs it serves', async () => {
    const answer = await world.anonymous.request('PATCH', variables)
    expect([answer.status, answer.text]).toEqual([405, '{"error":"405 Not Allowed"}'])
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST'])
  })

  test('a slash at the end changes nothing, as python-gitlab writes it in `/features/`', async () => {
    for (const path of ['/features', '/version', variables]) {
      const answer = await world.root.get(`${path}/?per_page=1`)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual((await world.root.get(`${path}?per_page=1`)).body)
    }
  })

  test('OPTIONS is 204 with the verbs', async () => {
    const answer = await world.anonymous.request('OPTIONS', `${variables}/KEY`)
    expect(answer.status).toBe(204)
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([
      'DELETE',
      'GET',
      'HEAD',
      'OPTIONS',
      'PUT',
    ])
  })
})

describe('how parameters travel (1.3)', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const create = (body: unknown, headers: Record<string, string> = {}, query = '') =>
    maintainer.post(`${variables}${query}`, body, headers)

  test.each<[string, (key: string) => Promise<Reply>]>([
    ['JSON', (key) => create({ key, value: 'a b', protected: true })],
    ['a form', (key) => create(`key=${key}&value=a+b&protected=true`, form)],
    [
      'a multipart form',
      (key) => {
        const data = new FormData()
        for (const [name, value] of [
          ['key', key],
          ['value', 'a b'],
          ['protected', 'true'],
        ] as const)
          data.append(name, value)
        return create(data)
      },
    ],
    ['the query', (key) => create(undefined, {}, `?key=${key}&value=a%20b&protected=true`)],
    ['query and body together', (key) => create({ value: 'a b', protected: '1' }, {}, `?key=${key}`)],
  ])('as %s', async (_, send) => {
    const key = world.unique('KEY').replaceAll('-', '_')
    const answer = await send(key)
    expect([answer.status, answer.body]).toMatchObject([201, { key, value: 'a b', protected: true }])
  })

  test('the query wins over the body, the path over both', async () => {
    const answer = await create({ key: 'FROM_BODY', value: 'body' }, {}, '?key=FROM_QUERY')
    expect(answer.body).toMatchObject({ key: 'FROM_QUERY', value: 'body' })
    const changed = await maintainer.put(`${variables}/FROM_QUERY?key=OTHER`, {
      key: 'ANOTHER',
      value: 'new',
    })
    expect(changed.body).toMatchObject({ key: 'FROM_QUERY', value: 'new' })
  })

  test('brackets name the parts', async () => {
    for (const scope of ['one', 'two'])
      await create({ key: 'SCOPED', value: scope, environment_scope: scope })
    const inQuery = await maintainer.get(`${variables}/SCOPED?filter[environment_scope]=two`)
    expect(inQuery.body).toMatchObject({ value: 'two' })
    const encoded = await maintainer.get(`${variables}/SCOPED?filter%5Benvironment_scope%5D=one`)
    expect(encoded.body).toMatchObject({ value: 'one' })
    const inForm = await maintainer.put(
      `${variables}/SCOPED`,
      'value=changed&filter[environment_scope]=two',
      form,
    )
    expect(inForm.body).toMatchObject({ value: 'changed', environment_scope: 'two' })
    const inJson = await maintainer.put(`${variables}/SCOPED`, {
      value: 'json',
      filter: { environment_scope: 'one' },
    })
    expect(inJson.body).toMatchObject({ value: 'json', environment_scope: 'one' })
  })

  test('brackets make lists, and lists of hashes', async () => {
    const answer = await maintainer.post(
      `/projects/${project['id']}/protected_branches`,
      `name=listed&allowed_to_push[][access_level]=30&allowed_to_push[][access_level]=40`,
      form,
    )
    expect(answer.status).toBe(201)
    const levels = (answer.body as Json)['push_access_levels'] as Json[]
    expect(levels.map((level) => level['access_level'] as number)).toEqual([30, 40])
    const token = await world.root.post(
      `/users/${stranger.id}/personal_access_tokens`,
      'name=listed&scopes[]=read_api&scopes[]=read_user',
      form,
    )
    expect(token.body).toMatchObject({ scopes: ['read_api', 'read_user'] })
  })

  test.each([
    ['text/plain', 'some text'],
    ['application/xml', '<key>A</key>'],
    ['no-type', 'key=A'],
  ])('a body of %s is 415', async (type, body) => {
    const answer = await create(body, { 'content-type': type })
    expect([answer.status, answer.body]).toEqual([
      415,
      { error: `The provided content-type '${type}' is not supported.` },
    ])
  })

  test.each(['12345678901234567890', '1e400', '0.12345678901234567891', '-9007199254740993', '1.50'])(
    'the number %s is text as it was sent, where text is wanted and a double would change it',
    async (number) => {
      const key = world.unique('NUMBER').replaceAll('-', '_')
      const answer = await create(`{"key":"${key}","value":${number}}`, {
        'content-type': 'application/json',
      })
      expect(answer.body).toMatchObject({ value: number === '1.50' ? '1.5' : number })
    },
  )

  test('neither body nor type is fine', async () => {
    const answer = await create(undefined)
    expect([answer.status, answer.body]).toEqual([400, { error: 'key is missing, value is missing' }])
  })

  test('what is not declared is ignored', async () => {
    const answer = await create({ key: 'KNOWN', value: 'x', unknown: { deep: [1] }, id: 999 })
    expect(answer.status).toBe(201)
  })

  test.each([
    ['true', true],
    ['1', true],
    ['yes', true],
    ['ON', true],
    [1, true],
    ['f', false],
    ['Off', false],
    [0, false],
  ])('the flag %j is %j', async (sent, expected) => {
    const key = world.unique('FLAG').replaceAll('-', '_')
    expect((await create({ key, value: 'x', protected: sent })).body).toMatchObject({ protected: expected })
  })

  test.each<[string, unknown, string]>([
    ['a flag', { protected: 'perhaps' }, 'protected is invalid'],
    ['text from a list', { value: ['x'] }, 'value is invalid'],
    ['text from a hash', { value: { a: 1 } }, 'value is invalid'],
    ['a value of a list', { variable_type: 'other' }, 'variable_type does not have a valid value'],
    ['a hash from text', { filter: 'x', protected: [] }, 'protected is invalid'],
    ['a NUL byte', { value: 'a\0b' }, 'value is invalid'],
  ])('%s that is none is refused', async (_, fields, error) => {
    const answer = await create({ key: 'BAD', value: 'x', ...(fields as Json) })
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  test.each([
    ['bytes that are no UTF-8', 'key=BAD&value=%FF', 'value is invalid'],
    ['a NUL byte', 'key=BAD&value=a%00b', 'value is invalid'],
    ['a name used in two shapes', 'key=BAD&value=x&value[a]=y', 'value is invalid'],
  ])('%s in a form is refused', async (_, body, error) => {
    const answer = await create(body, form)
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  const json = { 'content-type': 'application/json' }
  test.each([
    ['no JSON', '{"key": ', 'Invalid JSON format'],
    ['no object', '["key"]', 'Invalid JSON format'],
    ['a text alone', '"key"', 'Invalid JSON format'],
    ['deep nesting', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 'Parameters nested too deeply'],
    ['a long list', `{"a":[${'1,'.repeat(50_000)}1]}`, 'Array parameter too large'],
    [
      'many keys',
      JSON.stringify(Object.fromEntries(Array.from({ length: 50_001 }, (_, n) => [n, 1]))),
      'Hash parameter too large',
    ],
    ['too much of all', `{"a":[${`[${'1,'.repeat(30_000)}1],`.repeat(4)}1]}`, 'Too many total parameters'],
  ])('a JSON body with %s is refused', async (_, body, error) => {
    const answer = await create(body, json)
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  test('a JSON body of null is none', async () => {
    const answer = await create('null', json)
    expect([answer.status, answer.body]).toEqual([400, { error: 'key is missing, value is missing' }])
  })
})

describe('errors (1.4 to 1.6)', () => {
  test('faults come together, in the order of declaration', async () => {
    const answer = await maintainer.post(variables, { value: [], masked: 'x', variable_type: 'y' })
    expect(answer.body).toEqual({
      error: 'key is missing, value is invalid, masked is invalid, variable_type does not have a valid value',
    })
  })

  test('a variable tells nothing of parameters before the role is known', async () => {
    const statuses = []
    for (const client of [world.anonymous, stranger, developer, maintainer]) {
      statuses.push((await client.post(variables, {})).status)
    }
    expect(statuses).toEqual([401, 404, 403, 400])
  })

  test.each<[string, () => Promise<Reply>, number, string]>([
    ['no credentials', () => world.anonymous.get('/version'), 401, '{"message":"401 Unauthorized"}'],
    [
      'unknown credentials',
      () => withToken('x'.repeat(30)).get('/version'),
      401,
      '{"message":"401 Unauthorized"}',
    ],
    ['not allowed', () => developer.get(variables), 403, '{"message":"403 Forbidden"}'],
    ['not visible', () => stranger.get(variables), 404, '{"message":"404 Project Not Found"}'],
    ['a group not visible', () => stranger.get('/groups/999999'), 404, '{"message":"404 Group Not Found"}'],
    ['a named thing', () => maintainer.get(`${variables}/NONE`), 404, '{"message":"404 Variable Not Found"}'],
    [
      'a record',
      () => maintainer.get(`/projects/${project['id']}/protected_branches/none`),
      404,
      '{"message":"404 Not found"}',
    ],
    [
      'a broken rule',
      () => maintainer.post(variables, { key: 'a b', value: 'x' }),
      400,
      `{"message":{"key":["can contain only letters, digits and '_'."]}}`,
    ],
  ])('%s, byte for byte', async (_, send, status, text) => {
    const answer = await send()
    expect([answer.status, answer.text]).toEqual([status, text])
  })
})

describe('names of projects (1.8)', () => {
  const encoded = (one: Json) => encodeURIComponent(one['path_with_namespace'] as string)

  test('id, encoded path, and the path in another letter case are the same project', async () => {
    for (const name of [String(project['id']), encoded(project), encoded(project).toUpperCase()]) {
      const answer = await maintainer.get(`/projects/${name.replaceAll('%2f', '%2F')}`)
      expect([answer.status, (answer.body as Json)['id']]).toEqual([200, project['id']])
    }
  })

  test('a name without a slash finds nothing', async () => {
    expect((await maintainer.get(`/projects/${project['path'] as string}`)).text).toBe(
      '{"message":"404 Project Not Found"}',
    )
  })

  test('names in paths are encoded the same way', async () => {
    const branches = `/projects/${project['id']}/protected_branches`
    await maintainer.post(branches, { name: 'release/*' })
    expect((await maintainer.get(`${branches}/release%2F%2A`)).body).toMatchObject({ name: 'release/*' })
  })

  test('a private project does not exist for others; a public one says what is not allowed', async () => {
    const of = (one: Json) => `/projects/${one['id'] as number}`
    expect((await world.anonymous.get(of(project))).text).toBe('{"message":"404 Project Not Found"}')
    expect((await stranger.get(of(project))).text).toBe('{"message":"404 Project Not Found"}')
    expect((await world.anonymous.get(of(publicProject))).status).toBe(200)
    expect((await stranger.get(`${of(publicProject)}/variables`)).text).toBe('{"message":"403 Forbidden"}')
    expect((await world.anonymous.get(`${of(publicProject)}/variables`)).status).toBe(401)
  })

  test('an earlier path leads on', async () => {
    const moved = await world.project({ visibility: 'public' })
    const before = encoded(moved)
    const renamed = await world.root.put(`/projects/${moved['id']}`, { path: world.unique('renamed') })
    expect(renamed.status).toBe(200)

    const answer = await world.anonymous.get(`/projects/${before}?a=1`)
    const location = `${world.url}/api/v4/projects/${moved['id']}?a=1`
    expect(answer.status).toBe(301)
    expect(answer.headers.get('location')).toBe(location)
    expect(answer.headers.get('content-type')).toBe('text/plain')
    expect(answer.text).toBe(`This resource has been moved permanently to ${location}`)

    const write = await world.root.post(`/projects/${before}/variables`, { key: 'A', value: 'b' })
    expect([write.status, write.text]).toEqual([
      405,
      '{"message":"Non GET methods are not allowed for moved projects"}',
    ])
  })
})

describe('the version (1.12)', () => {
  test('is the same at both places', async () => {
    const [version, metadata] = [await maintainer.get('/version'), await maintainer.get('/metadata')]
    expect(version.body).toMatchObject({ version: '17.11.0-ee', enterprise: true, kas: { enabled: false } })
    expect(Object.keys(version.body as Json)).toEqual(['version', 'revision', 'kas', 'enterprise'])
    expect(metadata.text).toBe(version.text)
  })

  test('of before is gone', async () => {
    for (const path of ['/api/v3', '/api/v3/projects', '/api/v3/projects?x=1']) {
      const answer = await world.anonymous.get(`${world.url}${path}`)
      expect([answer.status, answer.text]).toEqual([
        410,
        '{"error":"API V3 is no longer supported. Use API V4 instead."}',
      ])
      expect(answer.headers.get('content-type')).toBe('application/json')
    }
  })

  test('health needs no credentials', async () => {
    const at = (path: string) => world.anonymous.get(`${world.url}/-/${path}`)
    expect(await at('health')).toMatchObject({ status: 200 })
    expect((await at('liveness')).body).toEqual({ status: 'ok' })
    expect((await at('readiness')).body).toEqual({ status: 'ok', master_check: [{ status: 'ok' }] })
    const ok = [{ status: 'ok' }]
    expect((await at('readiness?all=1')).body).toEqual({
      status: 'ok',
      master_check: ok,
      db_check: ok,
      cache_check: ok,
      queues_check: ok,
      shared_state_check: ok,
      sessions_check: ok,
      repository_check: [{ status: 'ok', labels: { shard: 'default' } }],
    })
    for (const what of ['', '/database', '/cache', '/migrations']) {
      expect(await world.anonymous.get(`${world.url}/health_check${what}`)).toMatchObject({
        status: 200,
        text: 'success',
      })
    }
    expect((await at('metrics')).text).toContain('guildhall_http_request_duration_seconds_bucket')
  })
})

test('health tells what is missing: a folder of repositories, a migration', async () => {
  const at = (path: string) => world.anonymous.get(`${world.url}${path}`)
  const folder = path.join(world.directory, 'repositories')
  await rename(folder, `${folder}-elsewhere`)
  const without = await at('/-/readiness?all=1')
  await writeFile(folder, '')
  const file = await at('/-/readiness?all=1')
  await rm(folder)
  await rename(`${folder}-elsewhere`, folder)
  expect(without.status).toBe(503)
  expect(without.body).toMatchObject({
    status: 'failed',
    repository_check: [{ status: 'failed', message: 'the place of repositories does not exist' }],
  })
  expect(file.status).toBe(503)
  expect(file.body).toMatchObject({
    repository_check: [{ message: 'the place of repositories is not a folder' }],
  })

  const { writer } = world.service.services.db
  await sql`update kysely_migration set name = 'away' where name = '0002-projects'`.execute(writer)
  const behind = await at('/health_check/migrations')
  await sql`update kysely_migration set name = '0002-projects' where name = 'away'`.execute(writer)
  expect([behind.status, behind.text]).toEqual([500, 'not migrated: 0002-projects'])
})

describe('headers of every answer (1.14)', () => {
  test.each([
    ['/version', 200],
    ['/nothing', 404],
    ['/projects/999999', 404],
  ])('%s', async (path, status) => {
    const answer = await maintainer.get(path, { 'x-request-id': 'abc-123' })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-runtime')).toMatch(/^\d+\.\d{6}$/)
    const names = [
      'x-request-id',
      'vary',
      'x-content-type-options',
      'x-frame-options',
      'cache-control',
      'x-gitlab-meta',
    ]
    expect(headersOf(answer, ...names)).toEqual({
      'x-request-id': 'abc-123',
      vary: 'Origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'cache-control': 'max-age=0, private, must-revalidate',
      'x-gitlab-meta': '{"correlation_id":"abc-123","version":"1"}',
    })
  })

  test.each(['a b', 'x"y', 'a'.repeat(200)])('an id of unsafe form, %j, is replaced', async (id) => {
    const answer = await maintainer.get('/version', { 'x-request-id': id })
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('what the caller has is not sent again', async () => {
    const first = await maintainer.get('/version')
    const etag = first.headers.get('etag')!
    expect(etag).toMatch(/^W\/".+"$/)
    for (const tags of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await maintainer.get('/version', { 'if-none-match': tags })
      expect([again.status, again.text]).toEqual([304, ''])
      expect(again.headers.get('content-type')).toBeNull()
      expect(again.headers.get('etag')).toBe(etag)
    }
    expect((await maintainer.get('/version', { 'if-none-match': 'W/"other"' })).status).toBe(200)
  })

  const cors = [
    'access-control-allow-origin',
    'access-control-allow-credentials',
    'access-control-expose-headers',
  ]

  test('any origin may read, our own with credentials', async () => {
    const exposed =
      'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Request-Id, ETag, Poll-Interval, ' +
      'X-Gitlab-Blob-Id, X-Gitlab-Commit-Id, X-Gitlab-Content-Sha256, X-Gitlab-Encoding, X-Gitlab-File-Name, ' +
      'X-Gitlab-File-Path, X-Gitlab-Last-Commit-Id, X-Gitlab-Ref, X-Gitlab-Size'
    const elsewhere = await maintainer.get('/version', { origin: 'https://elsewhere.example' })
    expect(headersOf(elsewhere, ...cors)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': null,
      'access-control-expose-headers': exposed,
    })
    const own = await maintainer.get('/version', { origin: world.url })
    expect(headersOf(own, ...cors)).toEqual({
      'access-control-allow-origin': world.url,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': exposed,
    })
    expect(headersOf(await maintainer.get('/version'), ...cors)).toEqual(
      Object.fromEntries(cors.map((name) => [name, null])),
    )
  })

  test('a preflight is 200 and allows what is asked for', async () => {
    const answer = await world.anonymous.request('OPTIONS', variables, undefined, {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'private-token,content-type',
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST')
    expect(answer.headers.get('access-control-allow-headers')).toBe('private-token,content-type')
  })
})
