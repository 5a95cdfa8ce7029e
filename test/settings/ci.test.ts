// @module-tag long
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { during, set } from './effects.ts'

let world: World
let project: Made
const create = () => world.root.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  const config =
    'build: {script: [echo one, echo two], image: alpine, tags: [x]}\nlater: {script: x, when: manual}\n'
  await pushFiles(world, project, { '.gitlab-ci.yml': config }, ['main'])
})
afterAll(() => world[Symbol.asyncDispose]())

test('archive_builds_in_human_readable leaves old jobs only to be looked at', async () => {
  const { id } = expectStatus(await create(), 201)
  const jobs = (await world.root.get(`/projects/${project.id}/pipelines/${id as number}/jobs`)).body as Json[]
  const job = jobs.find(({ name }) => name === 'build')!
  const path = `/projects/${project.id}/jobs/${job['id'] as number}`
  expectStatus(await world.root.post(`${path}/cancel`), 201)
  await sql`update ci_pipelines set created_at = now() - interval '3 days' where id = ${id}`.execute(
    world.service.services.db.writer,
  )
  await during(world, { archive_builds_in_human_readable: '2 days' }, async () => {
    expect((await world.root.get(path)).body.archived).toBe(true)
    const pipeline = `/projects/${project.id}/pipelines/${id as number}`
    expect((await world.root.get(pipeline)).body.archived).toBe(true)
    expect((await world.root.post(`${pipeline}/retry`)).status).toBe(403)
    expect((await world.root.post(`${path}/retry`)).status).toBe(403)
    expect((await world.root.post(`${path}/erase`)).status).toBe(403)
    const manual = jobs.find(({ name }) => name === 'later')!['id'] as number
    expect((await world.root.post(`/projects/${project.id}/jobs/${manual}/play`)).status).toBe(400)
    await set(world, { archive_builds_in_human_readable: '4 days' })
    expect((await world.root.get(path)).body.archived).toBe(false)
  })
  const again = expectStatus(await world.root.post(`${path}/retry`), 201)
  // One that has waited until its pipeline was so old is not run any more.
  const runner = await RawRunner.forProject(world, project, { tag_list: ['x'] })
  await during(world, { archive_builds_in_human_readable: '2 days' }, async () => {
    while ((await runner.ask({ last_update: '' })).status === 201) continue
    const dropped = await world.root.get(`/projects/${project.id}/jobs/${again['id'] as number}`)
    expect(dropped.body).toMatchObject({ status: 'failed', failure_reason: 'archived_failure' })
  })
})

test('git_push_pipeline_limit is how many refs of a push get a pipeline', async () => {
  const built = async (...branches: string[]): Promise<unknown[]> => {
    await pushFiles(
      world,
      project,
      { [`${branches[0]}.txt`]: 'x', '.gitlab-ci.yml': 'a: {script: x, tags: [none]}' },
      branches,
    )
    await world.settled()
    const { body } = await world.root.get(`/projects/${project.id}/pipelines?source=push&per_page=100`)
    return (body as Json[])
      .map(({ ref }) => ref as string)
      .filter((ref) => branches.includes(ref))
      .toSorted()
  }
  await during(world, { git_push_pipeline_limit: 2 }, async () => {
    expect(await built('b1', 'b2', 'b3')).toHaveLength(2)
    await set(world, { git_push_pipeline_limit: 0 })
    expect(await built('c1', 'c2', 'c3', 'c4', 'c5')).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  })
  expect(await built('d1', 'd2', 'd3', 'd4', 'd5')).toHaveLength(4)
})

