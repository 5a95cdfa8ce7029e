import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { pushSigned } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let copies: Copies
let project: Json
let base: string
let maintainer: Person
let developer: Person
let first: string
let head: string

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project['id'] as number}/repository`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  const copy = await copies.filled(project, maintainer)
  first = await git(copy, 'rev-parse', 'HEAD')
  await copies.commit(copy, { 'a.txt': 'one\ntwo\nthree\n', 'old.txt': 'same\n'.repeat(9) })
  await git(copy, 'mv', 'old.txt', 'new.txt')
  head = await copies.commit(copy, { 'a.txt': 'one\n2\nthree\n' })
  await git(copy, 'checkout', '--quiet', '-b', 'side', first)
  await copies.commit(copy, 'side.txt')
  await git(copy, 'checkout', '--quiet', '--orphan', 'lone')
  await copies.commit(copy, 'lone.txt')
  await git(copy, 'push', '--quiet', 'origin', 'main', 'side', 'lone')
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const json = (body: Json) => ({ status: 200, body })

describe('what a commit changed', () => {
  test('is listed by file, with pages', async () => {
    const { body, headers } = await developer.get(`${base}/commits/${head}/diff`)
    expect(body).toEqual([
      {
        diff: '@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
        collapsed: false,
        too_large: false,
        new_path: 'a.txt',
        old_path: 'a.txt',
        a_mode: '100644',
        b_mode: '100644',
        new_file: false,
        renamed_file: false,
        deleted_file: false,
        generated_file: false,
      },
      expect.objectContaining({
        old_path: 'old.txt',
        new_path: 'new.txt',
        renamed_file: true,
        diff: '',
      }) as Json,
    ])
    expect(headers.get('x-total')).toBe('2')
    const second = await developer.get(`${base}/commits/${head}/diff?per_page=1&page=2&unidiff=true`)
    expect(second.body).toMatchObject([{ new_path: 'new.txt' }])
    const unified = await developer.get(`${base}/commits/${head}/diff?per_page=1&unidiff=true`)
    expect(unified.body).toMatchObject([
      { diff: expect.stringMatching(/^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@/) as string },
    ])
    expect((await developer.get(`${base}/commits/${first}/diff`)).body).toMatchObject([
      { new_file: true, a_mode: '0', b_mode: '100644' },
    ])
  })
})

describe('comparing', () => {
  const compare = (query: string) => developer.get(`${base}/compare?${query}`)

  test('shows what the second has beyond the common ancestor', async () => {
    const { body } = (await compare('from=side&to=main')) as { body: Json }
    expect(body).toMatchObject({
      commit: { id: head },
      compare_timeout: false,
      compare_same_ref: false,
      web_url: expect.stringMatching(/\/-\/compare\/side\.\.\.main$/) as string,
    })
    expect((body['commits'] as Json[]).map(({ title }) => title as string)).toEqual([
      'Add a.txt, old.txt',
      'Add a.txt',
    ])
    expect((body['diffs'] as Json[]).map(({ new_path }) => new_path as string)).toEqual(['a.txt', 'new.txt'])
    const straight = (await compare('from=side&to=main&straight=true')) as { body: Json }
    expect((straight.body['diffs'] as Json[]).map(({ new_path }) => new_path as string)).toEqual([
      'a.txt',
      'new.txt',
      'side.txt',
    ])
  })

  test('knows when there is nothing to compare', async () => {
    expect(await compare('from=main&to=main')).toMatchObject(
      json({ commit: null, commits: [], diffs: [], compare_same_ref: true }),
    )
    expect(await compare('from=main&to=no')).toMatchObject({
      status: 404,
      body: { message: '404 Ref Not Found' },
    })
    const other = await world.project({ visibility: 'public' })
    expect(await compare(`from=main&to=main&from_project_id=${other.id}`)).toMatchObject({
      status: 400,
      body: {
        message: `Target project id:${other.id} is not a fork of project id:${project['id'] as number}`,
      },
    })
    for (const missing of ['from=main', 'to=main', 'from=&to=main']) {
      expect((await compare(missing)).status).toBe(400)
    }
  })

  test('finds the common ancestor', async () => {
    const mergeBase = (query: string) => developer.get(`${base}/merge_base?${query}`)
    expect(await mergeBase('refs[]=main&refs[]=side')).toMatchObject(json({ id: first }))
    expect(await mergeBase('refs[]=main')).toMatchObject({
      status: 400,
      body: { message: 'Provide at least 2 refs' },
    })
    expect(await mergeBase('refs[]=main&refs[]=no')).toMatchObject({
      status: 400,
      body: { message: 'Could not find ref: no' },
    })
    expect(await mergeBase('refs[]=main&refs[]=side&refs[]=main')).toMatchObject(json({ id: first }))
    expect(await mergeBase('refs[]=main&refs[]=lone')).toMatchObject({
      status: 404,
      body: { message: '404 Merge Base Not Found' },
    })
    expect((await mergeBase('')).status).toBe(400)
  })

  test('needs the right to read the code of the other project', async () => {
    const source = await world.project({ visibility: 'public' })
    await copies.filled(source)
    const person = await world.user()
    const fork = expectStatus(await person.post(`/projects/${source.id}/fork`), 201)
    const across = () =>
      person.get(
        `/projects/${fork['id'] as number}/repository/compare?from=main&to=main&from_project_id=${source.id}`,
      )
    expect((await across()).status).toBe(200)
    await world.root.put(`/projects/${source.id}`, { repository_access_level: 'private' })
    expect(await across()).toMatchObject({
      status: 403,
      body: { message: "403 Forbidden - You don't have access to this fork's parent project" },
    })
  })
})

test('contributors are counted', async () => {
  const { body } = await developer.get(`${base}/contributors`)
  expect(body).toEqual([{ name: 'Ada', email: 'ada@example.com', commits: 3, additions: 0, deletions: 0 }])
})

test('contributors are sorted, and those of a ref', async () => {
  const own = await world.project()
  await copies.filled(own)
  const path = `/projects/${own.id}/repository`
  const names = ['Bea', 'Cyd', 'Bea', 'Bea', 'Cyd']
  for (const [at, author_name] of names.entries()) {
    const author_email = author_name === 'Bea' ? 'z@example.com' : 'y@example.com'
    expectStatus(
      await world.root.post(`${path}/files/f${at}`, {
        ...{ branch: 'team', start_branch: at === 0 ? 'main' : undefined, author_name, author_email },
        ...{ commit_message: 'x', content: 'x' },
      }),
      201,
    )
  }
  const order = async (query: string) =>
    rowsOf(await world.root.get(`${path}/contributors?${query}`)).map(
      (one) => `${one['name'] as string} ${one['commits'] as number}`,
    )
  expect(await order('')).toEqual(['Ada 1'])
  expect(await order('ref=team')).toEqual(['Ada 1', 'Cyd 2', 'Bea 3'])
  expect(await order('ref=team&sort=desc')).toEqual(['Bea 3', 'Cyd 2', 'Ada 1'])
  expect(await order('ref=team&order_by=name')).toEqual(['Ada 1', 'Bea 3', 'Cyd 2'])
  expect(await order('ref=team&order_by=email&sort=desc')).toEqual(['Bea 3', 'Cyd 2', 'Ada 1'])
  expect(await order('ref=team&per_page=1&page=2')).toEqual(['Cyd 2'])
  expect((await world.root.get(`${path}/contributors?ref=no`)).status).toBe(404)
  expect((await world.root.get(`${path}/contributors?order_by=size`)).status).toBe(400)
})

test('blame names the commits of lines', async () => {
  const blame = (query: string) => developer.get(`${base}/files/a.txt/blame?${query}`)
  const { body } = (await blame('ref=main')) as { body: Json[] }
  expect(body.map(({ lines }) => lines as string[])).toEqual([['one'], ['2'], ['three']])
  expect(body[1]).toMatchObject({ commit: { id: head, author_name: 'Ada' } })
  expect((await blame('ref=main&range[start]=2&range[end]=2')).body).toMatchObject([{ lines: ['2'] }])
  expect((await blame('ref=main&range[start]=7&range[end]=9')).body).toEqual([])
  expect(await blame('ref=main&range[start]=3&range[end]=2')).toMatchObject({
    status: 400,
    body: { error: 'range[start] must be less than or equal to range[end]' },
  })
  expect(await blame('ref=no')).toMatchObject({ status: 404, body: { message: '404 Commit Not Found' } })
  const told = await developer.request('HEAD', `${base}/files/a.txt/blame?ref=main`)
  expect(told).toMatchObject({ status: 200, text: '' })
  expect(told.headers.get('x-gitlab-last-commit-id')).toBe(head)
  expect(told.headers.get('x-gitlab-file-name')).toBe('a.txt')
})

test('a signature is told, not praised', async () => {
  await pushSigned(world, project, 'signed')
  expect(await developer.get(`${base}/commits/signed/signature`)).toMatchObject(
    json({ signature_type: 'SSH', verification_status: 'unknown_key', key: null }),
  )
  expect(await developer.get(`${base}/commits/main/signature`)).toMatchObject({
    status: 404,
    body: { message: '404 Signature Not Found' },
  })
  const ofTag = (name: string) => developer.get(`${base}/tags/${name}/signature`)
  expect((await ofTag('signed-tag')).body).toEqual({
    ...{ signature_type: 'SSH', verification_status: 'unknown_key', key: null },
  })
  expect((await developer.get(`${base}/tags/signed-tag`)).body).toMatchObject({ message: 'Signed' })
  for (const [tag_name, message] of [['light'], ['annotated', 'Not signed']]) {
    expectStatus(await developer.post(`${base}/tags`, { tag_name, ref: 'main', message }), 201)
    expect(await ofTag(tag_name!)).toMatchObject({
      status: 404,
      body: { message: '404 Signature Not Found' },
    })
  }
  expect(await ofTag('none')).toMatchObject({ status: 404, body: { message: '404 Tag Not Found' } })
})

test('raw content is given in parts', async () => {
  const raw = (range: string) => developer.get(`${base}/files/a.txt/raw?ref=main`, { range })
  const part = await raw('bytes=4-4')
  expect(part).toMatchObject({ status: 206, text: '2' })
  expect(part.headers.get('content-range')).toBe('bytes 4-4/12')
  expect((await raw('bytes=-6')).text).toBe('three\n')
  expect((await raw('bytes=6-')).text).toBe('three\n')
  expect(await raw('bytes=99-')).toMatchObject({ status: 416 })
  expect(await raw('lines=1-2')).toMatchObject({ status: 200 })
})

describe('picking', () => {
  const pick = (sha: string, kind: string, body: Json, by = developer) =>
    by.post(`${base}/commits/${sha}/${kind}`, body)

  test('brings a commit to another branch, once', async () => {
    const side = await developer.get(`${base}/commits/side`)
    const sha = (side.body as Json)['id'] as string
    await developer.post(`${base}/branches`, { branch: 'target', ref: 'main' })
    const dry = await pick(sha, 'cherry_pick', { branch: 'target', dry_run: true })
    expect(dry).toMatchObject(json({ dry_run: 'success' }))
    const made = await pick(sha, 'cherry_pick', { branch: 'target' })
    expect(made).toMatchObject({
      status: 201,
      body: {
        message: `Add side.txt\n\n(cherry picked from commit ${sha})`,
        author_name: 'Ada',
        committer_name: `Name of ${developer.username}`,
        parent_ids: [head],
      },
    })
    const again = await pick(sha, 'cherry_pick', { branch: 'target', dry_run: true })
    expect(again).toMatchObject({
      status: 400,
      body: {
        message: expect.stringMatching(/^Commit cherry-pick failed: Can't perform/) as string,
        error_code: 'empty',
        dry_run: 'error',
      },
    })
  })

  test('undoes a commit', async () => {
    await developer.post(`${base}/branches`, { branch: 'undo', ref: 'main' })
    const made = await pick(head, 'revert', { branch: 'undo' })
    expect(made).toMatchObject({
      status: 201,
      body: { message: `Revert "Add a.txt"\n\nThis reverts commit ${head}` },
    })
    const conflict = await pick(head, 'revert', { branch: 'side' })
    expect(conflict).toMatchObject({ status: 400, body: { error_code: 'conflict' } })
  })

  test('asks for what exists, and for the right', async () => {
    expect(await pick(head, 'revert', { branch: 'no' })).toMatchObject({
      status: 404,
      body: { message: '404 Branch Not Found' },
    })
    expect(await pick('1'.repeat(40), 'revert', { branch: 'side' })).toMatchObject({ status: 404 })
    expect(await pick(head, 'revert', { branch: 'main' })).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden - You are not allowed to push into this branch' },
    })
    expect(await pick(head, 'revert', { branch: 'main' }, maintainer)).toMatchObject({ status: 201 })
  })
})
