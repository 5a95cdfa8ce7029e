import { afterAll, beforeAll, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Made, type World } from '../world/world.ts'

let world: World
let copies: Copies
let project: Made
let base: string
let maintainer: Person
let developer: Person
let copy: string

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project()
  base = `/projects/${project.id}/repository`
  maintainer = await world.member({ project }, 'maintainer')
  developer = await world.member({ project }, 'developer')
  copy = await copies.filled(project, maintainer)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test('a changelog out of the trailers of commits, kept in a file', async () => {
  const without = await maintainer.get(`${base}/changelog?version=1.0.0`)
  expect(without).toMatchObject({
    status: 422,
    body: {
      message:
        'Failed to generate the changelog: The commit start range is unspecified, and no previous tag could be found to use instead',
    },
  })
  await git(copy, 'tag', 'v1.0.0')
  const added = await copies.commit(copy, 'a', 'Add a\n\nChangelog: added')
  await copies.commit(copy, 'b', 'Not told')
  const fixed = await copies.commit(copy, 'c', 'Fix c\n\nChangelog: fixed')
  await git(copy, 'push', '--quiet', 'origin', 'HEAD:main', 'v1.0.0')
  const reference = (sha: string) => `${project.path_with_namespace}@${sha}`
  const notes = [
    ...['## 1.1.0 (2026-03-04)', '', '### fixed (1 change)', '', `- [Fix c](${reference(fixed)})`, ''],
    ...['### added (1 change)', '', `- [Add a](${reference(added)})`, ''],
  ].join('\n')
  const asked = { version: '1.1.0', date: '2026-03-04T00:00:00Z' }
  const told = await developer.get(`${base}/changelog?version=1.1.0&date=2026-03-04T00:00:00Z`)
  expect(told.body).toEqual({ notes })

  expect(await developer.post(`${base}/changelog`, asked)).toMatchObject({
    status: 403,
    body: { message: '403 Forbidden - You are not allowed to commit a changelog on this branch' },
  })
  expect((await maintainer.post(`${base}/changelog`, asked)).status).toBe(200)
  const file = `${base}/files/CHANGELOG.md/raw`
  expect((await maintainer.get(file)).text).toBe(notes)
  const second = { version: '1.2.0', date: asked.date, from: fixed, message: 'Tell of 1.2.0' }
  expect((await maintainer.post(`${base}/changelog`, second)).status).toBe(200)
  expect((await maintainer.get(file)).text).toBe(`## 1.2.0 (2026-03-04)\n\nNo changes.\n\n${notes}`)
  expect(rowsOf(await maintainer.get(`${base}/commits`))[0]).toMatchObject({ title: 'Tell of 1.2.0' })
  expect((await developer.get(`${base}/changelog?version=one`)).status).toBe(422)
})

test('is not made more than five times a minute', async () => {
  const reader = await world.member({ project }, 'reporter')
  const statuses: number[] = []
  for (let i = 0; i < 6; i += 1) {
    statuses.push((await reader.get(`${base}/changelog?version=2.0.0`)).status)
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
})

test('a submodule is pointed at another commit', async () => {
  const [first, second] = ['a'.repeat(40), 'b'.repeat(40)] as const
  await git(copy, 'checkout', '--quiet', '-b', 'with-module')
  await git(copy, 'update-index', '--add', '--cacheinfo', `160000,${first},lib/inner`)
  await git(copy, 'commit', '--quiet', '-m', 'Add a submodule')
  await git(copy, 'push', '--quiet', 'origin', 'with-module')
  const path = `${base}/submodules/${encodeURIComponent('lib/inner')}`
  const made = await developer.put(path, { branch: 'with-module', commit_sha: second })
  expect(made).toMatchObject({
    status: 200,
    body: { title: `Update submodule lib/inner with oid ${second}`, project_id: project.id },
  })
  const tree = rowsOf(await developer.get(`${base}/tree?ref=with-module&path=lib`))
  expect(tree).toMatchObject([{ id: second, type: 'commit', path: 'lib/inner', mode: '160000' }])
  expect(bodyOf(await developer.get(`${base}/commits/with-module`))['id']).toBe(bodyOf(made)['id'])
  const again = { branch: 'with-module', commit_sha: second }
  expect(await developer.put(path, again)).toMatchObject({
    status: 400,
    body: { message: `The submodule lib/inner is already at ${second}` },
  })
  expect(await developer.put(`${base}/submodules/README.md`, { ...again, commit_sha: first })).toMatchObject({
    status: 400,
    body: { message: 'Invalid submodule path' },
  })
  expect(await developer.put(path, { ...again, commit_sha: 'main' })).toMatchObject({
    status: 400,
    body: { error: 'commit_sha is invalid' },
  })
})