test('default_artifacts_expire_in is the life of artifacts that name none', async () => {
  const runner = await RawRunner.forProject(world, project, { tag_list: ['x'] })
  // Those of the other tests.
  while ((await runner.ask({ last_update: '' })).status === 201) continue
  const expiry = async (expire_in?: string): Promise<number | null> => {
    expectStatus(await create(), 201)
    const job = await runner.take()
    const query = {
      artifact_type: 'archive',
      artifact_format: 'zip',
      ...(expire_in !== undefined && { expire_in }),
    }
    expect((await job.upload(new Uint8Array(1), query)).status).toBe(201)
    await job.end('success')
    const shown = expectStatus(await world.root.get(`/projects/${project.id}/jobs/${job.id}`), 200)
    const at = shown['artifacts_expire_at']
    return at === null ? null : Math.round((Date.parse(at as string) - Date.now()) / 3600_000)
  }
  expect(await expiry()).toBe(30 * 24)
  await during(world, { default_artifacts_expire_in: '2 hours' }, async () => {
    expect(await expiry()).toBe(2)
    expect(await expiry('1 day')).toBe(24)
    await set(world, { default_artifacts_expire_in: '0' })
    expect(await expiry()).toBeNull()
  })
  expect(await expiry()).toBe(30 * 24)
})

test('shared_runners_minutes: jobs of a group that has used them up are not run by runners of the instance', async () => {
  const group = await world.group()
  const below = await world.group({ parent_id: group.id })
  const config = 'build: {script: x, tags: [metered]}\n'
  const made = await Promise.all(
    (['private', 'public'] as const).map(async (visibility) => {
      const own = await world.project({
        namespace_id: visibility === 'private' ? below.id : undefined,
        visibility,
      })
      await pushFiles(world, own, { '.gitlab-ci.yml': config }, ['main'])
      return own
    }),
  )
  const [metered, open] = made as [Made, Made]
  const runner = await RawRunner.create(world, { tag_list: ['metered'], run_untagged: false })
  // Those of the pushes.
  for (let taken = 0; taken < 2; taken += 1)
    await until(
      async () => (await runner.ask({ last_update: '' })).status,
      (status) => status === 201,
    )
  const run = async (of: Made): Promise<number> => {
    const { id } = expectStatus(await world.root.post(`/projects/${of.id}/pipeline`, { ref: 'main' }), 201)
    const jobs = (await world.root.get(`/projects/${of.id}/pipelines/${id as number}/jobs`)).body as Json[]
    return jobs[0]!['id'] as number
  }
  /** Runs for so many minutes. */
  const runFor = async (of: Made, minutes: number): Promise<void> => {
    const id = await run(of)
    const job = await runner.take()
    expect(job.id).toBe(id)
    await sql`update ci_jobs set started_at = now() - make_interval(mins => ${minutes}::integer) where id = ${id}`.execute(
      world.service.services.db.writer,
    )
    await job.end('success')
  }
  await during(world, { shared_runners_minutes: 10 }, async () => {
    await runFor(metered, 9)
    await runFor(metered, 2)
    await runFor(open, 60)
    await runFor(open, 1)
    const refused = await run(metered)
    runner.lastUpdate = undefined
    expect((await runner.ask()).status).toBe(204)
    expect((await world.root.get(`/projects/${metered.id}/jobs/${refused}`)).body).toMatchObject({
      status: 'failed',
      failure_reason: 'ci_quota_exceeded',
    })
    // Runners of its own are nobody else's business.
    const own = await RawRunner.forProject(world, metered, { tag_list: ['metered'] })
    await run(metered)
    await (await own.take()).end('success')
    await set(world, { shared_runners_minutes: 12 })
    await runFor(metered, 1)
  })
  await runFor(metered, 1)
})

