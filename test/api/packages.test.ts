import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sql } from 'kysely'
import { runPackagePolicies } from '../../src/areas/packages/index.ts'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const packagesOf = ({ id }: { id: unknown }): string => `/projects/${id as number}/packages`
const fileOf = (project: { id: unknown }, name = 'tool/1.0/tool.bin'): string =>
  `${packagesOf(project)}/generic/${name}`

async function publish(project: Made, name?: string, content: string | Buffer = 'content'): Promise<Json> {
  return expectStatus(await world.root.put(`${fileOf(project, name)}?select=package_file`, content), 201)
}

const basic = (username: string, password: string): Client =>
  new Client(world.url, {
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  })

const hash = (algorithm: string, content: Buffer): string =>
  createHash(algorithm).update(content).digest('hex')

describe('a generic package', () => {
  test('is published file by file, fetched, listed and deleted', async () => {
    const project = await world.project()
    const content = randomBytes(300_000)
    const plain = await world.root.put(fileOf(project), content)
    expect([plain.status, plain.body]).toEqual([201, { message: '201 Created' }])
    const file = await publish(project, 'tool/1.0/docs/read%20me'.replace('%20', '+'), content)
    expect(file).toMatchObject({
      file_name: 'docs/read+me',
      size: 300_000,
      file_md5: hash('md5', content),
      file_sha1: hash('sha1', content),
      file_sha256: hash('sha256', content),
    })
    const got = await fetch(`${world.url}/api/v4${fileOf(project, 'tool/1.0/docs/read+me')}`, {
      headers: world.root.headers,
    })
    expect(Buffer.from(await got.arrayBuffer()).equals(content)).toBe(true)
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '300000',
      'content-disposition': expect.stringContaining('attachment; filename="read+me"') as string,
      'x-checksum-sha256': hash('sha256', content),
    })

    const [listed, ...others] = rowsOf(await world.root.get(packagesOf(project)))
    expect(others).toEqual([])
    expect(listed).toMatchObject({
      id: file['package_id'],
      name: 'tool',
      version: '1.0',
      package_type: 'generic',
      status: 'default',
      last_downloaded_at: expect.any(String) as string,
      tags: [],
      pipelines: [],
      _links: {
        web_path: `/${project.path_with_namespace}/-/packages/${file['package_id'] as number}`,
        delete_api_path: `${world.url}/api/v4${packagesOf(project)}/${file['package_id'] as number}`,
      },
    })
    const one = `${packagesOf(project)}/${file['package_id'] as number}`
    expect(bodyOf(await world.root.get(one))).toEqual({ ...listed, versions: [] })
    const files = rowsOf(await world.root.get(`${one}/package_files`))
    expect(files.map(({ file_name }) => file_name as string)).toEqual(['tool.bin', 'docs/read+me'])
    expect((await world.root.delete(`${one}/package_files/${file['id'] as number}`)).status).toBe(204)
    expect((await world.root.get(fileOf(project, 'tool/1.0/docs/read+me'))).status).toBe(404)
    expect((await world.root.delete(one)).status).toBe(204)
    expect((await world.root.get(one)).status).toBe(404)
    expect((await world.root.get(fileOf(project))).status).toBe(404)
  })

  test('has the newest file of a name, in parts too, and its content goes with the last file that has it', async () => {
    const project = await world.project()
    const text = world.unique('content')
    await publish(project, undefined, 'old')
    const newer = await publish(project, undefined, text)
    const twin = await publish(project, 'tool/2.0/tool.bin', text)
    expect((await world.root.get(fileOf(project))).text).toBe(text)
    const part = await world.root.get(fileOf(project), { range: 'bytes=3-6' })
    expect([part.status, part.text]).toEqual([206, text.slice(3, 7)])
    expect((await world.root.get(fileOf(project), { range: 'bytes=999-' })).status).toBe(416)
    const etag = (await world.root.get(fileOf(project))).headers.get('etag')!
    expect((await world.root.get(fileOf(project), { 'if-none-match': etag })).status).toBe(304)
    const [version] = bodyOf(await world.root.get(`${packagesOf(project)}/${newer['package_id'] as number}`))[
      'versions'
    ] as Json[]
    expect(version).toMatchObject({ id: twin['package_id'], version: '2.0' })

    const stored = path.join(
      world.directory,
      'packages',
      ...[0, 2].map((at) => (twin['file_sha256'] as string).slice(at, at + 2)),
    )
    await world.root.delete(`${packagesOf(project)}/${twin['package_id'] as number}`)
    expect((await world.root.get(fileOf(project))).text).toBe(text)
    await world.root.delete(`${packagesOf(project)}/${newer['package_id'] as number}`)
    await vi.waitFor(async () => expect(await readdir(stored)).toEqual([]), {
      interval: 20,
      timeout: 30_000,
    })
  })

  test('may be hidden from lists', async () => {
    const project = await world.project()
    expectStatus(await world.root.put(`${fileOf(project)}?status=hidden`, 'x'), 201)
    expect(rowsOf(await world.root.get(packagesOf(project)))).toEqual([])
    expect(rowsOf(await world.root.get(`${packagesOf(project)}?status=hidden`))).toHaveLength(1)
    expect((await world.root.get(fileOf(project))).status).toBe(200)
  })

  test.for([
    ['a b/1.0/f', 'package_name'],
    ['..%2f..%2fetc/1.0/f', 'package_name'],
    ['tool/1..0/f', 'package_version'],
    ['tool/1.0/~f', 'file_name'],
    ['tool/1.0/..%2ff', 'file_name'],
    ['tool/1.0/a%2f%2fb', 'file_name'],
    ['tool/1.0/%00', undefined],
    [`tool/1.0/${'x'.repeat(256)}`, 'file_name'],
  ] as const)('is refused as %s', async ([name, fault]) => {
    const project = await world.project()
    const reply = await world.root.put(fileOf(project, name), 'x')
    expect(reply.status).toBe(400)
    if (fault !== undefined) expect(reply.body).toEqual({ message: `400 Bad request - ${fault} is invalid` })
  })

  test('is not larger than the limit of the instance, whether it says so or not', async () => {
    const project = await world.project()
    const limits = '/application/plan_limits?plan_name=default'
    const before = bodyOf(await world.root.get(limits))['generic_packages_max_file_size'] as number
    expectStatus(await world.root.put(limits, { generic_packages_max_file_size: 10 }), 200)
    const refusal = { message: '400 Bad request - File is too large' }
    try {
      const told = await world.root.put(fileOf(project), 'x'.repeat(11))
      expect([told.status, told.body]).toEqual([400, refusal])
      expect(await chunked(fileOf(project), 'x'.repeat(11))).toEqual([400, refusal])
      expect((await world.root.put(fileOf(project), 'x'.repeat(10))).status).toBe(201)
    } finally {
      expectStatus(await world.root.put(limits, { generic_packages_max_file_size: before }), 200)
    }
    expect((await world.root.put(fileOf(project), 'x'.repeat(11))).status).toBe(201)
  })

  test('of which an upload broke off is not there', async () => {
    const project = await world.project()
    const upload = request(`${world.url}/api/v4${fileOf(project)}`, {
      method: 'PUT',
      headers: { ...world.root.headers, 'content-length': '1000' },
    })
    upload.on('error', () => undefined)
    upload.write('begun')
    const soon = { interval: 20, timeout: 30_000 }
    await vi.waitFor(async () => expect(await incoming()).toHaveLength(1), soon)
    upload.destroy()
    await vi.waitFor(async () => expect(await incoming()).toEqual([]), soon)
    expect((await world.root.get(fileOf(project))).status).toBe(404)
  })
})

