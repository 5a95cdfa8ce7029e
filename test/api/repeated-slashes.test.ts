import { afterAll, beforeAll, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { expectStatus, startWorld, type Made, type World } from '../world/world.ts'

/** Clients put addresses together from pieces, some of which end in a slash, or begin with one. */
let world: World
let copies: Copies
let project: Made

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  project = await world.project({ visibility: 'public', initialize_with_readme: true })
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const look = (path: string): Promise<Response> =>
  fetch(world.url + path, { redirect: 'manual', headers: world.root.headers })

test('count as one, wherever they are', async () => {
  const paths = [
    '/api/v4//version',
    '//api/v4/version',
    '/api///v4/version/',
    `/api/v4/projects//${project.id}`,
    '//-/health',
    `//${project.path_with_namespace}/-//raw/main/README.md`,
  ]
  for (const path of paths) expect([path, (await look(path)).status]).toEqual([path, 200])
  expectStatus(await world.root.post('/features//some_feature', { value: 'true', force: true }), 201)
  expect(await (await look('/api/v4/features')).text()).toContain('some_feature')
  expect((await look('/api/v4//nothing')).status).toBe(404)
})

test('do so for git too', async () => {
  const { folder } = copies
  await git(folder, 'clone', '--quiet', `${world.url}//${project.path_with_namespace}.git`, 'copy')
  expect(await git(`${folder}/copy`, 'log', '--format=%s')).not.toBe('')
})

test('are not handed on in the addresses of further pages', async () => {
  const answer = await look('/api/v4//users?per_page=1&search=a//b')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('link')).toContain(`<${world.url}/api/v4/users?`)
  expect(answer.headers.get('link')).toContain('search=a%2F%2Fb')
})

test('are no names of images', async () => {
  const answer = await look('/v2//a/manifests/latest')
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('NAME_INVALID')
})
