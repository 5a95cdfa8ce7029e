import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pkt } from '../../src/git/pkt-line.ts'
import { rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'
import { runningJob } from './jobs.ts'

let world: World
let copies: Copies
let closed: Json
let open: Json
let developer: Person
let guest: Person
let stranger: Person

beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
  closed = await world.project()
  open = await world.project({ visibility: 'public' })
  developer = await world.member({ project: closed }, 'developer')
  guest = await world.member({ project: closed }, 'guest')
  stranger = await world.user()
  await copies.filled(closed)
  await copies.filled(open)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const denied = /^HTTP Basic: Access denied\. If a password was provided .* improperly scoped\. See http/
const missing = "The project you were looking for could not be found or you don't have permission to view it."
const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

function ask(
  project: Json,
  service: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Response> {
  const url = `${world.url}/${project['path_with_namespace'] as string}.git/info/refs?service=${service}`
  return fetch(url, { method, headers, redirect: 'manual' })
}

async function verdict(project: Json, service: string, headers: Record<string, string> = {}) {
  const response = await ask(project, service, headers)
  return { status: response.status, text: response.status === 200 ? '' : await response.text() }
}

const fetching = 'git-upload-pack'
const pushing = 'git-receive-pack'

describe('answers', () => {
  test('an advertisement, with the headers that keep proxies from keeping it', async () => {
    const response = await ask(open, fetching)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement')
    expect(response.headers.get('cache-control')).toBe('no-cache, max-age=0, must-revalidate')
    expect(await response.text()).toMatch(/^001e# service=git-upload-pack\n0000/)
    const second = await ask(open, fetching, { 'git-protocol': 'version=2' })
    expect(await second.text()).toMatch(/^000eversion 2\n/)
  })

  test('the dumb protocol and HEAD are refused', async () => {
    const url = `${world.url}/${open['path_with_namespace'] as string}.git`
    expect((await fetch(`${url}/info/refs`)).status).toBe(403)
    expect((await fetch(`${url}/info/refs?service=git-upload-archive`)).status).toBe(403)
    expect((await ask(open, fetching, {}, 'HEAD')).status).toBe(403)
    for (const path of ['/HEAD', '/objects/info/packs', '/config']) {
      expect((await fetch(`${url}${path}`)).status).toBe(404)
    }
  })

  test('without .git: a redirect for info/refs, nothing for the rest', async () => {
    const url = `${world.url}/${open['path_with_namespace'] as string}`
    const moved = await fetch(`${url}/info/refs?service=git-upload-pack`, { redirect: 'manual' })
    expect(moved.status).toBe(301)
    expect(moved.headers.get('location')).toBe(`${url}.git/info/refs?service=git-upload-pack`)
    expect((await fetch(`${url}/git-upload-pack`, { method: 'POST' })).status).toBe(404)
    const clone = await copies.try(copies.folder, ['clone', '--quiet', url, 'without-suffix'])
    expect(clone).toMatchObject({ code: 0 })
  })

  test('other addresses are as they were', async () => {
    for (const path of [
      '/api/v4/nothing',
      '/nothing',
      '/a/b/c',
      '/-/nothing',
      '/api/x.git/info/refs?service=git-upload-pack',
    ]) {
      const response = await fetch(world.url + path)
      expect([path, response.status, await response.text()]).toEqual([path, 404, '{"error":"404 Not Found"}'])
    }
    const post = await fetch(`${world.url}/a/b`, { method: 'POST' })
    expect([post.status, await post.text()]).toEqual([404, '{"error":"404 Not Found"}'])
    const method = await fetch(`${world.url}/api/v4/projects`, { method: 'PATCH' })
    expect(method.status).toBe(405)
    const put = await fetch(`${world.url}/${open['path_with_namespace'] as string}.git/info/refs`, {
      method: 'PUT',
    })
    expect(put.status).toBe(404)
    const odd = await fetch(`${world.url}/a/%00.git/info/refs?service=git-upload-pack`)
    expect(odd.status).toBe(404)
  })

  test('a body of another kind is refused', async () => {
    const url = `${world.url}/${open['path_with_namespace'] as string}.git/git-upload-pack`
    const type = await fetch(url, { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } })
    expect(type.status).toBe(415)
    const headers = { 'content-type': 'application/x-git-upload-pack-request', 'content-encoding': 'br' }
    expect((await fetch(url, { method: 'POST', body: 'x', headers })).status).toBe(415)
  })

  test('nonsense and bombs end the conversation, not the service', async () => {
    const url = `${world.url}/${open['path_with_namespace'] as string}.git/git-upload-pack`
    const type = { 'content-type': 'application/x-git-upload-pack-request' }
    const bomb = gzipSync(
      Buffer.concat(Array.from({ length: 4000 }, () => pkt(`have ${'0'.repeat(40)}${' '.repeat(60_000)}`))),
    )
    const bodies: [Buffer | string, Record<string, string>][] = [
      ['nonsense', {}],
      ['', {}],
      ['zzzz', { 'git-protocol': 'version=2' }],
      ['no gzip', { 'content-encoding': 'gzip' }],
      [bomb, { 'content-encoding': 'gzip' }],
      [bomb, { 'content-encoding': 'gzip', 'git-protocol': 'version=2' }],
    ]
    for (const [body, headers] of bodies) {
      const answer = await fetch(url, {
        method: 'POST',
        body: body as never,
        headers: { ...type, ...headers },
      })
        .then(async (response) => (await response.arrayBuffer()).byteLength)
        .catch(() => 0)
      expect(answer).toBeLessThan(10_000)
    }
    expect((await ask(open, fetching)).status).toBe(200)
  })
})

describe('who may', () => {
  test('everybody fetches what is public; pushing needs a name', async () => {
    expect(await verdict(open, fetching)).toEqual({ status: 200, text: '' })
    expect(await verdict(open, pushing)).toEqual({
      status: 401,
      text: expect.stringMatching(denied) as string,
    })
    expect((await ask(open, pushing)).headers.get('www-authenticate')).toBe('Basic realm="Guildhall"')
  })

  test('nobody learns whether a private project exists', async () => {
    const nothing = { path_with_namespace: 'no/such/project' }
    for (const service of [fetching, pushing]) {
      expect(await verdict(closed, service)).toEqual({
        status: 401,
        text: expect.stringMatching(denied) as string,
      })
      expect(await verdict(nothing, service)).toEqual({
        status: 401,
        text: expect.stringMatching(denied) as string,
      })
      const as = basic(stranger.username, stranger.token)
      // Of a namespace that nobody may know of, pushing tells no more than that.
      const text = service === pushing ? 'The namespace you were looking for could not be found.' : missing
      expect(await verdict(closed, service, as)).toEqual({ status: 404, text })
      expect(await verdict(nothing, service, as)).toEqual({ status: 404, text })
    }
  })

  test('by role', async () => {
    const as = (person: Person) => basic('any', person.token)
    expect(await verdict(closed, fetching, as(guest))).toEqual({
      status: 403,
      text: 'You are not allowed to download code from this project.',
    })
    expect(await verdict(closed, pushing, as(guest))).toEqual({
      status: 403,
      text: 'You are not allowed to push code to this project.',
    })
    expect(await verdict(closed, fetching, as(developer))).toMatchObject({ status: 200 })
    expect(await verdict(closed, pushing, as(developer))).toMatchObject({ status: 200 })
    expect(await verdict(open, pushing, as(stranger))).toMatchObject({ status: 403 })
    expect(await verdict(closed, pushing, as(world.root))).toMatchObject({ status: 200 })
    const reporter = await world.member({ project: closed }, 'reporter')
    expect(await verdict(closed, fetching, as(reporter))).toMatchObject({ status: 200 })
    expect(await verdict(closed, pushing, as(reporter))).toMatchObject({ status: 403 })
  })

  test.each([
    ['api', 200, 200],
    ['write_repository', 200, 200],
    ['read_repository', 200, 403],
    ['read_api', 200, 403],
    ['read_user', 401, 401],
  ])('a token with the scope %s: fetch %d, push %d', async (scope, fetched, pushed) => {
    const as = basic('', await world.token(developer.id, [scope]))
    expect((await verdict(closed, fetching, as)).status).toBe(fetched)
    const push = await verdict(closed, pushing, as)
    expect(push.status).toBe(pushed)
    if (pushed === 403) expect(push.text).toBe('You are not allowed to upload code.')
  })

  test('a token counts under any name, that of job tokens too', async () => {
    for (const name of ['', 'oauth2', 'nobody', stranger.username, 'gitlab-ci-token']) {
      expect((await verdict(closed, pushing, basic(name, developer.token))).status).toBe(200)
    }
    expect((await verdict(closed, pushing, basic('gitlab-ci-token', 'glcbt-x'))).status).toBe(401)
  })

  test('the use of a token is noted', async () => {
    const token = await world.token(developer.id, ['read_repository'])
    await verdict(closed, fetching, basic('x', token))
    const used = async () => {
      const tokens = rowsOf(
        await world.root.get(`/personal_access_tokens?user_id=${developer.id}&sort=created_desc`),
      )
      return Math.max(
        ...tokens.map((known) => Date.parse((known['last_used_at'] as string | null) ?? '1970')),
      )
    }
    await expect.poll(used).toBeGreaterThan(Date.now() - 60_000)
  })

  test('what is no credential', async () => {
    for (const headers of [
      basic('x', 'nothing'),
      basic('x', ''),
      basic('x\0', 'y'),
      basic(developer.username, ''),
      { authorization: 'Basic ???' },
      { authorization: 'Bearer x' },
      { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    ]) {
      expect((await verdict(open, fetching, headers)).status).toBe(401)
    }
  })

  test('revoked, expired, blocked', async () => {
    const person = await world.member({ project: closed }, 'developer')
    const as = basic('x', person.token)
    expect((await verdict(closed, fetching, as)).status).toBe(200)
    const token = await world.token(person.id, ['api'])
    const tokens = (await world.root.get(`/personal_access_tokens?user_id=${person.id}`)).body as Json[]
    const newest = Math.max(...tokens.map((known) => known['id'] as number))
    await world.root.delete(`/personal_access_tokens/${newest}`)
    expect((await verdict(closed, fetching, basic('x', token))).status).toBe(401)
    await world.root.post(`/users/${person.id}/block`)
    expect(await verdict(closed, fetching, as)).toEqual({
      status: 403,
      text: 'Your account has been blocked.',
    })
  })

  test('a password, by name or address', async () => {
    const password = 'a long enough passw0rd: ü'
    const person = await world.user({ password, force_random_password: false, reset_password: false })
    await world.root.post(`/projects/${closed['id'] as number}/members`, {
      user_id: person.id,
      access_level: 30,
    })
    expect((await verdict(closed, fetching, basic(person.username, password))).status).toBe(200)
    expect((await verdict(closed, pushing, basic(`${person.username}@Example.com`, password))).status).toBe(
      200,
    )
    expect((await verdict(closed, fetching, basic(person.username, 'wrong'))).status).toBe(401)
    expect((await verdict(open, fetching, basic(person.username, 'wrong'))).status).toBe(401)
  })

  test('the token of a running job fetches its project and what is open', async () => {
    const other = await world.project()
    await copies.filled(other)
    const job = await runningJob(world, copies, closed, developer)
    const as = basic('gitlab-ci-token', job.token)
    expect((await verdict(closed, fetching, as)).status).toBe(200)
    expect((await verdict(open, fetching, as)).status).toBe(200)
    await world.root.post(`/projects/${other['id']}/members`, {
      user_id: developer.id,
      access_level: 30,
    })
    expect(await verdict(other, fetching, as)).toEqual({ status: 404, text: missing })
    expect(await verdict(closed, pushing, as)).toEqual({
      status: 403,
      text: 'You are not allowed to upload code.',
    })
    expect((await verdict(closed, fetching, basic('somebody', job.token))).status).toBe(401)
    const allowed = { ci_push_repository_for_job_token_allowed: true }
    for (const project of [closed, other]) await world.root.put(`/projects/${project['id']}`, allowed)
    expect((await verdict(closed, pushing, as)).status).toBe(200)
    expect((await verdict(other, pushing, as)).status).toBe(403)
    const clone = await copies.clone(closed, { username: 'gitlab-ci-token', token: job.token })
    expect(await git(clone, 'log', '--oneline')).toContain('Add README.md')
    await git(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/by-a-job')
    expect((await developer.get(`/projects/${closed['id']}/repository/branches/by-a-job`)).status).toBe(200)
    await job.end()
    expect((await verdict(closed, fetching, as)).status).toBe(401)
  })

  test('archived: reading goes on, pushing does not', async () => {
    const project = await world.project()
    await copies.filled(project)
    await world.root.post(`/projects/${project['id']}/archive`)
    const as = basic('x', world.root.token)
    expect((await verdict(project, fetching, as)).status).toBe(200)
    expect(await verdict(project, pushing, as)).toEqual({
      status: 403,
      text: "You can't push code to an archived project.",
    })
  })

  test('a switched off repository is off for members too', async () => {
    const project = await world.project()
    await copies.filled(project)
    await world.root.put(`/projects/${project['id']}`, { repository_access_level: 'disabled' })
    const as = basic('x', world.root.token)
    expect((await verdict(project, fetching, as)).status).toBe(403)
    expect((await verdict(project, pushing, as)).status).toBe(403)
  })
})

test('a project that moved is found by its old path, and says so after a push', async () => {
  const project = await world.project()
  const copy = await copies.filled(project)
  const name = world.unique('renamed')
  const renamed = (await world.root.put(`/projects/${project['id']}`, { path: name })).body as Json
  expect(renamed['path']).toBe(name)
  expect((await copies.try(copy, ['fetch', 'origin'])).code).toBe(0)
  await copies.commit(copy, 'more')
  const { code, stderr } = await copies.try(copy, ['push', 'origin', 'main'])
  expect(code).toBe(0)
  expect(stderr).toContain(
    `remote: Project '${project['path_with_namespace']}' was moved to '${renamed['path_with_namespace'] as string}'.`,
  )
  expect(stderr).toContain(`git remote set-url origin ${copies.url(renamed)}`)
})

test('at any depth of groups, in any letter case', async () => {
  const top = await world.group()
  const middle = await world.group({ parent_id: top['id'] })
  const project = await world.project({ namespace_id: middle['id'] })
  const copy = await copies.filled(project)
  const path = project['path_with_namespace'].toUpperCase()
  const told = await copies.try(copy, ['ls-remote', copies.url(path, world.root)])
  expect(told.stdout).toContain('refs/heads/main')
})
