import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let developer: Person
beforeAll(async () => {
  world = await startWorld()
  project = await world.project({ visibility: 'public' })
  developer = await world.member({ project }, 'developer')
})
afterAll(() => world[Symbol.asyncDispose]())

const path = (): string => `/projects/${project.id}/snippets`
const files = [
  { file_path: 'a.txt', content: 'one\n' },
  { file_path: 'dir/b c.txt', content: 'two\n' },
]
const make = async (by: Person = developer, fields: Json = {}, at = path()): Promise<Json> =>
  expectStatus(await by.post(at, { title: 'T', visibility: 'public', files, ...fields }), 201)

test('a snippet shows its files, and their content in every version', async () => {
  const made = await make()
  expect(Object.keys(made)).toEqual([
    'id',
    'title',
    'description',
    'visibility',
    'author',
    'created_at',
    'updated_at',
    'project_id',
    'web_url',
    'raw_url',
    'ssh_url_to_repo',
    'http_url_to_repo',
    'file_name',
    'files',
    'imported',
    'imported_from',
  ])
  const url = `${world.url}/${project.path_with_namespace}/-/snippets/${made['id'] as number}`
  expect(made).toMatchObject({
    title: 'T',
    description: null,
    visibility: 'public',
    author: { username: developer.username },
    project_id: project.id,
    web_url: url,
    raw_url: `${url}/raw`,
    file_name: 'a.txt',
    files: [
      { path: 'a.txt', raw_url: `${url}/raw/main/a.txt` },
      { path: 'dir/b c.txt', raw_url: `${url}/raw/main/dir/b%20c.txt` },
    ],
  })
  const one = `${path()}/${made['id'] as number}`
  expect((await world.anonymous.get(`${one}/raw`)).text).toBe('one\n')
  const second = await world.anonymous.get(`${one}/files/main/dir%2Fb%20c.txt/raw`)
  expect([second.text, second.headers.get('content-type')]).toEqual(['two\n', 'text/plain'])

  const changed = expectStatus(
    await developer.put(one, {
      title: 'U',
      description: 'D',
      visibility: 'internal',
      files: [
        { action: 'update', file_path: 'a.txt', content: 'new\n' },
        { action: 'move', previous_path: 'dir/b c.txt', file_path: 'z.txt' },
        { action: 'create', file_path: 'm.txt', content: 'm' },
      ],
    }),
    200,
  )
  expect(changed).toMatchObject({ title: 'U', description: 'D', visibility: 'internal', file_name: 'a.txt' })
  expect((changed['files'] as Json[]).map((file) => file['path'] as string)).toEqual([
    'a.txt',
    'm.txt',
    'z.txt',
  ])
  expect((await developer.get(`${one}/raw`)).text).toBe('new\n')
  expect((await developer.get(`${one}/files/main~1/a.txt/raw`)).text).toBe('one\n')
  expect((await world.anonymous.get(one)).status).toBe(404)
  expect((await developer.get(`${one}/files/none/a.txt/raw`)).status).toBe(404)

  expect((await developer.delete(one)).status).toBe(204)
  expect(await developer.get(one)).toMatchObject({ status: 404, body: { message: '404 Snippet Not Found' } })
})

test('one file is changed by its content or name alone', async () => {
  const made = await make(developer, { files: undefined, file_name: 'x.md', content: 'x' })
  const one = `${path()}/${made['id'] as number}`
  expect(bodyOf(await developer.put(one, { content: 'y' }))).toMatchObject({ file_name: 'x.md' })
  expect(bodyOf(await developer.put(one, { file_name: 'y.md' }))).toMatchObject({ file_name: 'y.md' })
  expect((await developer.get(`${one}/raw`)).text).toBe('y')
  const several = await make()
  expect(await developer.put(`${path()}/${several['id'] as number}`, { content: 'y' })).toMatchObject({
    status: 400,
    body: {
      message: { error: 'To update Snippets with multiple files, you must use the `files` parameter' },
    },
  })
})

