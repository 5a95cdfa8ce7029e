import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import type { Person } from '../world/client.ts'
import { answerOf, bodyOf, rowsOf } from '../world/bodies.ts'
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
  head = await copies.commit(copy, 'b.txt')
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

describe('branches', () => {
  test('one branch', async () => {
    const { status, body } = await answerOf(developer.get(at('/branches/main')))
    expect(status).toBe(200)
    expect(body).toEqual({
      name: 'main',
      commit: expect.objectContaining({ id: head }) as Json,
      merged: false,
      protected: true,
      developers_can_push: false,
      developers_can_merge: false,
      can_push: false,
      default: true,
      web_url: `${world.url}/${project['path_with_namespace'] as string}/-/tree/main`,
    })
    expect((await maintainer.get(at('/branches/main'))).body).toMatchObject({ can_push: true })
    expect((await developer.get(at('/branches/feature%2Fone'))).body).toMatchObject({
      can_push: true,
      protected: false,
      default: false,
    })
    expect((await developer.get(at('/branches/old'))).body).toMatchObject({ merged: true })
  })

  test('HEAD tells whether there is one', async () => {
    expect(await planner.request('HEAD', at('/branches/main'))).toMatchObject({ status: 204, text: '' })
    expect((await planner.request('HEAD', at('/branches/nothing'))).status).toBe(404)
    expect(await planner.get(at('/branches/nothing'))).toMatchObject({
      status: 404,
      body: { message: '404 Branch Not Found' },
    })
    expect(await planner.get(at('/branches/a..b'))).toMatchObject({
      status: 400,
      body: { message: 'The branch refname is invalid' },
    })
  })

  const names = async (query: string) =>
    ((await planner.get(at(`/branches?${query}`))).body as Json[]).map((branch) => branch['name'] as string)

  test.each([
    ['', ['feature/one', 'feature/two', 'main', 'old']],
    ['search=FEAT', ['feature/one', 'feature/two']],
    ['search=%5Efeature%2Fo', ['feature/one']],
    ['search=n%24', ['main']],
    ['search=%5Emain%24', ['main']],
    ['search=%5Eain', []],
    ['regex=%5E(main%7Cold)%24', ['main', 'old']],
    ['regex=e&search=two', ['feature/two']],
    ['sort=updated_asc&search=%5Eold', ['old']],
    ['per_page=2&page=2', ['main', 'old']],
  ])('?%s', async (query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  test('bad filters', async () => {
    expect(await planner.get(at('/branches?regex=('))).toMatchObject({
      status: 400,
      body: { message: 'Regex is invalid' },
    })
    expect(await planner.get(at('/branches?sort=size'))).toMatchObject({
      status: 400,
      body: { error: 'sort does not have a valid value' },
    })
  })

  test('page after page by name, while branches go', async () => {
    const page = await planner.get(at('/branches?pagination=keyset&per_page=1'))
    expect(rowsOf(page)[0]!['name']).toBe('feature/one')
    expect(page.headers.get('link')).toContain('page_token=feature%2Fone')
    expect(await names('pagination=keyset&per_page=1&page_token=feature%2Fp')).toEqual(['feature/two'])
    expect(await names('pagination=keyset&page_token=zzz')).toEqual([])
  })

  test('a page of one shows the protection of all rules', async () => {
    const { rows } = await answerOf(planner.get(at('/branches?search=main&per_page=1')))
    expect(rows[0]).toMatchObject({ name: 'main', protected: true })
  })

  test('made and deleted', async () => {
    const made = await developer.post(at('/branches'), { branch: 'made/here', ref: 'v1.0' })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'made/here', can_push: true, commit: { id: first } },
    })
    const again = await developer.post(at('/branches?branch=made%2Fhere&ref=main'))
    expect(again).toMatchObject({ status: 400, body: { message: 'Branch already exists' } })
    expect(await developer.delete(at('/branches/made%2Fhere'))).toMatchObject({ status: 204, text: '' })
    expect(await developer.delete(at('/branches/made%2Fhere'))).toMatchObject({
      status: 404,
      body: { message: '404 Branch Not Found' },
    })
  })

  test.each([
    [{ branch: 'x' }, { error: 'ref is missing' }],
    [{ branch: 'a..b', ref: 'main' }, { message: 'Branch name is invalid' }],
    [{ branch: '-x', ref: 'main' }, { message: 'Branch name is invalid' }],
    [{ branch: 'HEAD', ref: 'main' }, { message: 'Branch name is invalid' }],
    [{ branch: 'refs/heads/x', ref: 'main' }, { message: 'Branch name is invalid' }],
    [
      { branch: 'x', ref: 'nothing' },
      { message: "Failed to create branch 'x': invalid reference name 'nothing'" },
    ],
    [
      { branch: 'main/x', ref: 'main' },
      { message: "Failed to create branch 'main/x': Branch name conflicts with existing branch hierarchy." },
    ],
    [
      { branch: 'a'.repeat(40), ref: 'main' },
      { message: 'You cannot create a branch with a SHA-1 or SHA-256 branch name.' },
    ],
  ])('POST %j', async (fields, body) => {
    expect(await maintainer.post(at('/branches'), fields)).toMatchObject({ status: 400, body })
  })

  test('of an empty project begin with its first commit', async () => {
    const empty = await world.project()
    const path = `/projects/${empty.id}/repository/branches`
    const unknown = await world.root.post(path, { branch: 'x', ref: 'other' })
    expect([unknown.status, unknown.body]).toEqual([
      400,
      { message: "Failed to create branch 'x': invalid reference name 'other'" },
    ])
    const made = await world.root.post(path, { branch: 'x.y', ref: 'main' })
    expect(made).toMatchObject({ status: 201, body: { name: 'x.y', default: false } })
    const names = rowsOf(await world.root.get(path)).map(({ name }) => name)
    expect(names).toEqual(['main', 'x.y'])
    expect(rowsOf(await world.root.get(`/projects/${empty.id}/repository/commits`))).toMatchObject([
      { title: 'Add README.md', message: 'Add README.md', author_name: 'Administrator' },
    ])
    const again = await world.project()
    const itself = { branch: 'main', ref: 'main' }
    const first = await world.root.post(`/projects/${again.id}/repository/branches`, itself)
    expect(first).toMatchObject({ status: 201, body: { name: 'main', default: true } })
    const third = await world.project()
    const reporter = await world.member({ project: third }, 'reporter')
    expect((await reporter.post(`/projects/${third.id}/repository/branches`, itself)).status).toBe(403)
  })

  test('the default branch stays, whoever asks', async () => {
    for (const person of [developer, maintainer, world.root]) {
      expect(await person.delete(at('/branches/main'))).toMatchObject({
        status: 400,
        body: { message: 'The default branch of a project cannot be deleted.' },
      })
    }
    expect((await guest.delete(at('/branches/old'))).status).toBe(403)
    expect((await world.anonymous.delete(at('/branches/old'))).status).toBe(401)
  })

  test('merged ones go together, protected ones stay', async () => {
    const own = await world.project()
    const there = `/projects/${own['id']}/repository`
    const copy = await copies.filled(own)
    await git(copy, 'branch', 'done')
    await git(copy, 'branch', 'kept')
    await copies.commit(copy, 'more')
    await git(copy, 'push', '--quiet', 'origin', 'main', 'done', 'kept', 'main:same')
    await git(copy, 'checkout', '--quiet', '-b', 'open')
    await copies.commit(copy, 'open')
    await git(copy, 'push', '--quiet', 'origin', 'open')
    await world.root.put(`${there}/branches/kept/protect`)
    const answer = await world.root.delete(`${there}/merged_branches`)
    expect(answer).toMatchObject({ status: 202, body: { message: '202 Accepted' } })
    const left = async () =>
      ((await world.root.get(`${there}/branches`)).body as Json[]).map((branch) => branch['name'] as string)
    await expect.poll(left, { timeout: 30_000 }).toEqual(['kept', 'main', 'open', 'same'])
  })

  test('the old calls protect and unprotect', async () => {
    const path = at('/branches/feature%2Ftwo')
    expect((await developer.put(`${path}/protect`)).status).toBe(403)
    const open = await maintainer.put(`${path}/protect`, { developers_can_push: true })
    expect(open).toMatchObject({
      status: 200,
      body: { protected: true, developers_can_push: true, developers_can_merge: false },
    })
    const changed = await maintainer.put(`${path}/protect`, {
      developers_can_push: false,
      developers_can_merge: true,
    })
    expect(changed.body).toMatchObject({ developers_can_push: false, developers_can_merge: true })
    expect(await maintainer.put(`${path}/unprotect`)).toMatchObject({
      status: 200,
      body: { protected: false },
    })
    expect(await maintainer.put(`${path}/unprotect`)).toMatchObject({
      status: 200,
      body: { protected: false },
    })
    expect(await maintainer.put(at('/branches/nothing/protect'))).toMatchObject({
      status: 404,
      body: { message: '404 Branch Not Found' },
    })
  })
})

