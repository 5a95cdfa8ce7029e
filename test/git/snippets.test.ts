// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git, type Login } from './copies.ts'

let world: World
let project: Made
let author: Person
let copies: Copies

beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  author = await world.member({ project }, 'developer')
  copies = await Copies.open(world)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const login = ({ username, token }: Person): Login => ({ username, token })
const snippet = async (where: string, fields: Json = {}): Promise<Json> => {
  const files = [{ file_path: 'a.txt', content: 'first\n' }]
  return expectStatus(await author.post(where, { title: 'x', visibility: 'private', files, ...fields }), 201)
}
const clone = (made: Json, by: Person): Promise<string> =>
  copies.clone({ path_with_namespace: pathOf(made) }, login(by))
/** As its address names it. */
const pathOf = ({ http_url_to_repo: url }: Json): string =>
  (url as string).replace(`${world.url}/`, '').replace(/\.git$/, '')

test('a snippet is cloned, changed and pushed, and the API shows what was pushed', async () => {
  const made = await snippet('/snippets')
  expect(pathOf(made)).toBe(`snippets/${made['id'] as number}`)
  const folder = await clone(made, author)
  expect(await git(folder, 'show', 'HEAD:a.txt')).toContain('first')
  await copies.commit(folder, { 'a.txt': 'second\n', 'dir/b.txt': 'b\n' })
  await git(folder, 'push', '--quiet', 'origin', 'HEAD')
  expect(bodyOf(await author.get(`/snippets/${made['id'] as number}`))).toMatchObject({
    files: [{ path: 'a.txt' }, { path: 'dir/b.txt' }],
  })
  expect((await author.get(`/snippets/${made['id'] as number}/raw`)).text).toBe('second\n')
  // And what is changed over the API the client gets.
  expectStatus(
    await author.put(`/snippets/${made['id'] as number}`, {
      files: [{ action: 'update', file_path: 'a.txt', content: 'third\n' }],
    }),
    200,
  )
  await git(folder, 'pull', '--quiet', 'origin', 'main')
  expect(await git(folder, 'show', 'HEAD:a.txt')).toContain('third')
})

test('a push keeps to one branch, to ten files and to the size that the instance allows', async () => {
  const made = await snippet(`/projects/${project.id}/snippets`)
  expect(pathOf(made)).toBe(`${project.path_with_namespace}/snippets/${made['id'] as number}`)
  const folder = await clone(made, author)
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await copies.try(folder, ['push', 'origin', ...args])
    expect(code).not.toBe(0)
    return stderr
  }
  expect(await refused('HEAD:refs/heads/other')).toContain('You can not create or delete branches.')
  expect(await refused(':refs/heads/main')).toContain('You can not create or delete branches.')
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, place) => [`f${place}`, 'x']))
  await copies.commit(folder, many)
  expect(await refused('HEAD')).toContain('The repository can contain at most 10 file(s).')
  await git(folder, 'reset', '--quiet', '--hard', 'origin/main')
  await git(folder, 'rm', '--quiet', 'a.txt')
  await git(folder, '-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--quiet', '-m', 'none')
  expect(await refused('HEAD')).toContain('The repository must contain at least 1 file.')
  await git(folder, 'reset', '--quiet', '--hard', 'origin/main')
  await copies.commit(folder, { 'a.txt': 'longer than that\n' })
  const { settings } = world.service.services
  await settings.change({ snippet_size_limit: 4 })
  expect(await refused('HEAD')).toContain('The maximum size is 4 Bytes.')
  await settings.change({ snippet_size_limit: 52_428_800 })
  await git(folder, 'push', '--quiet', 'origin', 'HEAD')
})

test('who may read a snippet clones it, and who may change it pushes', async () => {
  const guest = await world.member({ project }, 'guest')
  const stranger = await world.user()
  const ofProject = await snippet(`/projects/${project.id}/snippets`)
  const own = await snippet('/snippets')
  const open = await snippet('/snippets', { visibility: 'public' })
  const told = async (made: Json, by: Login): Promise<[number, string]> => {
    const { code, stderr } = await copies.try(copies.folder, ['ls-remote', copies.url(pathOf(made), by)])
    return [code === 0 ? 0 : 1, stderr]
  }
  const missing = expect.stringContaining('The snippet you were looking for could not be found.') as string
  expect(await told(ofProject, login(guest))).toEqual([0, ''])
  expect(await told(ofProject, login(stranger))).toEqual([1, missing])
  expect(await told(own, login(stranger))).toEqual([1, missing])
  expect((await told(own, undefined))[0]).toBe(1)
  expect(await told(open, undefined)).toEqual([0, ''])
  expect(await told({ http_url_to_repo: `${world.url}/snippets/999999.git` }, login(author))).toEqual([
    1,
    missing,
  ])
  // A snippet of a project is not one of nobody's.
  const elsewhere = { http_url_to_repo: `${world.url}/snippets/${ofProject['id'] as number}.git` }
  expect(await told(elsewhere, login(author))).toEqual([1, missing])
  for (const [made, by] of [
    [ofProject, guest],
    [open, stranger],
  ] as const) {
    const folder = await clone(made, by)
    await copies.commit(folder, { 'a.txt': 'x\n' })
    const { stderr } = await copies.try(folder, ['push', 'origin', 'HEAD'])
    expect(stderr).toContain('You are not allowed to update this snippet.')
  }
  const maintainer = await world.member({ project }, 'maintainer')
  const folder = await clone(ofProject, maintainer)
  await copies.commit(folder, { 'a.txt': 'by another one\n' })
  await git(folder, 'push', '--quiet', 'origin', 'HEAD')
})
