import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Person, type Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const plain = {
  variable_type: 'env_var',
  key: 'HOST',
  value: 'db1',
  hidden: false,
  protected: false,
  masked: false,
  raw: false,
  environment_scope: '*',
  description: null,
}
const ambiguous = {
  message: "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
}
const missing = { message: '404 Variable Not Found' }
const invalidValue = { message: { value: ['is invalid'] } }

interface Place {
  path: string
  id: number
  maintainer: Person
}

async function place(...variables: Json[]): Promise<Place> {
  const project = await world.project()
  const maintainer = await world.member({ project }, 'maintainer')
  const path = `/projects/${project.id}/variables`
  for (const variable of variables) expectStatus(await maintainer.post(path, variable), 201)
  return { path, id: project.id, maintainer }
}

const answer = ({ status, body }: Reply): unknown[] => [status, body]

describe('who may', () => {
  const calls = [
    ['GET', ''],
    ['GET', '/HOST'],
    ['POST', ''],
    ['PUT', '/HOST'],
    ['DELETE', '/HOST'],
  ] as const

  async function everyCall(client: Client, path: string): Promise<unknown[][]> {
    const replies: unknown[][] = []
    for (const [method, rest] of calls) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : { key: 'NEW', value: 'x' }
      replies.push(answer(await client.request(method, path + rest, body)))
    }
    return replies
  }
  const all = (status: number, body: unknown): unknown[][] => calls.map(() => [status, body])

  test('nobody without credentials, even where everybody sees the project', async () => {
    const project = await world.project({ visibility: 'public' })
    const path = `/projects/${project.id}/variables`
    expect(await everyCall(world.anonymous, path)).toEqual(all(401, { message: '401 Unauthorized' }))
    const stranger = new Client(world.url, { 'private-token': 'glpat-nobody-has-this-one' })
    expect(await everyCall(stranger, path)).toEqual(all(401, { message: '401 Unauthorized' }))
  })

  test('no job', async () => {
    await using projects = await CiProjects.open(world)
    const ci = await projects.make({ test: { script: ['echo'] } })
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    const job = new Client(world.url, { 'job-token': (await runner.take()).token })
    expect(await everyCall(job, `/projects/${ci.id}/variables`)).toEqual(
      all(401, { message: '401 Unauthorized' }),
    )
  })

  test('nobody who may not see the project', async () => {
    const { path } = await place()
    const stranger = await world.user()
    expect(await everyCall(stranger, path)).toEqual(all(404, { message: '404 Project Not Found' }))
    expect(await everyCall(stranger, '/projects/nobody%2Fnothing/variables')).toEqual(
      all(404, { message: '404 Project Not Found' }),
    )
  })

  test('no Developer, and nobody who is not a member', async () => {
    const project = await world.project({ visibility: 'public' })
    const path = `/projects/${project.id}/variables`
    for (const person of [await world.member({ project }, 'developer'), await world.user()]) {
      expect(await everyCall(person, path)).toEqual(all(403, { message: '403 Forbidden' }))
    }
  })

  test('Maintainers, Owners and administrators', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}/variables`
    const people = [
      await world.member({ project }, 'maintainer'),
      await world.member({ project }, 'owner'),
      await world.user({ admin: true }),
    ]
    for (const person of people) {
      expectStatus(await person.post(path, { key: 'HOST', value: 'x' }), 201)
      const statuses = (await everyCall(person, path)).map(([status]) => status)
      expect(statuses).toEqual([200, 200, 201, 200, 204])
      expectStatus(await person.delete(`${path}/NEW`), 204)
    }
  })

  test('nobody where CI/CD is off', async () => {
    const { path, id } = await place({ key: 'HOST', value: 'x' })
    expectStatus(await world.root.put(`/projects/${id}`, { builds_access_level: 'disabled' }), 200)
    expect(await everyCall(world.root, path)).toEqual(all(403, { message: '403 Forbidden' }))
  })

  test('nobody writes in an archived project', async () => {
    const { path, id, maintainer } = await place({ key: 'HOST', value: 'x' })
    expectStatus(await world.root.post(`/projects/${id}/archive`), 201)
    const statuses = (await everyCall(maintainer, path)).map(([status]) => status)
    expect(statuses).toEqual([200, 200, 403, 403, 403])
  })

  test('a role too low is told before wrong parameters, and these before a missing variable', async () => {
    const { path, id, maintainer } = await place()
    const developer = await world.member({ project: { id } }, 'developer')
    expect(answer(await developer.post(path, {}))).toEqual([403, { message: '403 Forbidden' }])
    expect(answer(await maintainer.put(`${path}/HOST`, { masked: 'odd' }))).toEqual([
      400,
      { error: 'masked is invalid' },
    ])
    expect(answer(await maintainer.get(`${path}/HOST?filter=x`))).toEqual([
      400,
      { error: 'filter is invalid' },
    ])
  })
})

describe('a variable', () => {
  test('has these fields in this order, and what was not given has its default', async () => {
    const { path, maintainer } = await place()
    const made = await maintainer.post(path, { key: 'HOST', value: 'db1' })
    expect(answer(made)).toEqual([201, plain])
    expect(made.text).toBe(JSON.stringify(plain))
    expect((await maintainer.get(`${path}/HOST`)).text).toBe(JSON.stringify(plain))
  })

  test('is made as it was asked for', async () => {
    const { path, maintainer } = await place()
    const asked = {
      variable_type: 'file',
      key: 'DEPLOY_KEY_1',
      value: 's3cretValue:ok',
      protected: true,
      masked: true,
      raw: true,
      environment_scope: 'production/*',
      description: 'used by deploy jobs',
    }
    expect(answer(await maintainer.post(path, asked))).toEqual([201, { ...asked, hidden: false }])
  })

  test('that is hidden is masked too, and its value is never shown', async () => {
    const { path, id, maintainer } = await place()
    const value = 'nobody-reads-this'
    const made = await maintainer.post(path, { key: 'HOST', value, masked_and_hidden: true })
    const expected = { ...plain, value: null, hidden: true, masked: true }
    expect(answer(made)).toEqual([201, expected])
    expect(answer(await maintainer.get(`${path}/HOST`))).toEqual([200, expected])
    expect((await maintainer.get(path)).body).toEqual([expected])
    const changed = await maintainer.put(`${path}/HOST`, { value: 'nor-does-he-this', description: 'd' })
    expect(answer(changed)).toEqual([200, { ...expected, description: 'd' }])
    // Who reads it cannot send the value back, and it stays.
    const again = await maintainer.put(`${path}/HOST`, { description: 'e' })
    expect(answer(again)).toEqual([200, { ...expected, description: 'e' }])
    const { db, cipher } = world.service.services
    const { rows } = await sql<{ secret: string }>`
      select v.secret from ci_variables v where v.project_id = ${id}`.execute(db.reader)
    expect(cipher.open(rows[0]!.secret, 'ci_variables.secret')).toBe('nor-does-he-this')
  })

  test('is sealed in the database', async () => {
    const { path, id, maintainer } = await place({ key: 'HOST', value: 'a-value-to-look-for' })
    await maintainer.put(`${path}/HOST`, { value: 'another-one-to-look-for' })
    const { rows } = await sql<{ row: string }>`
      select v::text as row from ci_variables v where v.project_id = ${id}`.execute(
      world.service.services.db.reader,
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]!.row).toContain('HOST')
    for (const text of ['to-look-for', Buffer.from('another-one-to-look-for').toString('base64')]) {
      expect(rows[0]!.row).not.toContain(text)
    }
  })

  test('two of one value are not sealed alike, nor does one open in the place of another', async () => {
    const { id } = await place({ key: 'A', value: 'the same' }, { key: 'B', value: 'the same' })
    const { db, cipher } = world.service.services
    const { rows } = await sql<{ secret: string }>`
      select v.secret from ci_variables v where v.project_id = ${id}`.execute(db.reader)
    expect(rows[0]!.secret).not.toBe(rows[1]!.secret)
    expect(() => cipher.open(rows[0]!.secret, 'ci_pipeline_variables.secret')).toThrow()
  })
})

describe('parameters are read from', () => {
  const asked = {
    key: 'HOST',
    value: 'a b&c=é',
    environment_scope: 'prod',
    protected: 'true',
    description: '',
  }
  const expected = { ...plain, value: 'a b&c=é', environment_scope: 'prod', protected: true, description: '' }
  const form = (): FormData => {
    const data = new FormData()
    for (const [name, value] of Object.entries(asked)) data.set(name, value)
    return data
  }

  test.each([
    ['JSON', '', () => asked],
    ['a form', '', () => new URLSearchParams(asked)],
    ['a multipart form', '', form],
    ['the query', `?${new URLSearchParams(asked).toString()}`, () => undefined],
  ])('%s', async (_, query, body) => {
    const { path, maintainer } = await place()
    expect(answer(await maintainer.post(path + query, body()))).toEqual([201, expected])
  })

  test.each([
    ['JSON', '', () => ({ value: 'new', filter: { environment_scope: 'prod' } })],
    ['a form', '', () => new URLSearchParams({ value: 'new', 'filter[environment_scope]': 'prod' })],
    [
      'a multipart form',
      '',
      () => {
        const data = new FormData()
        data.set('value', 'new')
        data.set('filter[environment_scope]', 'prod')
        return data
      },
    ],
    ['the query', '?value=new&filter[environment_scope]=prod', () => undefined],
    ['the query, escaped', '?value=new&filter%5Benvironment_scope%5D=prod', () => undefined],
  ])('%s, with a filter', async (_, query, body) => {
    const { path, maintainer } = await place(asked, { ...asked, environment_scope: 'test' })
    expect(answer(await maintainer.put(`${path}/HOST${query}`, body()))).toEqual([
      200,
      { ...expected, value: 'new' },
    ])
  })

  test.each([
    [{ key: 'A', value: 5 }, { value: '5' }],
    [{ key: 'A', value: true }, { value: 'true' }],
    [{ key: 7, value: 'x' }, { key: '7' }],
    [
      { key: 'A', value: 'x', protected: 1, raw: 'on' },
      { protected: true, raw: true },
    ],
    [
      { key: 'A', value: 'x', protected: null, environment_scope: null },
      { protected: false, environment_scope: '*' },
    ],
    [{ key: 'A', value: 'x', odd: 1 }, { key: 'A' }],
  ])('%j, made what they are meant to be', async (body, expected) => {
    const { path, maintainer } = await place()
    expect(expectStatus(await maintainer.post(path, body), 201)).toMatchObject(expected)
  })

  test('no other kind of body', async () => {
    const { path, maintainer } = await place()
    const reply = await maintainer.post(path, 'key=A&value=x', { 'content-type': 'text/plain' })
    expect(answer(reply)).toEqual([
      415,
      { error: "The provided content-type 'text/plain' is not supported." },
    ])
  })
})

describe('a new variable is refused with', () => {
  const tooLong = 'is too long (maximum is 255 characters)'
  const keyCharset = "can contain only letters, digits and '_'."
  const scopeCharset = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"
  const tooLarge = 'The value of the provided variable exceeds the 10000 character limit'

  test.each<[string, Json, Json]>([
    ['no key', { value: 'x' }, { error: 'key is missing' }],
    ['no value', { key: 'A' }, { error: 'value is missing' }],
    ['neither', {}, { error: 'key is missing, value is missing' }],
    ['a null key', { key: null, value: 'x' }, { error: 'key is empty' }],
    ['a list as value', { key: 'A', value: ['x'] }, { error: 'value is invalid' }],
    [
      'an odd type',
      { key: 'A', value: 'x', variable_type: 'secret' },
      { error: 'variable_type does not have a valid value' },
    ],
    ['an odd flag', { key: 'A', value: 'x', masked: 'maybe' }, { error: 'masked is invalid' }],
    ['an empty key', { key: '', value: 'x' }, { message: { key: ["can't be blank", keyCharset] } }],
    ['a white key', { key: '  ', value: 'x' }, { message: { key: ["can't be blank", keyCharset] } }],
    ['a hyphen in the key', { key: 'A-B', value: 'x' }, { message: { key: [keyCharset] } }],
    ['a foreign letter in the key', { key: 'É', value: 'x' }, { message: { key: [keyCharset] } }],
    ['a line feed in the key', { key: 'A\nB', value: 'x' }, { message: { key: [keyCharset] } }],
    ['a long key', { key: 'K'.repeat(256), value: 'x' }, { message: { key: [tooLong] } }],
    [
      'a long scope',
      { key: 'A', value: 'x', environment_scope: 's'.repeat(256) },
      { message: { environment_scope: [tooLong] } },
    ],
    [
      'an odd scope',
      { key: 'A', value: 'x', environment_scope: 'prod;drop' },
      { message: { environment_scope: [scopeCharset] } },
    ],
    [
      'a white scope',
      { key: 'A', value: 'x', environment_scope: ' ' },
      { message: { environment_scope: ["can't be blank", scopeCharset] } },
    ],
    [
      'a long description',
      { key: 'A', value: 'x', description: 'd'.repeat(256) },
      { message: { description: [tooLong] } },
    ],
    ['a large value', { key: 'A', value: 'v'.repeat(10_001) }, { message: { value: [tooLarge] } }],
    [
      'all faults at once',
      { key: 'A-B', value: 'v'.repeat(10_001), environment_scope: '!' },
      { message: { key: [keyCharset], environment_scope: [scopeCharset], value: [tooLarge] } },
    ],
  ])('%s', async (_, body, refusal) => {
    const { path, maintainer } = await place()
    expect(answer(await maintainer.post(path, body))).toEqual([400, refusal])
    expect((await maintainer.get(path)).body).toEqual([])
  })

  test('the key and scope of one that is there', async () => {
    const { path, maintainer } = await place({ key: 'HOST', value: 'x' })
    for (const more of [{}, { environment_scope: '*' }, { environment_scope: ' * ' }, { key: ' HOST ' }]) {
      expect(answer(await maintainer.post(path, { key: 'HOST', value: 'y', ...more }))).toEqual([
        400,
        { message: { key: ['HOST has already been taken'] } },
      ])
    }
    expectStatus(await maintainer.post(path, { key: 'host', value: 'y' }), 201)
    expectStatus(await maintainer.post(path, { key: 'HOST', value: 'y', environment_scope: 'Prod' }), 201)
    expectStatus(await maintainer.post(path, { key: 'HOST', value: 'y', environment_scope: 'prod' }), 201)
  })

  test('the key and scope of one that comes at the same time', async () => {
    const { path, maintainer } = await place()
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, index) => maintainer.post(path, { key: 'HOST', value: String(index) })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
  })

  test('8000 there already', async () => {
    const { path, id, maintainer } = await place()
    await sql`
      insert into ci_variables (project_id, key, secret)
      select ${id}, 'KEY_' || n, '' from generate_series(1, 7999) n`.execute(world.service.services.db.writer)
    expectStatus(await maintainer.post(path, { key: 'LAST', value: 'x' }), 201)
    expect(answer(await maintainer.post(path, { key: 'MORE', value: 'x' }))).toEqual([
      400,
      { message: { base: ['Maximum number of project ci variables (8000) exceeded'] } },
    ])
    expectStatus(await maintainer.delete(`${path}/KEY_1`), 204)
    expectStatus(await maintainer.post(path, { key: 'MORE', value: 'x' }), 201)
  })
})

describe('what is just allowed', () => {
  test.each<[string, Json, Json]>([
    ['a digit first', { key: '1_a', value: 'x' }, {}],
    ['spaces around the key', { key: '  A ', value: 'x' }, { key: 'A' }],
    ['a key of 255', { key: 'K'.repeat(255), value: 'x' }, {}],
    ['an empty value', { key: 'A', value: '' }, {}],
    ['a value of several lines', { key: 'A', value: 'a\nb\n' }, {}],
    ['a value of 10000', { key: 'A', value: '😀'.repeat(10_000) }, {}],
    ['a description of 255', { key: 'A', value: 'x', description: '😀'.repeat(255) }, {}],
    [
      'every character of scopes',
      { key: 'A', value: 'x', environment_scope: ' a Z-9_/${B}.* ' },
      { environment_scope: 'a Z-9_/${B}.*' },
    ],
  ])('%s', async (_, body, expected) => {
    const { path, maintainer } = await place()
    expect(expectStatus(await maintainer.post(path, body), 201)).toMatchObject({ ...body, ...expected })
  })
})

describe('masking', () => {
  const masked = 'aZ09_+=/@:.~-'
  test.each<[string, Json, boolean]>([
    ['every allowed character', { value: masked }, true],
    ['eight characters', { value: '12345678' }, true],
    ['seven characters', { value: '1234567' }, false],
    ['nothing', { value: '' }, false],
    ['a space', { value: 'abcd efgh' }, false],
    ['a line feed at the end', { value: 'abcdefgh\n' }, false],
    ['two lines', { value: 'abcdefgh\nabcdefgh' }, false],
    ['a reference', { value: '$abcdefgh' }, false],
    ['an exclamation mark', { value: 'abcdefgh!' }, false],
    ['a foreign letter', { value: 'abcdefgé' }, false],
    ['raw: a reference', { value: '$abcdefgh', raw: true }, true],
    ['raw: any visible character', { value: '!"§%&()é[]{}#', raw: true }, true],
    ['raw: seven characters', { value: '$123456', raw: true }, false],
    ['raw: a space', { value: 'abcd efgh', raw: true }, false],
    ['raw: a tab', { value: 'abcd\tefgh', raw: true }, false],
    ['raw: a line feed at the end', { value: 'abcdefgh\n', raw: true }, false],
    ['a file', { value: masked, variable_type: 'file' }, true],
    ['a file of two lines', { value: 'abcdefgh\nabcdefgh', variable_type: 'file' }, false],
  ])('%s', async (_, fields, allowed) => {
    const { path, maintainer } = await place()
    const made = await maintainer.post(path, { key: 'A', masked: true, ...fields })
    if (allowed) expect(expectStatus(made, 201)).toMatchObject({ masked: true, ...fields })
    else expect(answer(made)).toEqual([400, invalidValue])
    const hidden = await maintainer.post(path, { key: 'B', masked_and_hidden: true, ...fields })
    expect(hidden.status).toBe(allowed ? 201 : 400)
    // The same rules when it is masked later.
    expectStatus(await maintainer.post(path, { key: 'C', ...fields }), 201)
    expect((await maintainer.put(`${path}/C`, { masked: true, ...fields })).status).toBe(allowed ? 200 : 400)
  })
})

describe('changing', () => {
  test('needs a value, and leaves alone what is not given', async () => {
    const all = {
      variable_type: 'file',
      value: 'abcdefgh',
      protected: true,
      masked: true,
      raw: true,
      environment_scope: 'prod',
      description: 'd',
    }
    const { path, maintainer } = await place({ key: 'HOST', ...all })
    for (const key of ['HOST', 'NOT_THERE']) {
      expect(answer(await maintainer.put(`${path}/${key}`, { description: 'e' }))).toEqual([
        400,
        { error: 'value is missing' },
      ])
    }
    expect(answer(await maintainer.put(`${path}/HOST`, { value: 'ijklmnop' }))).toEqual([
      200,
      { ...plain, ...all, value: 'ijklmnop' },
    ])
    const other = {
      variable_type: 'env_var',
      value: 'x',
      protected: false,
      masked: false,
      raw: false,
      environment_scope: 'test',
      description: null,
    }
    expect(answer(await maintainer.put(`${path}/HOST`, other))).toEqual([200, { ...plain, ...other }])
    expect((await maintainer.get(path)).body).toEqual([{ ...plain, ...other }])
  })

  test('does not rename', async () => {
    const { path, maintainer } = await place({ key: 'HOST', value: 'x' })
    expect(answer(await maintainer.put(`${path}/HOST`, { key: 'OTHER', value: 'y' }))).toEqual([
      200,
      { ...plain, value: 'y' },
    ])
    expect(answer(await maintainer.get(`${path}/OTHER`))).toEqual([404, missing])
  })

  test('breaks the same rules', async () => {
    const { path, maintainer } = await place(
      { key: 'HOST', value: 'x' },
      { key: 'HOST', value: 'x', environment_scope: 'prod' },
    )
    const change = (fields: Json) =>
      maintainer.put(`${path}/HOST`, { value: 'x', filter: { environment_scope: 'prod' }, ...fields })
    expect(answer(await change({ environment_scope: '*' }))).toEqual([
      400,
      { message: { key: ['HOST has already been taken'] } },
    ])
    expect(answer(await change({ environment_scope: '!' }))).toMatchObject([
      400,
      { message: { environment_scope: [expect.stringMatching(/^can contain only letters/)] } },
    ])
    expect(answer(await change({ variable_type: 'odd' }))).toEqual([
      400,
      { error: 'variable_type does not have a valid value' },
    ])
    expect((await change({ value: 'v'.repeat(10_001) })).status).toBe(400)
    expect(answer(await change({ environment_scope: 'test' }))).toMatchObject([
      200,
      { environment_scope: 'test' },
    ])
  })

  test('does not lay open what is hidden, nor hide what is open', async () => {
    const value = 'abcdefgh'
    const { path, maintainer } = await place(
      { key: 'HIDDEN', value, masked_and_hidden: true },
      { key: 'OPEN', value, masked: true },
    )
    const fixed = {
      message: { base: ['The visibility setting cannot be changed for masked and hidden variables.'] },
    }
    const onlyNew = { message: { base: ['Only new variables can be set as masked and hidden.'] } }
    expect(answer(await maintainer.put(`${path}/HIDDEN`, { value, masked: false }))).toEqual([400, fixed])
    expect(answer(await maintainer.put(`${path}/HIDDEN`, { value, hidden: false }))).toEqual([400, fixed])
    expect(answer(await maintainer.put(`${path}/OPEN`, { value, hidden: true }))).toEqual([400, onlyNew])
    expect(answer(await maintainer.put(`${path}/OPEN`, { value, masked_and_hidden: true }))).toEqual([
      400,
      onlyNew,
    ])
    const same = { value, masked: true, hidden: true }
    expect(answer(await maintainer.put(`${path}/HIDDEN`, same))).toMatchObject([200, { hidden: true }])
    expect(bodyOf(await maintainer.get(`${path}/OPEN`))['hidden']).toBe(false)
  })
})

describe('finding one', () => {
  const two = [
    { key: 'HOST', value: 'every' },
    { key: 'HOST', value: 'production', environment_scope: 'prod/*' },
  ]
  const filter = (scope: string): string =>
    `?${new URLSearchParams({ 'filter[environment_scope]': scope }).toString()}`

  test('takes its exact key', async () => {
    const { path, maintainer } = await place({ key: 'HOST', value: 'x' })
    for (const key of ['host', 'HOS', 'HOST%20', 'H%4FST2', '%25']) {
      expect(answer(await maintainer.get(`${path}/${key}`))).toEqual([404, missing])
      expect(answer(await maintainer.put(`${path}/${key}`, { value: 'y' }))).toEqual([404, missing])
      expect(answer(await maintainer.delete(`${path}/${key}`))).toEqual([404, missing])
    }
    expect((await maintainer.get(`${path}/H%4FST`)).status).toBe(200)
  })

  test.each([
    ['none', ''],
    ['one that names none', filter('prod')],
    ['one that would match as a pattern', filter('prod/eu')],
    ['an empty one', filter('')],
    ['another key of the hash', '?filter[other]=*'],
  ])('among several is ambiguous with a filter: %s', async (_, query) => {
    const { path, maintainer } = await place(...two)
    expect(answer(await maintainer.get(`${path}/HOST${query}`))).toEqual([409, ambiguous])
    expect(answer(await maintainer.put(`${path}/HOST${query}`, { value: 'x' }))).toEqual([409, ambiguous])
    expect(answer(await maintainer.delete(`${path}/HOST${query}`))).toEqual([409, ambiguous])
    expect((await maintainer.get(path)).body).toHaveLength(2)
  })

  test('among several takes the filter as exact text', async () => {
    const { path, maintainer } = await place(...two)
    expect(bodyOf(await maintainer.get(`${path}/HOST${filter('*')}`))['value']).toBe('every')
    expect(bodyOf(await maintainer.get(`${path}/HOST${filter('prod/*')}`))['value']).toBe('production')
    expect(
      answer(await maintainer.put(`${path}/HOST${filter('*')}`, { value: 'x', environment_scope: 'test' })),
    ).toEqual([200, { ...plain, value: 'x', environment_scope: 'test' }])
    expect((await maintainer.delete(`${path}/HOST${filter('prod/*')}`)).status).toBe(204)
    expect(rowsOf(await maintainer.get(path)).map((row) => row['environment_scope'] as string)).toEqual([
      'test',
    ])
  })

  test('with a single one of the key needs no filter, but heeds it', async () => {
    const { path, maintainer } = await place({ key: 'HOST', value: 'x', environment_scope: 'prod' })
    expect((await maintainer.get(`${path}/HOST`)).status).toBe(200)
    expect((await maintainer.get(`${path}/HOST${filter('prod')}`)).status).toBe(200)
    expect(answer(await maintainer.get(`${path}/HOST${filter('*')}`))).toEqual([404, missing])
    expect(answer(await maintainer.put(`${path}/HOST${filter('*')}`, { value: 'y' }))).toEqual([404, missing])
    expect(answer(await maintainer.delete(`${path}/HOST${filter('*')}`))).toEqual([404, missing])
  })

  test('does not look into other projects', async () => {
    const [first, second] = [await place({ key: 'HOST', value: 'first' }), await place()]
    expect(answer(await second.maintainer.get(`${second.path}/HOST`))).toEqual([404, missing])
    expect(answer(await second.maintainer.delete(`${second.path}/HOST`))).toEqual([404, missing])
    expect((await first.maintainer.get(`${first.path}/HOST`)).status).toBe(200)
  })
})

describe('deleting', () => {
  test('answers nothing', async () => {
    const { path, maintainer } = await place({ key: 'HOST', value: 'x' })
    const reply = await maintainer.delete(`${path}/HOST`)
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([204, '', null])
    expect(answer(await maintainer.delete(`${path}/HOST`))).toEqual([404, missing])
  })

  test('has no condition', async () => {
    const { path, maintainer } = await place({ key: 'HOST', value: 'x' })
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' }
    expect((await maintainer.delete(`${path}/HOST`, undefined, headers)).status).toBe(204)
  })

  test('goes with the project', async () => {
    const { id } = await place({ key: 'HOST', value: 'x' })
    const { db } = world.service.services
    await sql`delete from projects where id = ${id}`.execute(db.writer)
    const { rows } = await sql`select 1 from ci_variables where project_id = ${id}`.execute(db.reader)
    expect(rows).toEqual([])
  })
})

describe('the list', () => {
  test('comes in the order of creation, in pages', async () => {
    const keys = ['C', 'A', 'B', 'E', 'D']
    const { path, id, maintainer } = await place(...keys.map((key) => ({ key, value: 'x' })))
    await maintainer.put(`${path}/C`, { value: 'changed' })
    const whole = await maintainer.get(path)
    expect(rowsOf(whole).map(({ key }) => key as string)).toEqual(keys)
    const page = await maintainer.get(`${path}?per_page=2&page=2`)
    expect(rowsOf(page).map(({ key }) => key as string)).toEqual(['B', 'E'])
    const headers = ['x-page', 'x-next-page', 'x-prev-page', 'x-per-page', 'x-total', 'x-total-pages']
    expect(headers.map((name) => page.headers.get(name))).toEqual(['2', '3', '1', '2', '5', '3'])
    const link = (number: number, rel: string): string =>
      `<${world.url}/api/v4${path}?id=${id}&page=${number}&per_page=2>; rel="${rel}"`
    expect(page.headers.get('link')).toBe(
      [link(1, 'prev'), link(3, 'next'), link(1, 'first'), link(3, 'last')].join(', '),
    )
    const past = await maintainer.get(`${path}?per_page=2&page=9`)
    expect([past.status, past.body]).toEqual([200, []])
    expect(headers.map((name) => past.headers.get(name))).toEqual(['9', '', '', '2', '5', '3'])
    expect(answer(await maintainer.get(`${path}?per_page=0`))).toEqual([
      400,
      { error: 'per_page has a value not allowed' },
    ])
  })

  test('is empty at first', async () => {
    const { path, maintainer } = await place()
    const reply = await maintainer.get(path)
    expect(answer(reply)).toEqual([200, []])
    expect([reply.headers.get('x-total'), reply.headers.get('x-total-pages')]).toEqual(['0', '1'])
  })
})