describe('tags', () => {
  const names = async (query: string) =>
    ((await planner.get(at(`/tags?${query}`))).body as Json[]).map((tag) => tag['name'] as string)

  test.each([
    ['order_by=name&sort=asc', ['v1.0', 'v1.10', 'v1.9']],
    ['order_by=version', ['v1.10', 'v1.9', 'v1.0']],
    ['order_by=version&sort=asc&search=%5Ev1.1', ['v1.10']],
    ['order_by=name&per_page=1', ['v1.9']],
    ['order_by=name&page_token=v1.9', ['v1.10', 'v1.0']],
  ])('?%s', async (query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  test('annotated and lightweight', async () => {
    const annotated = await planner.get(at('/tags/v1.10'))
    expect(annotated.body).toEqual({
      name: 'v1.10',
      message: 'Tenth',
      target: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      commit: expect.objectContaining({ id: head }) as Json,
      release: null,
      protected: false,
      created_at: '2024-05-01T08:00:00.000Z',
    })
    const light = await planner.get(at('/tags/v1.0'))
    expect(light.body).toMatchObject({
      message: null,
      target: first,
      created_at: null,
      commit: { id: first },
    })
    expect(await planner.get(at('/tags/nothing'))).toMatchObject({
      status: 404,
      body: { message: '404 Tag Not Found' },
    })
  })

  test('made and deleted', async () => {
    const light = await developer.post(at('/tags'), { tag_name: 'rc/1', ref: 'main' })
    expect(light).toMatchObject({ status: 201, body: { name: 'rc/1', message: null, target: head } })
    const annotated = await developer.post(at('/tags'), { tag_name: 'rc/2', ref: 'main', message: 'Second' })
    expect(annotated).toMatchObject({ status: 201, body: { message: 'Second', commit: { id: head } } })
    expect(bodyOf(annotated)['target']).not.toBe(head)
    expect((await planner.get(at('/tags/rc%2F2'))).body).toEqual(annotated.body)
    for (const name of ['rc%2F1', 'rc%2F2'])
      expect((await developer.delete(at(`/tags/${name}`))).status).toBe(204)
    expect(await developer.delete(at('/tags/rc%2F1'))).toMatchObject({
      status: 404,
      body: { message: 'No such tag' },
    })
  })

  test.each([
    [{ tag_name: 'v1.0', ref: 'main' }, 'Tag v1.0 already exists'],
    [{ tag_name: 'a..b', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: '', ref: 'main' }, 'Tag name invalid'],
    [{ tag_name: 'new', ref: ' ' }, 'Target is empty'],
    [{ tag_name: 'new', ref: 'nothing' }, 'Target nothing is invalid'],
    [{ tag_name: 'main', ref: 'main' }, 'You cannot use default branch name to create a tag'],
    [{ tag_name: 'a'.repeat(40), ref: 'main' }, 'You cannot create a tag with a SHA-1 or SHA-256 tag name.'],
  ])('POST %j', async (fields, message) => {
    expect(await maintainer.post(at('/tags'), fields)).toMatchObject({ status: 400, body: { message } })
  })
})
