// @module-tag long
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { CiProjects, type CiProject } from './ci-project.ts'
import { RawRunner } from './raw-runner.ts'

/** Who is given which job, and when. */
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

const jobs = (...names: string[]): Json => Object.fromEntries(names.map((name) => [name, { script: ['x'] }]))

async function takenBy(runner: RawRunner, count: number): Promise<string[]> {
  const names: string[] = []
  for (let taken = 0; taken < count; taken += 1) {
    names.push((await runner.take()).payload['job_info'].name as string)
  }
  return names
}

test('an instance runner serves the project with the fewest running jobs, a group runner the oldest job', async () => {
  const group = await world.group()
  const fields = { shared_runners_enabled: true, namespace_id: group.id }
  const [busy, quiet] = [
    await projects.make(jobs('a1', 'a2', 'a3'), fields),
    await projects.make(jobs('b1', 'b2'), fields),
  ]
  const instance = await RawRunner.create(world)
  const ofGroup = await RawRunner.create(world, { runner_type: 'group_type', group_id: group.id })
  const start = async (): Promise<void> => {
    for (const ci of [busy, quiet]) await ci.run(world.root)
  }
  await start()
  expect(await takenBy(instance, 5)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  await start()
  expect(await takenBy(ofGroup, 5)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2'])
  expect((await ofGroup.ask()).status).toBe(204)
})

test('an instance runner is told how many jobs of the project run already, up to five', async () => {
  const ci = await projects.make(jobs('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'), {
    shared_runners_enabled: true,
  })
  const instance = await RawRunner.create(world)
  await ci.run(world.root)
  const told: unknown[] = []
  for (let taken = 0; taken < 7; taken += 1) {
    told.push((await instance.take()).payload['job_info'].project_jobs_running_on_instance_runners_count)
  }
  expect(told).toEqual(['0', '1', '2', '3', '4', '5+', '5+'])
})

test('two runners that ask at once never get the same job', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `job ${n}`)
  const ci = await projects.make(jobs(...names))
  const runners = await Promise.all([1, 2].map(() => RawRunner.forProject(world, ci.project)))
  await ci.run(world.root)
  const replies = await Promise.all(names.map((_, n) => runners[n % 2]!.ask()))
  expect(replies.map(({ status }) => status)).toEqual(names.map(() => 201))
  expect(new Set(replies.map(({ body }) => body.id as number)).size).toBe(names.length)
  expect((await runners[0]!.ask()).status).toBe(204)
})

test('many kinds of jobs wait, and each runner finds its own', async () => {
  const kinds = Array.from({ length: 40 }, (_, n) => `kind-${n}`)
  const ci = await projects.make(
    Object.fromEntries(
      kinds.flatMap((kind) => [1, 2].map((n) => [`${kind} ${n}`, { script: ['x'], tags: [kind] }])),
    ),
  )
  await ci.run(world.root)
  const runner = await RawRunner.forProject(world, ci.project, {
    tag_list: ['kind-39', 'kind-7'],
    run_untagged: false,
  })
  expect(await takenBy(runner, 4)).toEqual(['kind-7 1', 'kind-7 2', 'kind-39 1', 'kind-39 2'])
  expect((await runner.ask()).status).toBe(204)
})

async function statuses(ci: CiProject, pipeline: Json): Promise<Json[]> {
  const path = `/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs?include_retried=true`
  return (await world.root.get(path)).body as Json[]
}

