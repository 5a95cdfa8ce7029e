// @module-tag long
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
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

test('a pipeline waits for the resource that another one holds', async () => {
  const ci = await projects.make({ one: { script, resource_group: 'r' } })
  const runner = await RawRunner.forProject(world, ci.project)
  const statusOf = async ({ id }: Json): Promise<unknown> =>
    ((await world.root.get(`/projects/${ci.id}/pipelines/${id}`)).body as Json)['status']
  const isPending = (status: unknown): boolean => status === 'pending'
  const first = await ci.run(world.root)
  await until(() => statusOf(first), isPending)
  const holding = await runner.take()
  const second = await ci.run(world.root)
  expect(await statusOf(second)).toBe('waiting_for_resource')
  const waiting = await world.root.get(`/projects/${ci.id}/pipelines?status=waiting_for_resource`)
  expect(waiting.body).toMatchObject([{ id: second['id'] }])
  await holding.end('success')
  await until(() => statusOf(second), isPending)
})

describe('the ref of a pipeline', () => {
  const refsOf = async (folder: string): Promise<string> =>
    git(folder, 'ls-remote', 'origin', 'refs/pipelines/*')

  /** Of the bare repository. */
  async function folderOf({ id }: CiProject): Promise<string> {
    const { body: project } = await world.root.get(`/projects/${id}`)
    const storage = (project as Json)['repository_storage'] as string
    return world.service.services.places.of({ id, storage }).path
  }

  /** As a runner fetches what it is told, in a repository that has nothing yet. */
  async function fetched(
    folder: string,
    payload: Json,
  ): Promise<{ refspecs: string[]; has: (sha: string) => Promise<string> }> {
    const { repo_url, refspecs } = payload['git_info'] as { repo_url: string; refspecs: string[] }
    const fresh = await mkdtemp(path.join(folder, 'fresh-'))
    await git(fresh, 'init', '--quiet', '--bare')
    await git(fresh, 'fetch', '--quiet', repo_url, ...refspecs)
    return { refspecs, has: async (sha) => (await git(fresh, 'cat-file', '-t', sha)).trim() }
  }

  test('keeps what it builds, though its branch is deleted; is fetched, never pushed; goes when it has ended', async () => {
    const ci = await projects.make({ one: { script } })
    const runner = await RawRunner.forProject(world, ci.project)
    const sha = await ci.push({ a: 'a' }, { to: 'short-lived' })
    const [made] = await until(
      async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
      ({ length }) => length > 0,
    )
    const ref = `refs/pipelines/${made!['id']}`
    await git(ci.folder, 'push', '--quiet', 'origin', ':short-lived')
    expect(await refsOf(ci.folder)).toBe(`${sha}\t${ref}`)
    await expect(git(ci.folder, 'push', 'origin', `main:${ref}`)).rejects.toThrow(
      'deny updating a hidden ref',
    )
    await expect(git(ci.folder, 'push', 'origin', `:${ref}`)).rejects.toThrow('deny deleting a hidden ref')

    const job = await runner.take()
    const first = await fetched(ci.folder, job.payload)
    expect(first.refspecs).toEqual([`+${ref}:${ref}`])
    expect(await first.has(sha)).toBe('commit')
    await job.end('failed')
    await sql`select graphile_worker.add_job('ci:tidy-pipeline-refs')`.execute(
      world.service.services.db.writer,
    )
    await until(
      () => refsOf(ci.folder),
      (refs) => refs === '',
    )

    // Run again it is there again: the commit has been kept.
    const pipeline = `/projects/${ci.id}/pipelines/${made!['id']}`
    expectStatus(await world.root.post(`${pipeline}/retry`), 201)
    const again = await fetched(ci.folder, (await runner.take()).payload)
    expect(again.refspecs).toEqual([`+${ref}:${ref}`])
    expect(await again.has(sha)).toBe('commit')
    expectStatus(await world.root.delete(pipeline), 204)
    expect(await refsOf(ci.folder)).toBe('')
  })

  test('is waited for by jobs that are being prepared, while the repository cannot be written', async () => {
    const ci = await projects.make({
      one: { script },
      two: { script, resource_group: 'r' },
      later: { script, stage: 'deploy' },
    })
    const runner = await RawRunner.forProject(world, ci.project)
    const folder = await folderOf(ci)
    await writeFile(path.join(folder, 'refs/pipelines'), '')
    const made = await ci.run(world.root)
    const shownNow = async (): Promise<Json> => {
      const pipeline = (await world.root.get(`/projects/${ci.id}/pipelines/${made['id']}`)).body as Json
      const jobs = (await world.root.get(`/projects/${ci.id}/pipelines/${made['id']}/jobs`)).body as Json[]
      const status = pipeline['detailed_status'] as Json
      return {
        ...{ pipeline: pipeline['status'], label: status['label'] },
        ...Object.fromEntries(jobs.map(({ name, status: of }) => [name, of])),
      }
    }
    const preparing = { one: 'preparing', two: 'preparing', later: 'created' }
    await until(shownNow, ({ two }) => two === 'preparing')
    expect(await shownNow()).toEqual({ pipeline: 'preparing', label: 'preparing', ...preparing })
    expect((await runner.ask()).status).toBe(204)

    await rm(path.join(folder, 'refs/pipelines'))
    const pending = { one: 'pending', two: 'pending', later: 'created' }
    expect(await until(shownNow, ({ pipeline }) => pipeline === 'pending')).toEqual({
      pipeline: 'pending',
      label: 'pending',
      ...pending,
    })
    const job = await runner.take()
    expect((job.payload['git_info'] as Json)['refspecs']).toContain(
      `+refs/pipelines/${made['id']}:refs/pipelines/${made['id']}`,
    )
  })

  test('goes too where its pipeline never came to be, once it cannot come any more', async () => {
    const ci = await projects.make({ one: { script } })
    const runner = await RawRunner.forProject(world, ci.project)
    const { db } = world.service.services
    const folder = await folderOf(ci)
    // As they are left behind when the service ends between the ref and the pipeline.
    await git(folder, 'update-ref', 'refs/pipelines/1000000', ci.sha)
    await git(folder, 'update-ref', 'refs/pipelines/0', ci.sha)
    const made = await ci.run(world.root)
    await sql`update ci_pipelines set created_at = now() - interval '2 hours' where id = ${made['id'] as number}`.execute(
      db.writer,
    )
    await (await runner.take()).end('success')
    await sql`select graphile_worker.add_job('ci:tidy-pipeline-refs')`.execute(db.writer)
    await until(
      () => refsOf(ci.folder),
      (refs) => !refs.includes(`/${made['id']}`),
    )
    expect(await refsOf(ci.folder)).toBe(`${ci.sha}\trefs/pipelines/1000000`)
  })

  test('of a commit that is gone lets no job run', async () => {
    const ci = await projects.make({ one: { script, when: 'manual' } })
    const made = await ci.run(world.root)
    await sql`update ci_pipelines set sha = ${'1'.repeat(40)} where id = ${made['id'] as number}`.execute(
      world.service.services.db.writer,
    )
    const [job] = (await world.root.get(`/projects/${ci.id}/pipelines/${made['id']}/jobs`)).body as Json[]
    const played = expectStatus(await world.root.post(`/projects/${ci.id}/jobs/${job!['id']}/play`), 200)
    expect(played['status']).toBe('preparing')
    const end = await until(
      async () => (await world.root.get(`/projects/${ci.id}/jobs/${job!['id']}`)).body as Json,
      ({ status }) => status === 'failed',
    )
    expect(end['failure_reason']).toBe('unmet_prerequisites')
  })
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
