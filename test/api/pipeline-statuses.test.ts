import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, until } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { git } from '../git/copies.ts'
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

const script = ['x']
type Act = (scene: { runner: RawRunner; path: string; jobs: () => Promise<Json[]> }) => Promise<unknown>

async function expectReached(config: Json, act: Act, pipeline: Json, jobs: Json): Promise<void> {
  const ci = await projects.make(config)
  const runner = await RawRunner.forProject(world, ci.project)
  const made = await ci.run(world.root)
  const path = `/projects/${ci.id}/pipelines/${made['id']}`
  const list = async () => (await world.root.get(`${path}/jobs`)).body as Json[]
  await act({ runner, path, jobs: list })
  const seen = async () => {
    const shown = (await world.root.get(path)).body as Json
    const status = shown['detailed_status'] as Json
    return {
      pipeline: {
        status: shown['status'],
        text: status['text'],
        label: status['label'],
        group: status['group'],
      },
      jobs: Object.fromEntries((await list()).map(({ name, status }) => [name, status as string])) as Json,
    }
  }
  const found = await until(
    seen,
    (now) => now.pipeline.status === pipeline['status'] && JSON.stringify(now.jobs) === JSON.stringify(jobs),
  ).catch(seen)
  expect(found).toEqual({ pipeline, jobs })
}

const shown = (status: string, text: string, label = status, group = status): Json => ({
  status,
  text,
  label,
  group,
})
const nothing: Act = () => Promise.resolve()
const end =
  (state: 'success' | 'failed'): Act =>
  async ({ runner }) =>
    (await runner.take()).end(state)
const cancel: Act = async ({ path }) => expectStatus(await world.root.post(`${path}/cancel`), 200)

// `created` is no rest of a pipeline: its jobs' turns are worked out before it is stored. That of jobs is in `running`.
describe('every status of pipelines and jobs is reached', () => {
  test.each<[string, Json, Act, Json, Json]>([
    ['pending', { one: { script } }, nothing, shown('pending', 'Pending'), { one: 'pending' }],
    [
      'running',
      { one: { script }, later: { script, stage: 'deploy' } },
      async ({ runner }) => runner.take(),
      shown('running', 'Running'),
      { later: 'created', one: 'running' },
    ],
    [
      'success',
      { one: { script } },
      end('success'),
      shown('success', 'Passed', 'passed'),
      { one: 'success' },
    ],
    [
      'success with warnings',
      { one: { script, allow_failure: true } },
      end('failed'),
      shown('success', 'Warning', 'passed with warnings', 'success-with-warnings'),
      { one: 'failed' },
    ],
    [
      'failed, and what comes after it skipped',
      { one: { script }, later: { script, stage: 'deploy' } },
      end('failed'),
      shown('failed', 'Failed'),
      { later: 'skipped', one: 'failed' },
    ],
    [
      'failed with a blocking manual job',
      { one: { script }, gate: { script, when: 'manual', allow_failure: false } },
      end('failed'),
      shown('manual', 'Blocked', 'waiting for manual action'),
      { gate: 'manual', one: 'failed' },
    ],
    ['canceled', { one: { script } }, cancel, shown('canceled', 'Canceled'), { one: 'canceled' }],
    [
      'canceling, which pipelines show as running',
      { one: { script } },
      async (scene) => {
        await scene.runner.take()
        await cancel(scene)
      },
      shown('running', 'Running'),
      { one: 'canceling' },
    ],
    [
      'canceled after canceling',
      { one: { script } },
      async (scene) => {
        const job = await scene.runner.take()
        await cancel(scene)
        await job.end('failed')
      },
      shown('canceled', 'Canceled'),
      { one: 'canceled' },
    ],
    ['skipped', { one: { script, when: 'manual' } }, nothing, shown('skipped', 'Skipped'), { one: 'manual' }],
    [
      'manual',
      { one: { script, when: 'manual', allow_failure: false } },
      nothing,
      shown('manual', 'Blocked', 'waiting for manual action'),
      { one: 'manual' },
    ],
    [
      'scheduled',
      { one: { script, when: 'delayed', start_in: '1 day' } },
      nothing,
      shown('scheduled', 'Delayed', 'waiting for delayed job'),
      { one: 'scheduled' },
    ],
    [
      'waiting for a resource that another job holds',
      { one: { script, resource_group: 'r' }, two: { script, resource_group: 'r' } },
      nothing,
      shown('running', 'Running'),
      { two: 'waiting_for_resource', one: 'pending' },
    ],
  ])('%s', (_, config, act, pipeline, jobs) => expectReached(config, act, pipeline, jobs))
})

test('a pipeline of a deleted branch still runs', async () => {
  const ci = await projects.make({ one: { script } })
  const runner = await RawRunner.forProject(world, ci.project)
  const sha = await ci.push({ a: 'a' }, { to: 'short-lived' })
  await until(
    async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
    ({ length }) => length > 0,
  )
  await git(ci.folder, 'push', '--quiet', 'origin', ':short-lived')
  const job = await runner.take()
  const { repo_url, refspecs } = job.payload['git_info'] as { repo_url: string; refspecs: string[] }
  // As a runner does it, in a repository that has nothing yet.
  await git(ci.folder, 'init', '--quiet', '--bare', 'fresh.git')
  await git(`${ci.folder}/fresh.git`, 'fetch', '--quiet', repo_url, ...refspecs)
  expect((await git(`${ci.folder}/fresh.git`, 'cat-file', '-t', sha)).trim()).toBe('commit')
})

test('coverage is a text, durations are whole seconds', async () => {
  const one = { script, coverage: '/total (\\d+\\.\\d+)/' }
  const ci = await projects.make({ one, two: { ...one } })
  const runner = await RawRunner.forProject(world, ci.project)
  const made = await ci.run(world.root)
  for (const text of ['total 80.5\n', 'total 90.0\n']) {
    const job = await runner.take()
    await job.say(text)
    await job.end('success')
  }
  const pipeline = (await world.root.get(`/projects/${ci.id}/pipelines/${made['id']}`)).body as Json
  expect(pipeline).toMatchObject({ status: 'success', coverage: '85.25' })
  expect(Number.isInteger(pipeline['duration'])).toBe(true)
})