test('a job that cannot be handed out is no trouble of the runner that asks', async () => {
  const ci = await projects.make({
    stages: ['build', 'test'],
    build: { stage: 'build', script: ['x'], artifacts: { reports: { dotenv: 'build.env' } } },
    test: { stage: 'test', script: ['x'] },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  const build = await runner.take()
  const content = new Uint8Array(gzipSync(`LOST=${'x'.repeat(50)}\n`))
  await build.upload(content, { artifact_type: 'dotenv', artifact_format: 'gzip' })
  await loseBlobs()
  await build.end('success')

  expect((await runner.ask()).status).toBe(204)
  const tried = (await statuses(ci, pipeline)).filter(({ name }) => name === 'test')
  expect(tried).toHaveLength(3)
  for (const job of tried)
    expect(job).toMatchObject({ status: 'failed', failure_reason: 'scheduler_failure' })
})

/** What a disk does. */
async function loseBlobs(): Promise<void> {
  const folder = path.join(world.directory, 'blobs')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  expect(files).not.toEqual([])
  for (const { parentPath, name } of files) await rm(path.join(parentPath, name))
}

test('a job that is canceled while its runner is told of it is not given to another', async () => {
  const ci = await projects.make(jobs('only'))
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  const [reply] = await Promise.all([
    runner.ask(),
    world.root.post(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/cancel`),
  ])
  expect([201, 204]).toContain(reply.status)
  runner.lastUpdate = undefined
  expect((await runner.ask()).status).toBe(204)
  const [job] = await statuses(ci, pipeline)
  expect(['canceled', 'canceling']).toContain(job!['status'])
})

test('a job that needs what its runner cannot do fails', async () => {
  const ci = await projects.make(jobs('only'))
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  // What is built for a merge request is on no branch, and has to be fetched by its ref.
  await sql`update ci_pipelines set merge_request = '{"source": {"branch": "x"}}' where id = ${pipeline['id'] as number}`.execute(
    world.service.services.db.writer,
  )
  expect((await runner.ask({ info: { features: {} } })).status).toBe(204)
  const [job] = await statuses(ci, pipeline)
  expect(job).toMatchObject({ status: 'failed', failure_reason: 'runner_unsupported' })
})

describe('secrets', () => {
  const written = {
    PASSWORD: { vault: 'production/db/password@ops', file: false },
    KEY: { vault: { engine: { name: 'kv-v1', path: 'kv' }, path: 'a', field: 'b' }, token: '$OTHER' },
    CERT: { azure_key_vault: { name: 'cert' } },
    WORD: { gcp_secret_manager: { name: 'word', version: '2' } },
  }
  const config = {
    only: { script: ['x'], id_tokens: { ID: { aud: 'https://vault.test' } }, secrets: written },
  }
  const info = { features: { vault_secrets: true } }

  async function failed(ci: CiProject, pipeline: Json): Promise<Json & { log: string }> {
    const [job] = await statuses(ci, pipeline)
    const { text } = await world.root.get(`/projects/${ci.id}/jobs/${job!['id'] as number}/trace`)
    return { ...job!, log: text }
  }

  test('that nobody keeps fail the job', async () => {
    const ci = await projects.make(config)
    await world.root.post(`/projects/${ci.id}/variables`, {
      key: 'VAULT_SERVER_URL',
      value: 'https://v.test',
    })
    const runner = await RawRunner.forProject(world, ci.project)
    const pipeline = await ci.run(world.root)

    expect((await runner.ask({ info })).status).toBe(204)
    expect(await failed(ci, pipeline)).toMatchObject({
      status: 'failed',
      failure_reason: 'secrets_provider_not_found',
      log: 'ERROR: Job failed: no variables say where these secrets are kept: CERT, WORD\n',
    })
  })

  test('are for runners that fetch them', async () => {
    const ci = await projects.make(config)
    const variables = {
      VAULT_SERVER_URL: 'https://v.test',
      VAULT_AUTH_ROLE: 'builds',
      AZURE_KEY_VAULT_SERVER_URL: 'https://a.test',
      AZURE_CLIENT_ID: 'client',
      AZURE_TENANT_ID: 'tenant',
      GCP_PROJECT_NUMBER: '1',
      GCP_WORKLOAD_IDENTITY_FEDERATION_POOL_ID: 'pool',
      GCP_WORKLOAD_IDENTITY_FEDERATION_PROVIDER_ID: 'provider',
    }
    for (const [key, value] of Object.entries(variables)) {
      expectStatus(await world.root.post(`/projects/${ci.id}/variables`, { key, value }), 201)
    }
    const runner = await RawRunner.forProject(world, ci.project)
    const pipeline = await ci.run(world.root)
    expect((await runner.ask()).status).toBe(204)
    expect(await failed(ci, pipeline)).toMatchObject({
      failure_reason: 'runner_unsupported',
      log: expect.stringContaining('fetches no secrets'),
    })

    await ci.run(world.root)
    const server = (jwt: string) => ({
      url: 'https://v.test',
      auth: { name: 'jwt', path: 'jwt', data: { jwt, role: 'builds' } },
    })
    expect((await runner.ask({ info })).body.secrets).toEqual({
      PASSWORD: {
        file: false,
        vault: {
          engine: { name: 'kv-v2', path: 'ops' },
          path: 'production/db',
          field: 'password',
          server: server('$ID'),
        },
      },
      KEY: { vault: { ...written.KEY.vault, server: server('$OTHER') } },
      CERT: {
        azure_key_vault: {
          name: 'cert',
          server: { url: 'https://a.test', client_id: 'client', tenant_id: 'tenant', jwt: '$ID' },
        },
      },
      WORD: {
        gcp_secret_manager: {
          name: 'word',
          version: '2',
          server: {
            project_number: '1',
            workload_identity_federation_pool_id: 'pool',
            workload_identity_federation_provider_id: 'provider',
            jwt: '$ID',
          },
        },
      },
    })
  })
})

test('variables in a circle are told in the log', async () => {
  const ci = await projects.make(jobs('only'))
  await world.root.post(`/projects/${ci.id}/variables`, { key: 'A', value: '$B' })
  await world.root.post(`/projects/${ci.id}/variables`, { key: 'B', value: '$A' })
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  expect((await runner.ask()).status).toBe(204)
  const [job] = await statuses(ci, pipeline)
  expect(job).toMatchObject({ status: 'failed' })
  const { text } = await world.root.get(`/projects/${ci.id}/jobs/${job!['id'] as number}/trace`)
  expect(text).toMatch(/^ERROR: Job failed: circular variable reference detected: \["[AB]", "[AB]"\]\n$/)
})

test('a paused runner gets nothing, and the one that is deleted is refused', async () => {
  const ci = await projects.make(jobs('only'))
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  await world.root.put(`/runners/${runner.id}`, { paused: true })
  expect((await runner.ask()).status).toBe(204)
  await world.root.put(`/runners/${runner.id}`, { active: true })
  await runner.take()
  await world.root.delete(`/runners/${runner.id}`)
  expect((await runner.ask()).status).toBe(403)
})
