import { afterAll, beforeAll, expect, test } from 'vitest'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/** A service without PAGES_URL. */
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

test('where no sites are served, a job that publishes one shows that beside its pipeline', async () => {
  const ci = await projects.make({ pages: { script: ['x'] }, other: { script: ['x'], stage: 'deploy' } })
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  await (await runner.take()).end('success')
  await world.settled()
  const told = async (): Promise<Json> => {
    const { body } = await world.root.get(`/projects/${ci.id}/repository/commits/${ci.sha}/statuses?all=true`)
    return (body as Json[]).find(({ name }) => name === 'pages:deploy')!
  }
  const deployment = { status: 'skipped', description: 'no sites are served here: PAGES_URL is not set' }
  expect(await told()).toMatchObject(deployment)

  await (await runner.take()).end('failed')
  const place = `/projects/${ci.id}/pipelines/${pipeline['id']}`
  expectStatus(await world.root.post(`${place}/retry`), 201)
  expect(await told()).toMatchObject(deployment)
  await (await runner.take()).end('success')
  await world.settled()
  expect((await world.root.get(place)).body.status).toBe('success')
})
