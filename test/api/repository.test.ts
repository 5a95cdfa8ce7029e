import { createHash } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canBzip2 } from '../../src/git/index.ts'
import { Copies, git } from '../git/copies.ts'
import type { Person } from '../world/client.ts'
import { answerOf, rowsOf } from '../world/bodies.ts'
import { startWorld, type Json, type World } from '../world/world.ts'

let world: World
let copies: Copies
let project: Json
let base: string
let maintainer: Person
let developer: Person
let planner: Person
let guest: Person
let head: string
let first: string
const large = Buffer.alloc(3 * 1024 * 1024 + 1, 'guildhall')
const odd = 'docs/día #1 100%.md'

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project['id'] as number}/repository`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  planner = await world.member({ project }, 'planner')
  guest = await world.member({ project }, 'guest')
  const copy = await copies.filled(project, maintainer)
  first = await git(copy, 'rev-parse', 'HEAD')
  await git(copy, 'tag', 'v1.0', first)
  await git(copy, 'branch', 'old', first)
  await copies.commit(copy, {
    [odd]: '# Hello\n',
    'docs/api/index.md': 'api\n',
    'a.txt': 'a\n',
    'large.bin': large,
    empty: '',
  })
  await chmod(path.join(copy, 'a.txt'), 0o755)
  head = await copies.commit(
    copy,
    { 'b.txt': 'b\n' },
    'Add b\n\nWith a body.\n\nSigned-off-by: Ada <ada@example.com>',
  )
  await git(copy, 'tag', '-a', 'v1.10', '-m', 'Tenth')
  await git(copy, 'tag', '-a', 'v1.9', '-m', 'Ninth', first)
  await git(
    copy,
    'push',
    '--quiet',
    '--tags',
    'origin',
    'main',
    'old',
    'main:feature/one',
    'main:feature/two',
  )
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const at = (path: string) => `${base}${path}`
const file = (path: string, ref = 'main') =>
  at(`/files/${encodeURIComponent(path)}?ref=${encodeURIComponent(ref)}`)

describe('tree', () => {
  test('lists a folder, folders first', async () => {
    const { status, rows, headers } = await answerOf(planner.get(at('/tree')))
    expect(status).toBe(200)
    expect(rows).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
        name: 'docs',
        type: 'tree',
        path: 'docs',
        mode: '040000',
      },
      expect.objectContaining({ name: 'README.md', type: 'blob', mode: '100644' }) as Json,
      expect.objectContaining({ name: 'a.txt', type: 'blob', mode: '100755' }) as Json,
      expect.objectContaining({ name: 'b.txt' }) as Json,
      expect.objectContaining({ name: 'empty' }) as Json,
      expect.objectContaining({ name: 'large.bin' }) as Json,
    ])
    expect(headers.get('x-total')).toBe('6')
  })

  test('lists below a folder, at a ref, and everything', async () => {
    const below = await planner.get(at('/tree?path=docs'))
    expect(rowsOf(below).map((entry) => entry['path'] as string)).toEqual(['docs/api', odd])
    const old = await planner.get(at('/tree?ref=v1.0'))
    expect(rowsOf(old).map((entry) => entry['path'] as string)).toEqual(['README.md'])
    const all = await planner.get(at('/tree?recursive=true&per_page=100'))
    expect(rowsOf(all).map((entry) => entry['path'] as string)).toContain('docs/api/index.md')
    expect(all.body).toHaveLength(9)
  })

  test('goes on by the last path, and gives all at once', async () => {
    const seen: string[] = []
    let next: string | undefined = `${world.url}/api/v4${at('/tree?pagination=keyset&per_page=4')}`
    while (next !== undefined) {
      const { rows, headers } = await answerOf(planner.get(next))
      seen.push(...rows.map((entry) => entry['name'] as string))
      expect(headers.get('x-total')).toBeNull()
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['docs', 'README.md', 'a.txt', 'b.txt', 'empty', 'large.bin'])
    const all = await planner.get(at('/tree?pagination=none&per_page=1'))
    expect(all.body).toHaveLength(6)
    const wrong = await planner.get(at('/tree?pagination=keyset&page_token=nothing'))
    expect(wrong).toMatchObject({ status: 400, body: { error: 'page_token is invalid' } })
  })

  test.each([
    ['?ref=nothing', 404, '404 Tree Not Found'],
    ['?ref=--all', 404, '404 Tree Not Found'],
    ['?path=nothing', 404, '404 invalid revision or path Not Found'],
    ['?path=a.txt', 404, '404 invalid revision or path Not Found'],
    ['?path=../..', 404, '404 invalid revision or path Not Found'],
  ])('%s: %d %s', async (query, status, message) => {
    expect(await planner.get(at(`/tree${query}`))).toMatchObject({ status, body: { message } })
  })
})

describe('files', () => {
  test('a file with everything that is known of it', async () => {
    const { status, body, headers } = await answerOf(planner.get(file('a.txt')))
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual([
      ...[
        'file_name',
        'file_path',
        'size',
        'encoding',
        'content',
        'content_sha256',
        'ref',
        'blob_id',
        'commit_id',
      ],
      ...['last_commit_id', 'execute_filemode'],
    ])
    expect(body).toMatchObject({
      file_name: 'a.txt',
      file_path: 'a.txt',
      size: 2,
      encoding: 'base64',
      content: 'YQo=',
      content_sha256: createHash('sha256').update('a\n').digest('hex'),
      ref: 'main',
      commit_id: head,
      execute_filemode: true,
    })
    expect(headers.get('content-type')).toBe('application/json')
    const same = await planner.get(file('a.txt'), { 'if-none-match': headers.get('etag')! })
    expect(same.status).toBe(304)
  })

  test('HEAD says the same in headers', async () => {
    const { body } = await answerOf(planner.get(file(odd)))
    const { status, headers, text } = await planner.request('HEAD', file(odd))
    expect({ status, text }).toEqual({ status: 200, text: '' })
    const bytes = (name: string) => Buffer.from(headers.get(name)!, 'latin1').toString()
    expect(bytes('x-gitlab-file-path')).toBe(odd)
    expect(headers.get('x-gitlab-size')).toBe('8')
    expect(headers.get('x-gitlab-blob-id')).toBe(body['blob_id'])
    expect(headers.get('x-gitlab-content-sha256')).toBe(body['content_sha256'])
    expect(headers.get('x-gitlab-last-commit-id')).toBe(body['last_commit_id'])
    expect(headers.get('x-gitlab-execute-filemode')).toBe('false')
    expect(headers.get('x-gitlab-ref')).toBe('main')
    expect(headers.get('x-gitlab-encoding')).toBe('base64')
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(JSON.stringify(body))))
  })

  test.each([
    ['/files/large.bin?ref=main', String],
    ['/files/large.bin/raw', String],
    ['/files/a.txt/blame?ref=main', () => null],
    ['/archive', () => null],
  ])('HEAD of %s does not say that the answer of GET has no bytes', async (path, lengthOf) => {
    const response = await fetch(`${world.url}/api/v4${at(path)}`, {
      headers: { 'private-token': planner.token },
    })
    const { byteLength } = await response.arrayBuffer()
    const { status, headers } = await planner.request('HEAD', at(path))
    expect([status, headers.get('content-length')]).toEqual([200, lengthOf(byteLength)])
  })

  test('last_commit_id is the commit that changed the file', async () => {
    const { body } = await answerOf(planner.get(file('README.md', 'HEAD')))
    expect(body).toMatchObject({ ref: 'HEAD', commit_id: head, last_commit_id: first })
  })

  test('a large file passes through, its content unharmed', async () => {
    const { body } = await answerOf(planner.get(file('large.bin')))
    expect(Buffer.from(body['content'] as string, 'base64').equals(large)).toBe(true)
    expect(body['content_sha256']).toBe(createHash('sha256').update(large).digest('hex'))
    expect(body['last_commit_id']).toMatch(/^[0-9a-f]{40}$/)
  })

  test('raw content, of the default branch and of a ref', async () => {
    const raw = await planner.get(at(`/files/${encodeURIComponent(odd)}/raw`))
    expect(raw).toMatchObject({ status: 200, text: '# Hello\n' })
    expect(raw.headers.get('content-type')).toBe('text/plain')
    expect(raw.headers.get('content-length')).toBe('8')
    expect(raw.headers.get('content-disposition')).toContain("filename*=UTF-8''d%C3%ADa%20%231%20100%25.md")
    const response = await fetch(`${world.url}/api/v4${at('/files/large.bin/raw?ref=feature%2Fone')}`, {
      headers: { 'private-token': planner.token },
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(large)).toBe(true)
    expect(await planner.request('HEAD', at('/files/large.bin/raw'))).toMatchObject({ status: 200, text: '' })
    expect((await planner.get(at('/files/empty/raw'))).text).toBe('')
  })

  test.each([
    ['/files/a.txt', 400, { error: 'ref is missing, ref is empty' }],
    ['/files/a.txt?ref=', 400, { error: 'ref is empty' }],
    ['/files/a.txt?ref=nothing', 404, { message: '404 Commit Not Found' }],
    ['/files/a.txt?ref=-x', 404, { message: '404 Commit Not Found' }],
    ['/files/docs?ref=main', 404, { message: '404 File Not Found' }],
    ['/files/nothing?ref=main', 404, { message: '404 File Not Found' }],
    ['/files/a.txt%2Fb?ref=main', 404, { message: '404 File Not Found' }],
    ['/files/..%2Fa.txt?ref=main', 400, { error: 'file_path should be a valid file path' }],
    ['/files/nothing/raw', 404, { message: '404 File Not Found' }],
  ])('%s: %d', async (path, status, body) => {
    expect(await planner.get(at(path))).toMatchObject({ status, body })
  })

  test('a token for repositories reads files, and nothing else of the API', async () => {
    const token = await world.token(developer.id, ['read_repository'])
    const headers = { 'private-token': token }
    expect(await world.anonymous.get(file('a.txt'), headers)).toMatchObject({ status: 200 })
    expect(await world.anonymous.get(at('/files/a.txt/raw'), headers)).toMatchObject({ status: 200 })
    expect(await world.anonymous.get(at('/tree'), headers)).toMatchObject({ status: 403 })
  })
})

describe('blobs and archives', () => {
  test('a blob by its id', async () => {
    const { body } = await answerOf(planner.get(file('a.txt')))
    const blob = await planner.get(at(`/blobs/${body['blob_id'] as string}`))
    expect(blob.body).toEqual({
      size: 2,
      encoding: 'base64',
      content: 'YQo=',
      sha: body['blob_id'] as string,
    })
    expect((await planner.get(at(`/blobs/${body['blob_id'] as string}/raw`))).text).toBe('a\n')
    for (const sha of [head, 'f'.repeat(40), 'main', 'x']) {
      expect(await planner.get(at(`/blobs/${sha}`))).toMatchObject({
        status: 404,
        body: { message: '404 Blob Not Found' },
      })
    }
  })

  test('archives in the usual formats', async () => {
    const download = async (path: string) => {
      const response = await fetch(`${world.url}/api/v4${at(path)}`, {
        headers: { 'private-token': planner.token },
      })
      return { response, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    const gz = await download('/archive')
    expect(gz.response.headers.get('content-disposition')).toContain(`-main-${head}.tar.gz"`)
    expect(gunzipSync(gz.bytes).includes(`${project['path'] as string}-main-${head}/README.md`)).toBe(true)
    const zip = await download('/archive.zip?sha=v1.0')
    expect(zip.response.headers.get('content-type')).toBe('application/zip')
    expect(zip.bytes.subarray(0, 2).toString()).toBe('PK')
    const tar = await download('/archive.tar?path=docs&exclude_paths=docs%2Fapi')
    expect(tar.bytes.includes('docs/api')).toBe(false)
    expect(tar.bytes.includes('README.md')).toBe(false)
    expect(await planner.get(at('/archive?sha=nothing'))).toMatchObject({
      status: 404,
      body: { message: '404 File Not Found' },
    })
    expect(await planner.get(at('/archive?path=nothing'))).toMatchObject({ status: 404 })
    expect(await planner.get(at('/archive.rar'))).toMatchObject({ status: 400 })
    expect(await planner.get(at('/archive?path=..%2Fx'))).toMatchObject({ status: 400 })
  })

  test.each(['tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2'])('an archive.%s', async (format) => {
    // Nobody else's: a user may ask for five a minute.
    const reader = await world.member({ project }, 'reporter')
    const response = await fetch(`${world.url}/api/v4${at(`/archive.${format}`)}`, {
      headers: { 'private-token': reader.token },
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    // A machine without that program tells so.
    expect(response.status).toBe((await canBzip2()) ? 200 : 404)
    if (response.status === 404) return
    expect(response.headers.get('content-type')).toBe('application/x-bzip2')
    expect(response.headers.get('content-disposition')).toContain(`.${format}"`)
    expect(bytes.subarray(0, 3).toString()).toBe('BZh')
  })
})

