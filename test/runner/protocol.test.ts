import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../world/world.ts'
import { CiProjects, until } from './ci-project.ts'
import { RawRunner } from './raw-runner.ts'

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

const oneJob = { test: { script: ['echo hello'] } }

test('a job goes from the API to a runner, and its log and end come back', async () => {
  const { id, project, sha, ...ci } = await projects.make(oneJob)
  void ci
  const runner = await RawRunner.forProject(world, project)
  const pipeline = (await world.root.post(`/projects/${id}/pipeline`, { ref: 'main' })).body
  expect(pipeline).toMatchObject({ status: 'pending', source: 'api', ref: 'main', sha })

  const job = await runner.take()
  expect(job.payload).toMatchObject({ job_info: { name: 'test', project_id: id }, git_info: { sha } })
  expect((await world.root.get(`/projects/${id}/pipelines/${pipeline.id}`)).body.status).toBe('running')

  const said = await job.say('hello\n')
  expect(said.status).toBe(202)
  expect(said.headers.get('range')).toBe('0-6')
  await job.end('success')

  const log = await world.root.get(`/projects/${id}/jobs/${job.id}/trace`)
  expect(log.text).toBe('hello\n')
  expect((await world.root.get(`/projects/${id}/pipelines/${pipeline.id}`)).body).toMatchObject({
    status: 'success',
    detailed_status: { group: 'success' },
  })
})
void until
