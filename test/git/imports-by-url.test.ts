// @module-tag long
import { createHash } from 'node:crypto'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during, set } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
let upstream: Made
let ida: Person
/** The branches and tags of what is imported. */
let there: string

beforeAll(async () => {
  // Only mirrors take a paid plan.
  world = await startWorld({ PLAN: 'free' })
  copies = await Copies.open(world)
  await set(world, { allow_local_requests_from_web_hooks_and_services: true, import_sources: ['git'] })
  upstream = await world.project()
  ida = await world.user()
  const copy = await copies.fresh(upstream, world.root)
  await copies.commit(copy, { '.gitlab-ci.yml': 'build: {script: "true"}\n', 'README.md': '# Far away\n' })
  await git(copy, 'branch', '-M', 'trunk')
  await git(copy, 'push', '--quiet', 'origin', 'trunk')
  await git(copy, 'tag', 'v1')
  await git(copy, 'push', '--quiet', 'origin', 'trunk:side', 'v1')
  there = await refsOf(upstream)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const address = (token = world.root.token): string => copies.url(upstream, { username: 'oauth2', token })

const begin = (fields: Json, by: Person = ida): Promise<Reply> =>
  by.post('/projects', { name: world.unique('imported'), import_url: address(), ...fields })

async function refsOf(project: Json): Promise<string> {
  const url = copies.url(project, world.root)
  return (
    await copies.try(copies.folder, ['ls-remote', '--symref', url, 'HEAD', 'refs/heads/*', 'refs/tags/*'])
  ).stdout
}

/** How an import stands once it has ended. */
async function ended({ id }: Json): Promise<Json> {
  for (;;) {
    await world.settled()
    const told = expectStatus(await ida.get(`/projects/${id as number}/import`), 200)
    if (!['scheduled', 'started'].includes(told['import_status'] as string)) return told
    await sleep(20)
  }
}

describe('a project that is made from a repository elsewhere', () => {
  test('has its branches and tags, and begins nothing of its own', async () => {
    const made = expectStatus(await begin({ mirror: true, initialize_with_readme: true }), 201)
    expect(made).toMatchObject({
      import_type: 'git',
      import_url: copies.url(upstream, { username: '*****', token: '*****' }),
    })
    expect(['scheduled', 'started', 'finished']).toContain(made['import_status'])
    expect(await ended(made)).toMatchObject({
      import_status: 'finished',
      import_type: 'git',
      import_error: null,
    })
    expect(await refsOf(made)).toBe(there)
    expect((await ida.get(`/projects/${made['id'] as number}`)).body).toMatchObject({
      default_branch: 'trunk',
      empty_repo: false,
      import_status: 'finished',
      import_url: copies.url(upstream, { username: '*****', token: '*****' }),
    })
    await world.settled()
    expect((await ida.get(`/projects/${made['id'] as number}/pipelines`)).body).toEqual([])
  })

  test('is empty where nothing is there yet', async () => {
    const import_url = copies.url(await world.project(), world.root)
    const made = expectStatus(await begin({ import_url }), 201)
    expect(await ended(made)).toMatchObject({ import_status: 'finished', import_error: null })
    expect((await ida.get(`/projects/${made['id'] as number}`)).body).toMatchObject({ empty_repo: true })
    const copy = await copies.fresh(made, ida)
    await copies.commit(copy, { 'README.md': '# Begun here\n' })
    await git(copy, 'push', '--quiet', 'origin', 'HEAD:main')
    expect(await refsOf(made)).toContain('refs/heads/main')
  })

  test('says so where the repository has gone meanwhile', async () => {
    const token = await world.token(world.root.id, ['api', 'read_repository'])
    let made: Json = {}
    await during(world, { silent_mode_enabled: true }, async () => {
      made = expectStatus(await begin({ import_url: address(token) }), 201)
      const [{ id }] = (await world.root.get('/personal_access_tokens?sort=created_desc')).body as [
        { id: number },
      ]
      expectStatus(await world.root.delete(`/personal_access_tokens/${id}`), 204)
    })
    expect(await ended(made)).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringMatching(/login|no such repository/) as string,
    })
    expect((await ida.get(`/projects/${made['id'] as number}`)).body).toMatchObject({
      import_status: 'failed',
      empty_repo: true,
    })
  })
})