describe('commits', () => {
  test('the newest first, without totals', async () => {
    const { status, rows, headers } = await answerOf(planner.get(at('/commits?per_page=2')))
    expect(status).toBe(200)
    expect(rows).toHaveLength(2)
    expect(headers.get('x-total')).toBeNull()
    expect(headers.get('x-next-page')).toBe('2')
    expect(rows[0]).toEqual({
      id: head,
      short_id: head.slice(0, 8),
      title: 'Add b',
      message: 'Add b\n\nWith a body.\n\nSigned-off-by: Ada <ada@example.com>\n',
      author_name: 'Ada',
      author_email: 'ada@example.com',
      authored_date: '2024-05-01T08:00:00.000Z',
      committer_name: 'Ada',
      committer_email: 'ada@example.com',
      committed_date: '2024-05-01T08:00:00.000Z',
      created_at: '2024-05-01T08:00:00.000Z',
      parent_ids: [expect.stringMatching(/^[0-9a-f]{40}$/) as string],
      web_url: `${world.url}/${project['path_with_namespace'] as string}/-/commit/${head}`,
      trailers: {},
      extended_trailers: {},
    })
  })

  test.each([
    ['ref_name=v1.0', 1],
    ['path=b.txt', 1],
    ['path=docs', 1],
    ['path=nothing', 0],
    ['author=ada@', 3],
    ['author=ada.*', 0],
    ['since=2030-01-01', 0],
    ['since=1950-01-01', 3],
    ['until=2020-01-01', 0],
    ['until=1950-01-01', 0],
    ['all=true', 3],
    ['ref_name=nothing', 0],
    ['ref_name=v1.0..main', 2],
    ['ref_name=v1.0..', 2],
    ['ref_name=main..v1.0', 0],
    ['ref_name=main...v1.0', 2],
    ['ref_name=v1.0...main', 2],
    ['ref_name=nothing..main', 0],
    ['ref_name=main...nothing', 0],
    ['ref_name=v1.0..main&per_page=1', 1],
    ['page=99', 0],
    ['page=1000000000', 0],
    ['first_parent=true&order=topo', 3],
  ])('%s finds %d', async (query, count) => {
    const { status, rows } = await answerOf(planner.get(at(`/commits?${query}`)))
    expect({ status, count: rows.length }).toEqual({ status: 200, count })
  })

  test('with sums and trailers', async () => {
    const { rows } = await answerOf(planner.get(at('/commits?with_stats=true&trailers=true&per_page=1')))
    expect(rows[0]).toMatchObject({
      stats: { additions: 1, deletions: 0, total: 1 },
      trailers: { 'Signed-off-by': 'Ada <ada@example.com>' },
      extended_trailers: { 'Signed-off-by': ['Ada <ada@example.com>'] },
    })
  })

  test('bad parameters', async () => {
    for (const name of [
      'a..b..c',
      'a....b',
      '--all..main',
      'main..--all',
      'main..^v1.0',
      '-x',
      'main...a:b',
    ]) {
      expect(await planner.get(at(`/commits?ref_name=${encodeURIComponent(name)}`)), name).toMatchObject({
        status: 400,
        body: { error: 'ref_name is invalid' },
      })
    }
    expect(await planner.get(at('/commits?page=0'))).toMatchObject({
      status: 400,
      body: { error: 'page does not have a valid value' },
    })
    expect(await planner.get(at('/commits?per_page=-1'))).toMatchObject({
      status: 400,
      body: { error: 'per_page does not have a valid value' },
    })
  })

  test('one commit, by id, part of it, branch and tag', async () => {
    for (const name of [head, head.slice(0, 10), 'main', 'feature%2Fone', 'v1.10']) {
      const { status, body } = await answerOf(planner.get(at(`/commits/${name}`)))
      expect({ status, id: body['id'] as string }).toEqual({ status: 200, id: head })
      expect(body).toMatchObject({
        stats: { total: 1 },
        status: null,
        project_id: project['id'] as number,
        last_pipeline: null,
      })
    }
    expect((await planner.get(at('/commits/main?stats=false'))).body).not.toHaveProperty('stats')
    for (const name of ['nothing', 'f'.repeat(40), 'a..b', '%2D%2Dall']) {
      expect(await planner.get(at(`/commits/${name}`))).toMatchObject({
        status: 404,
        body: { message: '404 Commit Not Found' },
      })
    }
  })

  test('where a commit is, and how many lie before it', async () => {
    const { rows } = await answerOf(planner.get(at(`/commits/${head}/refs`)))
    expect(rows).toEqual([
      { type: 'branch', name: 'feature/one' },
      { type: 'branch', name: 'feature/two' },
      { type: 'branch', name: 'main' },
      { type: 'tag', name: 'v1.10' },
    ])
    expect((await planner.get(at(`/commits/${head}/refs?type=tag`))).body).toHaveLength(1)
    expect((await planner.get(at('/commits/main/sequence'))).body).toEqual({ count: 3 })
  })
})

