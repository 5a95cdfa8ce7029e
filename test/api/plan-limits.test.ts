// @module-tag long
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, until } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

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

const path = '/application/plan_limits'
const set = async (limits: Record<string, unknown>): Promise<Json> =>
  expectStatus(await world.root.put(path, { plan_name: 'default', ...limits }), 200)
/** With these limits, and afterwards with those before. */
async function under(limits: Json, work: () => Promise<void>): Promise<void> {
  const before = expectStatus(await world.root.get(path), 200)
  await set(limits)
  try {
    await work()
  } finally {
    await set(Object.fromEntries<unknown>(Object.keys(limits).map((name) => [name, before[name]])))
  }
}
const script = ['x']

test('are what they are unless they were set, and tell who set them', async () => {
  expect(expectStatus(await world.root.get(path), 200)).toMatchObject({
    ci_pipeline_size: 0,
    ci_active_jobs: 0,
    ci_pipeline_schedules: 10,
    ci_instance_level_variables: 25,
    dotenv_size: 5120,
    limits_history: {},
  })
  expect(await set({ npm_max_file_size: 1000 })).toMatchObject({
    npm_max_file_size: 1000,
    limits_history: { npm_max_file_size: [{ user_id: 1, username: 'root', value: 1000 }] },
  })
  expect(expectStatus(await world.root.get(path), 200)['npm_max_file_size']).toBe(1000)
})

test.each<[Json, string]>([
  [{}, 'plan_name is missing'],
  [{ plan_name: 'gold' }, 'plan_name does not have a valid value'],
  [{ plan_name: 'default', ci_pipeline_size: 'many' }, 'ci_pipeline_size is invalid'],
  [{ plan_name: 'default', ci_pipeline_size: -1 }, 'ci_pipeline_size does not have a valid value'],
])('what they cannot be: %j', async (body, error) => {
  expect(await world.root.put(path, body)).toMatchObject({ status: 400, body: { error } })
})

describe('take effect on', () => {
  test('the jobs of a pipeline: the API stores nothing, a push a failed pipeline', () =>
    under({ ci_pipeline_size: 2 }, async () => {
      const ci = await projects.make({ a: { script }, b: { script }, c: { script } })
      const reply = await world.root.post(`/projects/${ci.id}/pipeline`, { ref: 'main' })
      const [text] = ((reply.body as Json)['message'] as { base: string[] }).base
      expect([reply.status, text]).toEqual([
        400,
        expect.stringMatching(
          /^The number of jobs has exceeded the limit of 2\. Try splitting the configuration/,
        ),
      ])
      const sha = await ci.push({ a: 'a' })
      const [pipeline] = await until(
        async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
        ({ length }) => length > 0,
      )
      expect(pipeline).toMatchObject({ status: 'failed' })
    }))

  test('the jobs that have not ended', () =>
    under({ ci_active_jobs: 3 }, async () => {
      const ci = await projects.make({ a: { script }, b: { script } })
      const first = await ci.run(world.root)
      expect(await world.root.post(`/projects/${ci.id}/pipeline`, { ref: 'main' })).toMatchObject({
        status: 400,
        body: {
          message: {
            base: ['Project exceeded the allowed number of jobs in active pipelines. Retry later.'],
          },
        },
      })
      expectStatus(await world.root.post(`/projects/${ci.id}/pipelines/${first['id']}/cancel`), 200)
      await ci.run(world.root)
    }))

  test('what one job may need', () =>
    under({ ci_needs_size_limit: 1 }, async () => {
      const ci = await projects.make({ a: { script }, b: { script }, c: { script, needs: ['a', 'b'] } })
      const reply = await world.root.post(`/projects/${ci.id}/pipeline`, { ref: 'main' })
      expect([reply.status, reply.text]).toEqual([
        400,
        expect.stringContaining('one job can only need 1 others'),
      ])
    }))

  test('schedules, runners, variables of the instance', () =>
    under(
      { ci_pipeline_schedules: 1, ci_registered_project_runners: 1, ci_instance_level_variables: 0 },
      async () => {
        const { id, project } = await projects.make({ a: { script } })
        const schedule = { description: 'x', ref: 'main', cron: '0 1 * * *' }
        expectStatus(await world.root.post(`/projects/${id}/pipeline_schedules`, schedule), 201)
        const refused = async (to: string, body: Json) => (await world.root.post(to, body)).body as Json
        expect(await refused(`/projects/${id}/pipeline_schedules`, schedule)).toEqual({
          message: { base: ['Maximum number of pipeline schedules (1) exceeded'] },
        })
        await RawRunner.forProject(world, project)
        expect(await refused('/user/runners', { runner_type: 'project_type', project_id: id })).toEqual({
          message: { base: ['Maximum number of ci registered project runners (1) exceeded'] },
        })
        expect(await refused('/admin/ci/variables', { key: 'A', value: 'a' })).toEqual({
          message: { base: ['Maximum number of ci instance level variables (0) exceeded'] },
        })
      },
    ))

  test('variables that jobs report, and the length of a log', () =>
    under({ dotenv_variables: 1, dotenv_size: 20, ci_jobs_trace_size_limit: 1 }, async () => {
      const ci = await projects.make({ a: { script } })
      const runner = await RawRunner.forProject(world, ci.project)
      await ci.run(world.root)
      const job = await runner.take()
      const upload = (text: string) =>
        job.upload(
          new Uint8Array(gzipSync(text)),
          { artifact_type: 'dotenv', artifact_format: 'gzip' },
          '.env.gz',
        )
      expect((await upload('A=1\nB=2\n')).text).toContain('Dotenv files cannot have more than 1 variables')
      expect((await upload(`A=${'1'.repeat(30)}\n`)).text).toContain('Maximum Allowable Size: 20')
      expect((await upload('A=1\n')).status).toBe(201)
      expect((await job.say('x'.repeat(1024 * 1024))).status).toBe(202)
      expect((await job.say('x')).status).toBe(403)
      expect(await world.root.get(`/projects/${ci.id}/jobs/${job.id}`)).toMatchObject({
        body: { status: 'failed', failure_reason: 'trace_size_exceeded' },
      })
    }))
})