describe('large files', () => {
  const large = 'a large file'
  const named = (content: string) => ({
    oid: createHash('sha256').update(content).digest('hex'),
    size: Buffer.byteLength(content),
  })
  const pointer = (content: string): string => {
    const { oid, size } = named(content)
    return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`
  }
  const batch = async (of: Json, operation: 'upload' | 'download', content: string): Promise<Json> => {
    const reply = await fetch(`${copies.url(of)}/info/lfs/objects/batch`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}`,
        'content-type': 'application/vnd.git-lfs+json',
      },
      body: JSON.stringify({ operation, objects: [named(content)] }),
    })
    return ((await reply.json()) as { objects: [Json] }).objects[0]
  }
  const actionOf = ({ actions }: Json, name: string) =>
    (actions as Record<string, { href: string; header: Record<string, string> }>)[name]!

  const fetched = async (of: Json): Promise<string> => {
    const { href, header } = actionOf(await batch(of, 'download', large), 'download')
    return (await fetch(href, { headers: { authorization: header['Authorization']! } })).text()
  }

  /** A project with one large file, and one that is named but has never come. */
  async function source(): Promise<Made> {
    const project = await world.project()
    const { href, header } = actionOf(await batch(project, 'upload', large), 'upload')
    const headers = { authorization: header['Authorization']! }
    expect((await fetch(href, { method: 'PUT', headers, body: large })).status).toBe(200)
    const files = {
      '.gitattributes': '*.bin filter=lfs\n',
      'large.bin': pointer(large),
      'gone.bin': pointer('nowhere'),
    }
    const actions = Object.entries(files).map(([file_path, content]) => ({
      action: 'create',
      file_path,
      content,
    }))
    const commit = { branch: 'main', commit_message: 'Large', actions }
    expectStatus(await world.root.post(`/projects/${project.id}/repository/commits`, commit), 201)
    return project
  }

  test('come along, as far as they are there', async () => {
    const made = expectStatus(await begin({ import_url: copies.url(await source(), world.root) }), 201)
    expect(await ended(made)).toMatchObject({ import_status: 'finished', import_error: null })
    expect(await fetched(made)).toBe(large)
    expect(await batch(made, 'download', 'nowhere')).toMatchObject({ error: { code: 404 } })
  })

  test('stay away where none are served, and the code comes without', async () => {
    const from = await source()
    expectStatus(await world.root.put(`/projects/${from.id}`, { lfs_enabled: false }), 200)
    const made = expectStatus(await begin({ import_url: copies.url(from, world.root) }), 201)
    expect(await ended(made)).toMatchObject({ import_status: 'finished', import_error: null })
    expect(await refsOf(made)).toBe(await refsOf(from))
    expect(await batch(made, 'download', large)).toMatchObject({ error: { code: 404 } })
  })

  test('are what their names say, or all is tried again later', async () => {
    const from = await source()
    const answers = ['another file', large]
    const served: string[] = []
    const host = createServer((request, response) => {
      const path = request.url ?? ''
      if (path.endsWith('/objects/batch')) {
        const objects = [{ ...named(large), actions: { download: { href: `${at}/file` } } }]
        response.end(JSON.stringify({ objects }))
      } else if (path === '/file') {
        const answer = answers[served.length]!
        served.push(answer)
        response.end(answer)
      } else {
        // Code it has from where it is.
        const { host: _host, ...headers } = request.headers
        const passed = httpRequest(world.url + path, { method: request.method, headers }, (answer) => {
          response.writeHead(answer.statusCode!, answer.headers)
          answer.pipe(response)
        })
        request.pipe(passed)
      }
    })
    await new Promise<void>((done) => host.listen(0, '127.0.0.1', done))
    const at = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    try {
      const made = expectStatus(await begin({ import_url: copies.url(from, world.root, at) }), 201)
      expect(await ended(made)).toMatchObject({ import_status: 'finished', import_error: null })
      expect(served).toEqual(answers)
      expect(await refsOf(made)).toBe(await refsOf(from))
      expect(await fetched(made)).toBe(large)
    } finally {
      host.close()
    }
  })
})

describe('nothing is made', () => {
  const projects = async (): Promise<unknown> => (await ida.get('/projects?owned=true&simple=true')).body

  test('where nothing is imported by address', async () => {
    const before = await projects()
    await during(world, { import_sources: [] }, async () => {
      expect(await begin({})).toMatchObject({ status: 403 })
    })
    expect(await projects()).toEqual(before)
  })

  test.each([
    ['ssh://git@127.0.0.1:2222/a/b.git', 'is blocked: Only allowed schemes are http, https, git'],
    ['file:///etc', 'is blocked: Only allowed schemes are http, https, git'],
    ['http://', 'is blocked: URI is invalid'],
  ])('from %s', async (import_url, fault) => {
    expect(await begin({ import_url })).toMatchObject({
      status: 400,
      body: { message: { import_url: [fault] } },
    })
  })

  test('from a repository that does not answer as git does, or not to this login', async () => {
    const before = await projects()
    const refusal = {
      status: 422,
      body: { message: 'Unable to access repository with the URL and credentials provided' },
    }
    expect(await begin({ import_url: address('wrong') })).toMatchObject(refusal)
    expect(await begin({ import_url: copies.url('nobody/nothing', world.root) })).toMatchObject(refusal)
    expect(await begin({ import_url: `${world.url}/-/health` })).toMatchObject(refusal)
    expect(await begin({ import_url: 'http://127.0.0.1:1025/a.git' })).toMatchObject(refusal)
    expect(await projects()).toEqual(before)
  })

  test('where the address is closed to requests', async () => {
    await during(world, { allow_local_requests_from_web_hooks_and_services: false }, async () => {
      expect(await begin({ import_url: 'http://10.1.2.3/a.git' })).toMatchObject({
        status: 400,
        body: { message: { import_url: ['is blocked: Requests to the local network are not allowed'] } },
      })
    })
  })
})