const incoming = (): Promise<string[]> =>
  readdir(path.join(world.directory, 'packages', 'incoming')).catch(() => [])

/** Sends a body without saying how long it is. */
function chunked(at: string, text: string): Promise<[number, unknown]> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${world.url}/api/v4${at}`,
      { method: 'PUT', headers: { ...world.root.headers, 'transfer-encoding': 'chunked' } },
      (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += chunk.toString()))
        response.on('end', () => resolve([response.statusCode!, JSON.parse(body)]))
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}

describe('who comes with a token', () => {
  const token = async (place: string, ...scopes: string[]): Promise<{ username: string; token: string }> =>
    expectStatus(await world.root.post(`${place}/deploy_tokens`, { name: 'd', scopes }), 201) as never

  const tries = async (client: Client, project: Made): Promise<number[]> => {
    const replies: Reply[] = [
      await client.put(fileOf(project), 'x'),
      await client.get(fileOf(project)),
      await client.get(packagesOf(project)),
    ]
    return replies.map(({ status }) => status)
  }

  test('of a user publishes by the header and by HTTP Basic', async () => {
    const project = await world.project()
    const developer = await world.member({ project }, 'developer')
    expect(await tries(developer, project)).toEqual([201, 200, 200])
    expect(await tries(basic('anything', developer.token), project)).toEqual([201, 200, 200])
    expect(await tries(basic(developer.username, 'wrong'), project)).toEqual([401, 401, 401])
    expect(await tries(new Client(world.url), project)).toEqual([401, 404, 404])
    const reader = await world.token(developer.id, ['read_api'])
    expect(await tries(basic('x', reader), project)).toEqual([403, 200, 200])
    // Elsewhere HTTP Basic is nothing.
    expect((await basic('x', developer.token).get(`/projects/${project.id}`)).status).toBe(404)
  })

  test('of a project or group that deploys does what its scopes say, where it reaches', async () => {
    const group = await world.group()
    const project = await world.project({ namespace_id: group.id })
    const other = await world.project()
    const writer = await token(`/projects/${project.id}`, 'read_package_registry', 'write_package_registry')
    const reader = await token(`/groups/${group.id}`, 'read_package_registry')
    const cloner = await token(`/projects/${project.id}`, 'read_repository')
    const header = (one: { token: string }) => new Client(world.url, { 'deploy-token': one.token })
    expect(await tries(header(writer), project)).toEqual([201, 200, 200])
    expect(await tries(basic(writer.username, writer.token), project)).toEqual([201, 200, 200])
    expect(await tries(header(reader), project)).toEqual([403, 200, 200])
    expect(await tries(header(cloner), project)).toEqual([403, 403, 403])
    await publish(other)
    expect(await tries(header(writer), other)).toEqual([404, 404, 404])
    expect(await tries(header(reader), other)).toEqual([404, 404, 404])
    expect(await tries(header({ token: 'gldt-nonsense' }), project)).toEqual([401, 401, 401])
    const listed = rowsOf(await header(reader).get(packagesOf(project)))
    expect(listed[0]!['_links']).not.toHaveProperty('delete_api_path')
    // Deploy tokens are nobody elsewhere.
    expect((await header(writer).get(`/projects/${project.id}`)).status).toBe(404)
  })

  test('of a job publishes in its own project, and the package names the pipeline', async () => {
    const ci = await projects.make({ test: { script: ['x'] } })
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    const job = await runner.take()
    const project = ci.project as Made
    expect(await tries(new Client(world.url, { 'job-token': job.token }), project)).toEqual([201, 200, 200])
    expect(await tries(basic('gitlab-ci-token', job.token), project)).toEqual([201, 200, 200])
    const [made] = rowsOf(await world.root.get(packagesOf(project)))
    expect(made!['pipeline']).toMatchObject({ project_id: project.id, ref: 'main', status: 'running' })
    const other = await world.project()
    await publish(other)
    expect(await tries(basic('gitlab-ci-token', job.token), other)).toEqual([404, 404, 404])
  })
})

describe('the packages of', () => {
  test('a project are filtered and ordered', async () => {
    const project = await world.project()
    for (const name of ['beta/1/f', 'alpha/2/f', 'alphabet/3/f']) await publish(project, name)
    const names = async (query: string): Promise<unknown[]> =>
      rowsOf(await world.root.get(`${packagesOf(project)}?${query}`)).map(({ name }) => name)
    expect(await names('')).toEqual(['beta', 'alpha', 'alphabet'])
    expect(await names('order_by=name&sort=desc')).toEqual(['beta', 'alphabet', 'alpha'])
    expect(await names('order_by=version')).toEqual(['beta', 'alpha', 'alphabet'])
    expect(await names('order_by=type&sort=desc&per_page=1')).toEqual(['alphabet'])
    expect(await names('package_name=PHA')).toEqual(['alpha', 'alphabet'])
    expect(await names('package_version=3')).toEqual(['alphabet'])
    expect(await names('package_type=npm')).toEqual([])
    expect((await world.root.get(`${packagesOf(project)}?package_type=zip`)).status).toBe(400)
  })

  test('a group are those that the caller may read', async () => {
    const group = await world.group({ visibility: 'public' })
    const below = await world.group({ parent_id: group.id, visibility: 'public' })
    const open = await world.project({ namespace_id: group.id, visibility: 'public' })
    const closed = await world.project({ namespace_id: below.id })
    await publish(open, 'open/1/f')
    await publish(closed, 'closed/1/f')
    const names = async (client: Client, query = ''): Promise<unknown[]> =>
      rowsOf(await client.get(`/groups/${group.id}/packages?order_by=project_path&${query}`)).map(
        ({ name, project_id, project_path }) => [name, project_id, project_path],
      )
    const shownOpen = ['open', open.id, open.path_with_namespace]
    const shownClosed = ['closed', closed.id, closed.path_with_namespace]
    expect(await names(world.root)).toEqual(
      [shownOpen, shownClosed].sort(([, , one], [, , other]) => (String(one) < String(other) ? -1 : 1)),
    )
    expect(await names(world.root, 'exclude_subgroups=true')).toEqual([shownOpen])
    expect(await names(world.anonymous)).toEqual([shownOpen])
    expect(await names(await world.member({ project: closed }, 'guest'))).toEqual([shownOpen])
    expect(await names(await world.member({ project: closed }, 'reporter'))).toHaveLength(2)
  })

  test('a project are closed with the feature', async () => {
    const project = await world.project({ visibility: 'public' })
    await publish(project)
    const statuses = async (): Promise<number[]> => {
      const replies = [world.anonymous, world.root].map((client) => client.get(fileOf(project)))
      return (await Promise.all(replies)).map(({ status }) => status)
    }
    const level = (name: string): Promise<Reply> =>
      world.root.put(`/projects/${project.id}`, { package_registry_access_level: name })
    expect(await statuses()).toEqual([200, 200])
    expectStatus(await level('private'), 200)
    expect(await statuses()).toEqual([403, 200])
    expectStatus(await level('disabled'), 200)
    expect(await statuses()).toEqual([403, 403])
    expect((await world.root.put(fileOf(project), 'x')).status).toBe(403)
  })
})

describe('packages of a private project that are for everybody', () => {
  test('are, while the instance lets projects open theirs', async () => {
    const project = await world.project()
    await publish(project)
    const group = await world.group({ visibility: 'public' })
    const inside = await world.project({ namespace_id: group.id })
    await publish(inside)
    const seen = async (): Promise<unknown[]> => [
      (await world.anonymous.get(fileOf(project))).status,
      (await world.anonymous.get(packagesOf(project))).status,
      rowsOf(await world.anonymous.get(`/groups/${group.id}/packages`)).length,
      (await world.anonymous.get(`/projects/${project.id}`)).status,
      (await world.anonymous.put(fileOf(project), 'x')).status,
    ]
    const closed = [404, 404, 0, 404, 401]
    const open = [200, 200, 1, 404, 401]
    const level = async (name: string): Promise<void> => {
      for (const { id } of [project, inside])
        expectStatus(await world.root.put(`/projects/${id}`, { package_registry_access_level: name }), 200)
    }
    const option = async (package_registry_allow_anyone_to_pull_option: boolean): Promise<void> => {
      const change = { package_registry_allow_anyone_to_pull_option }
      expectStatus(await world.root.put('/application/settings', change), 200)
    }
    expect(await seen()).toEqual(closed)
    await level('public')
    expect(await seen()).toEqual(open)
    const guest = await world.member({ project }, 'guest')
    expect((await guest.get(fileOf(project))).status).toBe(200)
    await option(false)
    try {
      expect(await seen()).toEqual(closed)
      expect((await guest.get(fileOf(project))).status).toBe(403)
    } finally {
      await option(true)
    }
    expect(await seen()).toEqual(open)
    await level('enabled')
    expect(await seen()).toEqual(closed)
  })
})

describe('a cleanup policy', () => {
  const policyOf = (project: Made): string => `${packagesOf(project)}/cleanup_policy`

  test('keeps so many files of a name, when its time has come and the instance has workers', async () => {
    const project = await world.project()
    const { db, settings } = world.service.services
    for (const content of ['one', 'two', 'three']) await publish(project, undefined, content)
    const { package_id } = await publish(project, 'tool/1.0/other.bin')
    expect((await world.root.get(policyOf(project))).body).toEqual({
      ...{ keep_n_duplicated_package_files: 'all', next_run_at: null },
    })
    const change = { keep_n_duplicated_package_files: '1' }
    expect(expectStatus(await world.root.put(policyOf(project), change), 200)).toEqual({
      ...{ ...change, next_run_at: expect.stringMatching(/Z$/) as string },
    })
    expect((await world.root.put(policyOf(project), { keep_n_duplicated_package_files: '3' })).status).toBe(
      400,
    )

    const files = async (): Promise<unknown[]> =>
      rowsOf(await world.root.get(`${packagesOf(project)}/${package_id as number}/package_files`)).map(
        ({ file_name }) => file_name as unknown,
      )
    const workers = async (package_registry_cleanup_policies_worker_capacity: number): Promise<void> => {
      const changed = { package_registry_cleanup_policies_worker_capacity }
      expectStatus(await world.root.put('/application/settings', changed), 200)
      await runPackagePolicies({ db, settings, log: world.service.services.log })
    }
    const all = ['tool.bin', 'tool.bin', 'tool.bin', 'other.bin']
    await workers(2)
    expect(await files()).toEqual(all)
    await workers(0)
    await sql`update package_cleanup_policies set next_run_at = now()`.execute(db.writer)
    await workers(0)
    expect(await files()).toEqual(all)
    await workers(2)
    expect(await files()).toEqual(['tool.bin', 'other.bin'])
    expect((await world.root.get(fileOf(project))).text).toBe('three')
  })
})
