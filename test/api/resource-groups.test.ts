// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawJob, RawRunner } from '../runner/raw-runner.ts'
import { Client } from '../world/client.ts'
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

const config = {
  build: { script: ['x'], stage: 'build', tags: ['build'] },
  deploy: { script: ['x'], stage: 'deploy', resource_group: 'prod', needs: ['build'], tags: ['deploy'] },
}

interface Setting {
  readonly ci: CiProject
  readonly path: string
  /** The builds wait in the order of their pipelines. */
  readonly builder: RawRunner
  readonly deployer: RawRunner
  readonly deploys: () => Promise<Json[]>
}

async function setting(mode?: string): Promise<Setting> {
  const ci = await projects.make(config)
  const path = `/projects/${ci.id}`
  const tagged = (tag: string) =>
    RawRunner.forProject(world, ci.project, { tag_list: [tag], run_untagged: false })
  await ci.run(world.root)
  if (mode !== undefined) {
    const reply = await world.root.put(`${path}/resource_groups/prod`, { process_mode: mode })
    expect([reply.status, reply.body.process_mode]).toEqual([200, mode])
  }
  await ci.run(world.root)
  await ci.run(world.root)
  return {
    ci,
    path,
    builder: await tagged('build'),
    deployer: await tagged('deploy'),
    deploys: async () =>
      ((await world.root.get(`${path}/jobs?per_page=50`)).body as Json[])
        .filter(({ name }) => name === 'deploy')
        .sort((a, b) => (a['id'] as number) - (b['id'] as number)),
  }
}

const statuses = (jobs: Json[]): unknown[] => jobs.map(({ status }) => status)

async function upcoming({ path, deploys }: Setting): Promise<number[]> {
  const ids = (await deploys()).map(({ id }) => id as number)
  const { body } = await world.root.get(`${path}/resource_groups/prod/upcoming_jobs`)
  return (body as Json[]).map(({ id }) => ids.indexOf(id as number))
}

describe('which job is next', () => {
  test('oldest first, also while the oldest is not ready', async () => {
    const set = await setting('oldest_first')
    expect(await upcoming(set)).toEqual([0, 1, 2])
    const [first, second] = [await set.builder.take(), await set.builder.take()]
    await second.end('success')
    await until(set.deploys, (jobs) => jobs[1]!['status'] === 'waiting_for_resource')
    await first.end('success')
    await until(set.deploys, (jobs) => jobs[0]!['status'] === 'pending')
    expect(statuses(await set.deploys())).toEqual(['pending', 'waiting_for_resource', 'created'])
    const pipelines = (await world.root.get(`${set.path}/pipelines`)).body as Json[]
    expect(pipelines.map(({ status }) => status)).toContain('waiting_for_resource')
    const deploy = await set.deployer.take()
    await deploy.end('success')
    await until(set.deploys, (jobs) => jobs[1]!['status'] === 'pending')
  })

  test('newest first waits for the newest; what will never come is not waited for', async () => {
    const set = await setting('newest_first')
    expect(await upcoming(set)).toEqual([2, 1, 0])
    const builds = [await set.builder.take(), await set.builder.take(), await set.builder.take()]
    await builds[0]!.end('success')
    await until(set.deploys, (jobs) => jobs[0]!['status'] === 'waiting_for_resource')
    await builds[2]!.end('failed')
    await until(set.deploys, (jobs) => jobs[2]!['status'] === 'skipped')
    expect(await upcoming(set)).toEqual([1, 0])
    await builds[1]!.end('success')
    await until(set.deploys, (jobs) => jobs[1]!['status'] === 'pending')
    await (await set.deployer.take()).end('success')
    await until(set.deploys, (jobs) => jobs[0]!['status'] === 'pending')
  })

  test('newest ready first, and unordered, look at those that are ready', async () => {
    const set = await setting('newest_ready_first')
    expect(await upcoming(set)).toEqual([])
    const builds = [await set.builder.take(), await set.builder.take(), await set.builder.take()]
    for (const build of builds) await build.end('success')
    await until(set.deploys, (jobs) => !statuses(jobs).includes('created'))
    const before = await until(set.deploys, (jobs) => statuses(jobs).includes('pending'))
    const held = statuses(before).indexOf('pending')
    const waiting = [2, 1, 0].filter((place) => place !== held)
    expect(await upcoming(set)).toEqual(waiting)
    await (await set.deployer.take()).end('success')
    await until(set.deploys, (jobs) => jobs[waiting[0]!]!['status'] === 'pending')
    expectStatus(await world.root.put(`${set.path}/resource_groups/prod`, { process_mode: 'unordered' }), 200)
    await (await set.deployer.take()).end('success')
    await until(set.deploys, (jobs) => jobs[waiting[1]!]!['status'] === 'pending')
  })
})

test('a trigger job holds its resource until what it started has ended', async () => {
  const down = {
    resource_group: 'prod',
    trigger: { include: 'child.yml', strategy: 'depend' },
  }
  const ci = await projects.make({ down })
  await ci.push({ 'child.yml': 'inner: {script: [x]}\n' }, { options: ['ci.skip'] })
  const runner = await RawRunner.forProject(world, ci.project)
  const bridge = async ({ id }: Json): Promise<unknown> => {
    const { body } = await world.root.get(`/projects/${ci.id}/pipelines/${id as number}/bridges`)
    return (body as Json[])[0]!['status']
  }
  const first = await ci.run(world.root)
  await until(
    () => bridge(first),
    (status) => status === 'running',
  )
  const second = await ci.run(world.root)
  expect(await bridge(second)).toBe('waiting_for_resource')
  const inner = await until(
    () => runner.ask(),
    ({ status }) => status === 201,
  )
  await new RawJob(new Client(world.url), inner.body as Json).end('success')
  await until(
    () => bridge(first),
    (status) => status === 'success',
  )
  await until(
    () => bridge(second),
    (status) => status === 'running',
  )
})

test('groups are listed and read by their key', async () => {
  const ci = await projects.make({
    one: { script: ['x'], resource_group: 'a/b' },
    two: { script: ['x'], resource_group: 'c' },
  })
  await ci.run(world.root)
  const path = `/projects/${ci.id}/resource_groups`
  const listed = expectStatus(await world.root.get(path), 200) as Json[]
  expect(listed.map(({ key, process_mode }) => [key, process_mode])).toEqual([
    ['a/b', 'unordered'],
    ['c', 'unordered'],
  ])
  expect(Object.keys(listed[0]!)).toEqual(['id', 'key', 'process_mode', 'created_at', 'updated_at'])
  expect((await world.root.get(`${path}/a%2Fb`)).body).toEqual(listed[0])
  const missing = await world.root.get(`${path}/none`)
  expect([missing.status, missing.body]).toEqual([404, { message: '404 Not found' }])
  expect((await world.root.put(`${path}/c`, { process_mode: 'odd' })).body).toEqual({
    error: 'process_mode does not have a valid value',
  })
})