test.for<[string, Json, number, Json]>([
  ['no title', { title: undefined }, 400, { error: 'title is missing' }],
  ['a blank title', { title: ' ' }, 400, { error: 'title is empty' }],
  [
    'no content',
    { files: undefined },
    400,
    { error: 'files, content are missing, exactly one parameter must be provided' },
  ],
  ['files and content', { content: 'x' }, 400, { error: 'files, content are mutually exclusive' }],
  [
    'an unknown visibility',
    { visibility: 'secret' },
    400,
    { error: 'visibility does not have a valid value' },
  ],
  ['a file without content', { files: [{ file_path: 'a' }] }, 400, { error: 'files[0][content] is missing' }],
  [
    'a long title',
    { title: 'x'.repeat(256) },
    400,
    { message: { error: 'Title is too long (maximum is 255 characters)' } },
  ],
  [
    'a path outside',
    { files: [{ file_path: '../a', content: 'x' }] },
    400,
    { message: { error: 'Files have an invalid path' } },
  ],
  [
    'a file twice',
    {
      files: [
        { file_path: 'a', content: 'x' },
        { file_path: 'a', content: 'y' },
      ],
    },
    400,
    { message: { error: 'A file with this name already exists' } },
  ],
  [
    'eleven files',
    { files: Array.from({ length: 11 }, (_, at) => ({ file_path: `f${at}`, content: 'x' })) },
    400,
    { message: { error: 'The repository can contain at most 10 file(s).' } },
  ],
  ['no files', { files: [] }, 400, { message: { error: 'The repository must contain at least 1 file.' } }],
])('%s is refused', async ([, fields, status, body]) => {
  const answer = await developer.post(path(), { title: 'T', visibility: 'public', files, ...fields })
  expect({ status: answer.status, body: answer.body as Json }).toEqual({ status, body })
})

test('changes that fit no file are refused, and leave everything as it was', async () => {
  const one = `${path()}/${(await make())['id'] as number}`
  const change = async (...actions: Json[]): Promise<unknown> => {
    const { status, body } = await developer.put(one, { title: 'other', files: actions })
    return [status, (body as { message: { error: string } }).message.error]
  }
  expect(await change({ action: 'update', file_path: 'none', content: 'x' })).toEqual([
    400,
    "A file with this name doesn't exist",
  ])
  expect(
    await change({ action: 'delete', file_path: 'a.txt' }, { action: 'delete', file_path: 'dir/b c.txt' }),
  ).toEqual([400, 'The repository must contain at least 1 file.'])
  expect(bodyOf(await developer.get(one))).toMatchObject({ title: 'T', file_name: 'a.txt' })
})

test('many change a snippet at once, and nothing is lost', async () => {
  const one = `${path()}/${(await make(developer, { files: [files[0]] }))['id'] as number}`
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      developer.put(one, { files: [{ action: 'create', file_path: `f${at}`, content: 'x' }] }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(bodyOf(await developer.get(one))['files']).toHaveLength(9)
})

test('the size of a file and the visibility are limited by settings', async () => {
  const { settings } = world.service.services
  await settings.change({ snippet_size_limit: 4, restricted_visibility_levels: ['public'] })
  const fields = { title: 'T', files: [{ file_path: 'a', content: '12345' }], visibility: 'private' }
  expect(await developer.post(path(), fields)).toMatchObject({
    status: 400,
    body: { message: { error: 'Content is too long (5 Bytes). The maximum size is 4 Bytes.' } },
  })
  const open = { ...fields, visibility: 'public', files: [{ file_path: 'a', content: '1234' }] }
  expect(await developer.post(path(), open)).toMatchObject({
    status: 403,
    body: {
      message: { error: 'Visibility level public has been restricted by your Guildhall administrator' },
    },
  })
  expect((await world.root.post(path(), open)).status).toBe(201)
  await settings.change({ snippet_size_limit: 52_428_800, restricted_visibility_levels: [] })
})

test('personal snippets are listed for their author, and the public ones for all', async () => {
  const author = await world.user()
  const hidden = await make(author, { visibility: undefined }, '/snippets')
  const open = await make(author, {}, '/snippets')
  const inProject = await make(await world.member({ project }, 'reporter'))
  expect(hidden).toMatchObject({ visibility: 'private', project_id: null })
  const ids = async (person: Person, address: string): Promise<number[]> =>
    rowsOf(await person.get(address)).map((row) => row['id'] as number)
  expect(await ids(author, '/snippets')).toEqual([open['id'], hidden['id']])
  const stranger = await world.user()
  expect(await ids(stranger, '/snippets')).toEqual([])
  const shown = await ids(stranger, '/snippets/public')
  expect(shown).toContain(open['id'])
  expect(shown).not.toContain(hidden['id'])
  expect(shown).not.toContain(inProject['id'])
  expect(await ids(world.root, '/snippets/all')).toEqual(
    expect.arrayContaining([open['id'], hidden['id'], inProject['id']]),
  )
  expect((await stranger.get(`/snippets/${hidden['id'] as number}`)).status).toBe(404)
  expect((await author.get(`/snippets/${inProject['id'] as number}`)).status).toBe(404)
  expect(bodyOf(await world.root.get(`/snippets/${open['id'] as number}/user_agent_detail`))).toMatchObject({
    user_agent: 'node',
    ip_address: '127.0.0.1',
    akismet_submitted: false,
  })
})
