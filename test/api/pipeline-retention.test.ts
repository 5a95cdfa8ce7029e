import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
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

const day = 86_400

/** Time that has passed, which no call of the API makes pass. */
async function age(pipeline: Json, days: number): Promise<void> {
  await sql`
    update ci_pipelines set created_at = now() - make_interval(days => ${days}::int)
    where id = ${pipeline['id']}`.execute(world.service.services.db.writer)
}

async function cleanUp(): Promise<void> {
  const { writer } = world.service.services.db
  await sql`select graphile_worker.add_job('ci:find-old-pipelines')`.execute(writer)
  await world.settled()
}

async function ids(ci: CiProject): Promise<number[]> {
  // What the push of the configuration made is no matter here.
  const { body } = await world.root.get(`/projects/${ci.id}/pipelines?source=api`)
  return (body as Json[]).map(({ id }) => id as number)
}

test('pipelines older than ci_delete_pipelines_in_seconds go, with what their jobs left; others stay', async () => {
  const [ci, other] = await Promise.all([1, 2].map(() => projects.make({ build: { script: ['x'] } })))
  const [ended, alive, young] = [
    await ci!.run(world.root),
    await ci!.run(world.root),
    await ci!.run(world.root),
  ]
  const kept = await other!.run(world.root)
  const runner = await RawRunner.forProject(world, ci!.project)
  const job = await runner.take()
  await job.say('said something\n')
  await job.end('success')
  for (const pipeline of [ended, alive, kept]) await age(pipeline, 8)
  await age(young, 6)

  await cleanUp()
  expect(await ids(ci!)).toEqual(expect.arrayContaining([ended, alive, young].map(({ id }) => id)))
  expectStatus(await world.root.put(`/projects/${ci!.id}`, { ci_delete_pipelines_in_seconds: 7 * day }), 200)
  await cleanUp()
  expect(await ids(ci!)).toEqual([young['id']])
  expect(await ids(other!)).toEqual([kept['id']])
  expect((await world.root.get(`/projects/${ci!.id}/jobs/${job.id}`)).status).toBe(404)
  // The job of the young one is the next: that of the other is gone.
  expect((await runner.take()).payload['job_info']).toMatchObject({ project_id: ci!.id })

  expectStatus(await world.root.put(`/projects/${ci!.id}`, { ci_delete_pipelines_in_seconds: '' }), 200)
  await age(young, 400)
  await cleanUp()
  expect(await ids(ci!)).toEqual([young['id']])
})

test('whoever may not delete pipelines may not have them deleted either', async () => {
  const project = await world.project()
  const maintainer = await world.member({ project }, 'maintainer')
  const owner = await world.member({ project }, 'owner')
  const change = { ci_delete_pipelines_in_seconds: day }
  expect((await maintainer.put(`/projects/${project.id}`, change)).status).toBe(403)
  expectStatus(await owner.put(`/projects/${project.id}`, change), 200)
  // A client that writes back what it read changes nothing.
  expectStatus(await maintainer.put(`/projects/${project.id}`, { ...change, description: 'New' }), 200)
})