describe('who may', () => {
  const reading = [
    '/tree',
    '/files/a.txt?ref=main',
    '/files/a.txt/raw',
    '/archive',
    '/commits',
    '/commits/main',
    '/commits/main/refs',
    '/branches',
    '/branches/main',
    '/tags',
    '/tags/v1.0',
  ]

  test.each(reading)('GET %s', async (path) => {
    const stranger = await world.user()
    const statuses = await Promise.all(
      [world.anonymous, stranger, guest, planner, developer, world.root].map(
        async (person) => (await person.get(at(path))).status,
      ),
    )
    expect(statuses).toEqual([404, 404, 403, 200, 200, 200])
  })

  test('a public project shows its code to everybody, a feature level keeps it for members', async () => {
    const open = await world.project({ visibility: 'public' })
    await copies.filled(open)
    const there = `/projects/${open['id']}`
    expect((await world.anonymous.get(`${there}/repository/tree`)).status).toBe(200)
    expect((await world.anonymous.get(`${there}/repository/branches/main`)).body).toMatchObject({
      can_push: false,
    })
    await world.root.put(there, { repository_access_level: 'private' })
    expect((await world.anonymous.get(`${there}/repository/tree`)).status).toBe(403)
    expect((await (await world.user()).get(`${there}/repository/tree`)).status).toBe(403)
  })

  test('a read-only token reads and does not write', async () => {
    const headers = { 'private-token': await world.token(developer.id, ['read_api']) }
    expect((await world.anonymous.get(at('/branches'), headers)).status).toBe(200)
    const write = await world.anonymous.post(at('/branches'), { branch: 'x', ref: 'main' }, headers)
    expect(write.status).toBe(403)
  })
})

test('an empty repository', async () => {
  const empty = await world.project()
  const there = `/projects/${empty['id']}/repository`
  const answers = await Promise.all(
    [
      ['/tree', 404],
      ['/files/a?ref=main', 404],
      ['/commits', 200],
      ['/commits/main', 404],
      ['/branches', 200],
      ['/branches/main', 404],
      ['/tags', 200],
      ['/archive', 404],
    ].map(async ([path, status]) => [
      path,
      (await world.root.get(`${there}${path as string}`)).status,
      status,
    ]),
  )
  for (const [path, status, expected] of answers) expect([path, status]).toEqual([path, expected])
  // From its default branch one may start: that is made then.
  expect(await world.root.post(`${there}/branches`, { branch: 'x', ref: 'other' })).toMatchObject({
    status: 400,
  })
  expect(await world.root.post(`${there}/tags`, { tag_name: 'x', ref: 'main' })).toMatchObject({
    status: 400,
  })
})
