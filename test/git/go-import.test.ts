import { afterAll, beforeAll, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Made, type World } from '../world/world.ts'
import { Copies } from './copies.ts'
import { runningJob } from './jobs.ts'

/** What the `go` command is told about where the code of a module is. */
let world: World
let copies: Copies
let open: Made
let closed: Made
let member: Person

beforeAll(async () => {
  world = await startWorld({ SSH_PORT: '0' })
  copies = await Copies.open(world)
  const nested = async (visibility: string): Promise<Made> => {
    const { id } = await world.group({ visibility })
    const { id: namespace_id } = await world.group({ visibility, parent_id: id })
    return world.project({ visibility, namespace_id })
  }
  open = await nested('public')
  closed = await nested('private')
  member = await world.member({ project: closed }, 'developer')
  await copies.filled(closed)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const basic = (username: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${world.url}/${path}?go-get=1`, { headers, redirect: 'manual' })

/** The paths of the module and of the repository. */
async function told(path: string, headers?: Record<string, string>): Promise<unknown> {
  const answer = await ask(path, headers)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const content = /<meta name="go-import" content="([^"]*)"/.exec(await answer.text())![1]!
  const host = new URL(world.url).host
  return content.replace(`${host}/`, '').replace(`${world.url}/`, '')
}
const at = (path: string): string => `${path} git ${path}.git`
const guessOf = ({ path_with_namespace: path }: Made): string => path.split('/').slice(0, 2).join('/')

test('a project in nested groups, and what is below it', async () => {
  const path = open.path_with_namespace
  expect(path.split('/')).toHaveLength(3)
  for (const asked of [path, `${path}/`, `${path}/pkg/a`, `${path}/v2`, path.toUpperCase()])
    expect([asked, await told(asked)]).toEqual([asked, at(path)])
})

test('nobody learns what he may not know of', async () => {
  const guess = at(guessOf(closed))
  const path = closed.path_with_namespace
  const stranger = await world.user()
  expect(await told(path)).toBe(guess)
  expect(await told(`${path}/pkg`)).toBe(guess)
  expect(await told(`${path}/pkg`, basic(stranger.username, stranger.token))).toBe(guess)
  expect(await told(`${guessOf(closed)}/nothing/pkg`)).toBe(guess)
  expect(await told('no-group/no-project/pkg')).toBe(at('no-group/no-project'))
})

test('who may fetch it is told, by the login that git would show', async () => {
  const path = closed.path_with_namespace
  expect(await told(`${path}/pkg`, basic(member.username, member.token))).toBe(at(path))
  const job = await runningJob(world, copies, closed, world.root)
  expect(await told(path, basic('gitlab-ci-token', job.token))).toBe(at(path))
  await job.end()
  const made = await world.root.post(`/projects/${closed.id}/deploy_tokens`, {
    name: 'go',
    scopes: ['read_repository'],
  })
  const { username, token } = expectStatus(made, 201)
  expect(await told(path, basic(username as string, token as string))).toBe(at(path))
})

test('a wrong password finds nothing, wherever it is shown', async () => {
  for (const path of [closed.path_with_namespace, open.path_with_namespace, 'no-group/no-project']) {
    for (const headers of [basic(member.username, 'glpat-wrong'), { authorization: 'Bearer x' }])
      expect((await ask(path, headers)).status).toBe(404)
  }
})

test('where git is served over SSH alone, so is the module', async () => {
  const path = open.path_with_namespace
  await during(world, { enabled_git_access_protocol: 'ssh' }, async () => {
    const port = world.service.sshPort!
    expect(await told(`${path}/pkg`)).toBe(`${path} git ssh://git@127.0.0.1:${port}/${path}.git`)
  })
})

test('other requests are none of these', async () => {
  const path = open.path_with_namespace
  expect((await fetch(`${world.url}/${path}?go-get=0`)).status).toBe(404)
  expect((await ask('only-a-group')).status).toBe(404)
  expect((await ask('-/a/b')).status).toBe(404)
  expect((await ask(`${path}%zz`)).status).toBe(400)
  const script = await ask(`a/b%22%3E%3Cscript%3E`)
  expect(await script.text()).not.toContain('<script>')
  expect(await told(`${path}/-/tree/main`)).toBe(at(path))
})
