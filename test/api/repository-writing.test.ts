// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git } from '../git/copies.ts'

let world: World
let copies: Copies
let project: Json
let base: string
let maintainer: Person
let developer: Person
let reporter: Person

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project['id'] as number}/repository`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  reporter = await world.member({ project }, 'reporter')
  const copy = await copies.filled(project, maintainer)
  await copies.commit(copy, { 'a.txt': 'a\n', 'docs/one.md': '1\n', 'docs/two.md': '2\n' })
  await git(copy, 'push', '--quiet', 'origin', 'main', 'main:free')
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const at = (path: string) => `${base}/files/${encodeURIComponent(path)}`
const raw = (path: string, ref: string) => developer.get(`${at(path)}/raw?ref=${ref}`)
const message = 'Change it'
const refusal = (text: string) => ({ status: 400, body: { message: text } })
const branch = () => world.unique('branch')
const commit = (body: Json, by: Person = developer): Promise<Reply> =>
  by.post(`${base}/commits`, { commit_message: message, ...body })
const pathsOf = async (ref: string): Promise<string[]> => {
  const { body } = await developer.get(`${base}/tree?ref=${ref}&recursive=true&per_page=100`)
  return (body as Json[]).filter(({ type }) => type === 'blob').map(({ path }) => path as string)
}

describe('files', () => {
  test('are created, changed and deleted, each with a commit of the caller', async () => {
    const made = await developer.post(at('new/día.txt'), {
      ...{ branch: 'free', commit_message: message, content: 'one' },
    })
    expect(made).toMatchObject({ status: 201, body: { file_path: 'new/día.txt', branch: 'free' } })
    expect((await raw('new/día.txt', 'free')).text).toBe('one')
    const changed = await developer.put(at('new/día.txt'), {
      branch: 'free',
      commit_message: message,
      content: Buffer.from([0, 255, 10]).toString('base64'),
      encoding: 'base64',
      execute_filemode: true,
      author_name: 'Ada',
      author_email: 'ada@example.com',
    })
    expect(changed).toMatchObject({ status: 200, body: { file_path: 'new/día.txt', branch: 'free' } })
    const file = await developer.get(`${at('new/día.txt')}?ref=free`)
    expect(file.body).toMatchObject({ content: 'AP8K', execute_filemode: true })
    const last = await developer.get(`${base}/commits/free`)
    expect(last.body).toMatchObject({
      message,
      author_name: 'Ada',
      author_email: 'ada@example.com',
      committer_email: `${developer.username}@example.com`,
    })
    const gone = await developer.delete(at('new/día.txt'), { branch: 'free', commit_message: message })
    expect(gone).toMatchObject({ status: 204, text: '' })
    expect(await pathsOf('free')).not.toContain('new/día.txt')
  })

  test('start a branch', async () => {
    const name = branch()
    const made = { branch: name, start_branch: 'main', commit_message: message, content: 'x' }
    expect(await developer.post(at('x'), made)).toMatchObject({ status: 201 })
    expect(await pathsOf(name)).toEqual(expect.arrayContaining(['a.txt', 'x']))
    expect(await developer.post(at('y'), made)).toMatchObject(
      refusal(`A branch called '${name}' already exists. Switch to that branch in order to make changes`),
    )
    expect(await developer.post(at('y'), { ...made, branch: branch(), start_branch: 'no' })).toMatchObject(
      refusal('You can only create or edit files when you are on a branch'),
    )
    expect(await developer.post(at('y'), { ...made, branch: 'no', start_branch: undefined })).toMatchObject(
      refusal('You can only create or edit files when you are on a branch'),
    )
    expect(await developer.post(at('y'), { ...made, branch: 'free/below' })).toMatchObject(
      refusal("Failed to create branch 'free/below': Branch name conflicts with existing branch hierarchy."),
    )
    expect(await developer.post(at('y'), { ...made, branch: 'a..b' })).toMatchObject(
      refusal('Branch name is invalid'),
    )
  })

  test('make the first branch of an empty project', async () => {
    const empty = await world.project()
    const path = `/projects/${empty.id}/repository/files/README.md`
    const by = await world.member({ project: empty }, 'maintainer')
    const first = { branch: 'main', commit_message: message, content: '# Hello\n' }
    expect(await by.post(path, first)).toMatchObject({ status: 201 })
    expect((await by.get(`/projects/${empty.id}`)).body).toMatchObject({ default_branch: 'main' })
    expect((await by.get(`/projects/${empty.id}/protected_branches`)).body).toHaveLength(1)
  })

  test.each<[string, string, string, Json, object]>([
    ['POST', 'a.txt', 'exists', {}, refusal('A file with this name already exists')],
    ['POST', 'docs', 'a folder', {}, refusal('A file with this name already exists')],
    ['POST', 'a.txt/b', 'below a file', {}, refusal('A file with this name already exists')],
    ['PUT', 'no.txt', 'absent', {}, refusal("A file with this name doesn't exist")],
    ['DELETE', 'no.txt', 'absent', {}, refusal("A file with this name doesn't exist")],
    [
      'POST',
      '../x',
      'leads out',
      {},
      { status: 400, body: { error: 'file_path should be a valid file path' } },
    ],
    [
      'POST',
      '.git/x',
      'of git',
      {},
      { status: 400, body: { error: 'file_path should be a valid file path' } },
    ],
    ['POST', '.gitmodules/GIT~1', 'of git in disguise', {}, { status: 400 }],
    [
      'POST',
      'x',
      'no base64',
      { content: '*', encoding: 'base64' },
      { status: 400, body: { error: 'content is invalid' } },
    ],
    ['POST', 'x', 'no branch', { branch: undefined }, { status: 400, body: { error: 'branch is missing' } }],
    [
      'POST',
      'x',
      'no message',
      { commit_message: '' },
      { status: 400, body: { error: 'commit_message is empty' } },
    ],
    [
      'PUT',
      'a.txt',
      'no content',
      { content: undefined },
      { status: 400, body: { error: 'content is missing' } },
    ],
    [
      'PUT',
      'a.txt',
      'stale',
      { last_commit_id: '1'.repeat(40) },
      refusal('You are attempting to update a file that has changed since you started editing it.'),
    ],
    [
      'DELETE',
      'a.txt',
      'stale',
      { last_commit_id: '1'.repeat(40) },
      refusal('You are attempting to delete a file that has been previously updated.'),
    ],
  ])('%s %s is refused: %s', async (method, path, _why, fields, answer) => {
    const body = { branch: 'free', commit_message: message, content: 'x', ...fields }
    expect(await developer.request(method, at(path), body)).toMatchObject(answer)
  })

  test('are changed by whoever knows the last commit', async () => {
    const file = await developer.get(`${at('a.txt')}?ref=free`)
    const last_commit_id = (file.body as Json)['last_commit_id'] as string
    const body = { branch: 'free', commit_message: message, content: 'b\n', last_commit_id }
    expect(await developer.put(at('a.txt'), body)).toMatchObject({ status: 200 })
    expect(await developer.put(at('a.txt'), body)).toMatchObject({ status: 400 })
  })

  test('of a protected branch are for those who may push there', async () => {
    const body = { branch: 'main', commit_message: message, content: 'x' }
    const mayNot = '403 Forbidden - You are not allowed to push into this branch'
    expect(await developer.post(at('p'), body)).toMatchObject({ status: 403, body: { message: mayNot } })
    expect(await reporter.post(at('p'), body)).toMatchObject({ status: 403, body: { message: mayNot } })
    expect(await maintainer.post(at('p'), body)).toMatchObject({ status: 201 })
  })

  test('of several megabytes go in and come out', async () => {
    const content = Buffer.alloc(6 * 1024 * 1024, 'guildhall').toString('base64')
    const body = { branch: 'free', commit_message: message, content, encoding: 'base64' }
    expect(await developer.post(at('large.bin'), body)).toMatchObject({ status: 201 })
    const { headers } = await raw('large.bin', 'free')
    expect(headers.get('x-gitlab-size')).toBe(String(6 * 1024 * 1024))
  })
})

describe('commits', () => {
  test('do all their actions in order', async () => {
    const name = branch()
    const made = await commit({
      branch: name,
      start_branch: 'main',
      actions: [
        { action: 'create', file_path: 'new/file', content: 'new\n', execute_filemode: true },
        { action: 'update', file_path: 'a.txt', content: 'Yg==', encoding: 'base64' },
        { action: 'move', file_path: 'moved.md', previous_path: 'docs/one.md' },
        { action: 'delete', file_path: 'docs/two.md' },
        { action: 'chmod', file_path: 'README.md', execute_filemode: true },
      ],
    })
    expect(made).toMatchObject({
      status: 201,
      body: {
        title: message,
        project_id: project['id'] as number,
        stats: { additions: 2, deletions: 2, total: 4 },
        status: null,
        last_pipeline: null,
      },
    })
    expect((await pathsOf(name)).toSorted()).toEqual(
      expect.arrayContaining(['README.md', 'a.txt', 'moved.md', 'new/file']),
    )
    expect(await pathsOf(name)).not.toContain('docs/one.md')
    const copy = await copies.clone(project, developer, '--branch', name)
    expect(await git(copy, 'ls-files', '-s', 'README.md', 'new/file')).toMatch(/^100755.*\n100755/)
    expect(await git(copy, 'fsck', '--strict')).toBe('')
  })

  test('do all or nothing', async () => {
    const name = branch()
    const answer = await commit({
      branch: name,
      start_branch: 'main',
      actions: [
        { action: 'create', file_path: 'x', content: 'x' },
        { action: 'delete', file_path: 'no' },
      ],
    })
    expect(answer).toMatchObject(refusal("A file with this name doesn't exist"))
    expect(await developer.get(`${base}/branches/${name}`)).toMatchObject({ status: 404 })
  })

  test('start from a commit, and anew by force', async () => {
    const { body: first } = await developer.get(`${base}/commits/main`)
    const start_sha = (first as Json)['id'] as string
    const name = branch()
    const actions = [{ action: 'create', file_path: 'x', content: 'x' }]
    expect(await commit({ branch: name, start_sha, actions })).toMatchObject({
      status: 201,
      body: { parent_ids: [start_sha] },
    })
    const again = { branch: name, start_sha, actions: [{ ...actions[0], content: 'y' }] }
    expect(await commit(again)).toMatchObject({ status: 400 })
    expect(await commit({ ...again, force: true })).toMatchObject({
      status: 201,
      body: { parent_ids: [start_sha] },
    })
    const unknown = '1'.repeat(40)
    expect(await commit({ branch: branch(), start_sha: unknown, actions })).toMatchObject(
      refusal(`Cannot find start_sha '${unknown}'`),
    )
    expect(await commit({ branch: branch(), start_sha: 'main', actions })).toMatchObject(
      refusal("Invalid start_sha 'main'"),
    )
    expect(await commit({ branch: branch(), start_sha, start_branch: 'main', actions })).toMatchObject({
      status: 400,
      body: { error: 'start_branch, start_sha are mutually exclusive' },
    })
  })

  test.each<[string, Json[], object]>([
    ['none', [], { status: 400, body: { error: 'actions is empty' } }],
    [
      'an unknown one',
      [{ action: 'burn', file_path: 'x' }],
      { status: 400, body: { error: 'actions[0][action] does not have a valid value' } },
    ],
    [
      'a move from nowhere',
      [{ action: 'move', file_path: 'x' }],
      { status: 400, body: { error: 'actions[0][previous_path] is missing' } },
    ],
    [
      'a change to nothing',
      [{ action: 'update', file_path: 'a.txt' }],
      { status: 400, body: { error: 'actions[0][content] is missing' } },
    ],
    [
      'a path that leads out',
      [{ action: 'create', file_path: 'a/../../x', content: '' }],
      { status: 400, body: { error: 'actions[0][file_path] should be a valid file path' } },
    ],
    [
      'a stale one',
      [{ action: 'update', file_path: 'a.txt', content: 'z', last_commit_id: '1'.repeat(40) }],
      refusal('The file has changed since you started editing it: a.txt'),
    ],
  ])('refuse these actions: %s', async (_what, actions, answer) => {
    expect(await commit({ branch: 'free', actions })).toMatchObject(answer)
  })

  test('may be empty when that is wanted', async () => {
    expect(await commit({ branch: 'free', actions: [], allow_empty: true })).toMatchObject({ status: 201 })
  })

  test('start from no project outside the network of forks', async () => {
    const other = await world.project({ visibility: 'public' })
    const body = { branch: branch(), start_branch: 'main', actions: [{ action: 'create', file_path: 'x' }] }
    expect(await commit({ ...body, start_project: other.id })).toMatchObject({
      status: 403,
      body: {
        message: `403 Forbidden - Project is not included in the fork network for ${project['name'] as string}`,
      },
    })
    expect(await commit({ ...body, start_project: 999_999 })).toMatchObject({ status: 404 })
    expect(await commit({ ...body, start_project: project['id'] as number })).toMatchObject({ status: 201 })
  })

  test('start from a branch of a fork, and from nowhere that the caller may not read', async () => {
    const fork = expectStatus(
      await maintainer.post(`/projects/${project['id'] as number}/fork`, { path: world.unique('fork') }),
      201,
    )
    const forked = `/projects/${fork['id'] as number}`
    await expect
      .poll(async () => ((await maintainer.get(forked)).body as Json)['import_status'], { interval: 20 })
      .toBe('finished')
    const file = { branch: 'only-there', start_branch: 'main', commit_message: 'x', content: 'of the fork' }
    expectStatus(await maintainer.post(`${forked}/repository/files/of-the-fork`, file), 201)
    const compare = async (who: Person) =>
      who.get(
        `/projects/${project['id'] as number}/repository/compare?from=only-there&to=main&straight=true&from_project_id=${fork['id'] as number}`,
      )
    expect((await compare(maintainer)).body).toMatchObject({
      diffs: [{ new_path: 'of-the-fork', deleted_file: true }],
    })
    const name = branch()
    const body = {
      branch: name,
      start_branch: 'only-there',
      start_project: fork['id'],
      commit_message: 'from a fork',
      actions: [{ action: 'create', file_path: 'ours', content: 'ours' }],
    }
    const commits = `/projects/${project['id'] as number}/repository/commits`
    expectStatus(await maintainer.post(commits, body), 201)
    expect(
      (
        await maintainer.get(
          `/projects/${project['id'] as number}/repository/files/of-the-fork/raw?ref=${name}`,
        )
      ).text,
    ).toBe('of the fork')
    // There it is now, and may not be begun anew without saying so.
    expect((await maintainer.post(commits, body)).status).toBe(400)
    expectStatus(await world.root.put(forked, { visibility: 'private' }), 200)
    const developer = await world.member({ project }, 'developer')
    expect((await developer.post(commits, { ...body, branch: branch() })).status).toBe(404)
    expect((await compare(developer)).status).toBe(404)
  })

  test('made at the same time: each is there or was told to try again', async () => {
    const name = branch()
    await commit({ branch: name, start_branch: 'main', actions: [{ action: 'create', file_path: '0' }] })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        commit({ branch: name, actions: [{ action: 'create', file_path: `f${index}`, content: 'x' }] }),
      ),
    )
    const lost = answers.filter(({ status }) => status !== 201)
    for (const answer of lost) {
      expect(answer).toMatchObject(
        refusal(`Could not update refs/heads/${name}. Please refresh and try again.`),
      )
    }
    const there = (await pathsOf(name)).filter((path) => path.startsWith('f'))
    expect(there).toHaveLength(answers.length - lost.length)
    expect(there.length).toBeGreaterThan(0)
  })
})