describe('external_pipeline_validation_service', () => {
  let server: Server
  let url: string
  let answer: (request: IncomingMessage) => number
  let asked: { headers: IncomingMessage['headers']; body: Json }[]
  /** Milliseconds before it answers. */
  let delay: number
  beforeEach(async () => {
    asked = []
    delay = 0
    answer = () => 200
    server = createServer((request, reply) => {
      void json(request).then((body) => {
        asked.push({ headers: request.headers, body: body as Json })
        const status = answer(request)
        if (status > 0) setTimeout(() => reply.writeHead(status).end(), delay)
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })
  const local = () => ({
    external_pipeline_validation_service_url: url,
    external_pipeline_validation_service_token: 'shared',
    allow_local_requests_from_web_hooks_and_services: true,
  })

  test('is asked about each pipeline, and its 406 refuses it', async () => {
    await during(world, local(), async () => {
      answer = () => 406
      const before = (await world.root.get(`/projects/${project.id}/pipelines`)).body.length as number
      const refused = await create()
      expect([refused.status, refused.body]).toEqual([
        400,
        { message: { base: ['External validation failed'] } },
      ])
      expect((await world.root.get(`/projects/${project.id}/pipelines`)).body.length).toBe(before)
      expect(asked).toMatchObject([
        {
          headers: { 'x-gitlab-token': 'shared', 'content-type': 'application/json' },
          body: {
            project: { id: project.id, path: project.path_with_namespace },
            user: { id: 1, username: 'root' },
            pipeline: { ref: 'main', type: 'api' },
            builds: [
              { name: 'build', image: 'alpine', tag_list: ['x'], script: ['echo one', 'echo two'] },
              { name: 'later', image: null },
            ],
            total_builds_count: 2,
            namespace: { plan: 'ultimate' },
          },
        },
      ])
      answer = () => 200
      expectStatus(await create(), 201)
    })
    expectStatus(await create(), 201)
    expect(asked).toHaveLength(2)
  })

  test('is waited for as long as external_pipeline_validation_service_timeout says', async () => {
    answer = () => 406
    await during(world, local(), async () => {
      delay = 2000
      await set(world, { external_pipeline_validation_service_timeout: 1 })
      expectStatus(await create(), 201)
      await set(world, { external_pipeline_validation_service_timeout: null })
      expect((await create()).status).toBe(400)
    })
    expect(asked).toHaveLength(2)
  })

  test('stops nobody when it is out of order or slow, and is not asked in silent mode', async () => {
    await during(world, { ...local(), external_pipeline_validation_service_timeout: 1 }, async () => {
      answer = () => 500
      expectStatus(await create(), 201)
      answer = () => 0
      expectStatus(await create(), 201)
      expect(asked).toHaveLength(2)
      answer = () => 406
      await set(world, { silent_mode_enabled: true })
      expectStatus(await create(), 201)
      await set(world, {
        silent_mode_enabled: false,
        allow_local_requests_from_web_hooks_and_services: false,
      })
      expectStatus(await create(), 201)
      expect(asked).toHaveLength(2)
      // The list of exceptions opens the way again.
      await set(world, { outbound_local_requests_allowlist_raw: new URL(url).host })
      expect((await create()).status).toBe(400)
      await set(world, {
        outbound_local_requests_allowlist_raw: '',
        allow_local_requests_from_web_hooks_and_services: true,
      })
      expect((await create()).status).toBe(400)
      await set(world, { deny_all_requests_except_allowed: true })
      expectStatus(await create(), 201)
      await set(world, { deny_all_requests_except_allowed: false })
      expect((await create()).status).toBe(400)
    })
  })
})

test('pipeline_limit_per_project_user_sha refuses one pipeline too many for a commit', async () => {
  await during(world, { pipeline_limit_per_project_user_sha: 1 }, async () => {
    expect((await create()).body).toEqual({
      message: { base: ['Too many pipelines created in the last minute. Try again later.'] },
    })
  })
  expectStatus(await create(), 201)
})

test('ci_max_total_yaml_size_bytes, max_yaml_size_bytes and max_yaml_depth refuse what is larger', async () => {
  for (const values of [
    { ci_max_total_yaml_size_bytes: 10 },
    { max_yaml_size_bytes: 10 },
    { max_yaml_depth: 1 },
  ]) {
    await during(world, values, async () => expect((await create()).status).toBe(400))
  }
  expectStatus(await create(), 201)
})
