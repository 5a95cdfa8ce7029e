import { afterAll, beforeAll, expect, test } from 'vitest'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
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

const config = {
  workflow: { auto_cancel: { on_new_commit: 'none' } },
  stages: ['deploy', 'later'],
  deploy: { stage: 'deploy', script: ['x'], environment: 'production' },
  'by-hand': { stage: 'deploy', script: ['x'], when: 'manual', environment: 'production' },
}

async function jobNamed(ci: CiProject, pipeline: Json, name: string): Promise<Json> {
  const path = `/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs`
  const jobs = expectStatus(await world.root.get(path), 200) as unknown as Json[]
  return jobs.find((job) => job['name'] === name)!
}

const act = async (ci: CiProject, job: Json, what: 'play' | 'retry') =>
  world.root.post(`/projects/${ci.id}/jobs/${job['id'] as number}/${what}`)

/** A pipeline whose deployment succeeded, and one of a later commit whose did too. */
async function overtaken(settings: Json = {}): Promise<{ ci: CiProject; runner: RawRunner; older: Json }> {
  const ci = await projects.make(config)
  if (Object.keys(settings).length > 0)
    expectStatus(await world.root.put(`/projects/${ci.id}`, settings), 200)
  const runner = await RawRunner.forProject(world, ci.project)
  const older = await ci.run(world.root)
  await (await runner.take()).end('success')
  await ci.push({ 'a.txt': 'later' }, { options: ['ci.skip'] })
  await ci.run(world.root)
  await (await runner.take()).end('success')
  await world.settled()
  return { ci, runner, older }
}

test('a job that waits cannot be played once something newer is deployed', async () => {
  const { ci, older } = await overtaken()
  const reply = await act(ci, await jobNamed(ci, older, 'by-hand'), 'play')
  expect([reply.status, reply.body]).toEqual([400, { message: '400 Bad request - Unplayable Job' }])
})

test('without ci_forward_deployment_enabled it can', async () => {
  const { ci, runner, older } = await overtaken({ ci_forward_deployment_enabled: false })
  const job = await jobNamed(ci, older, 'by-hand')
  expectStatus(await act(ci, job, 'play'), 200)
  expect((await runner.take()).id).toBe(job['id'])
})

test('a job that has run may run again: that is a rollback', async () => {
  const { ci, runner, older } = await overtaken()
  const again = expectStatus(await act(ci, await jobNamed(ci, older, 'deploy'), 'retry'), 201)
  const job = await runner.take()
  expect(job.id).toBe(again['id'])
  await job.end('success')
  const done = await until(
    () => jobNamed(ci, older, 'deploy'),
    ({ status }) => status === 'success',
  )
  expect(done['id']).toBe(again['id'])
})

test('without ci_forward_deployment_rollback_allowed it may not, neither alone nor with its pipeline', async () => {
  const { ci, older } = await overtaken({ ci_forward_deployment_rollback_allowed: false })
  const job = await jobNamed(ci, older, 'deploy')
  const reply = await act(ci, job, 'retry')
  expect([reply.status, reply.body]).toEqual([403, { message: '403 Forbidden - Job is not retryable' }])
  expectStatus(await world.root.post(`/projects/${ci.id}/pipelines/${older['id'] as number}/retry`), 201)
  expect((await jobNamed(ci, older, 'deploy'))['id']).toBe(job['id'])
  expectStatus(
    await world.root.put(`/projects/${ci.id}`, { ci_forward_deployment_rollback_allowed: true }),
    200,
  )
  expectStatus(await act(ci, job, 'retry'), 201)
})
