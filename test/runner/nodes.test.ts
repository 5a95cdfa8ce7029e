import { afterAll, beforeAll, expect, test } from 'vitest'
import { pino } from 'pino'
import { startService, type Service } from '../../src/app/service.ts'
import { readConfig } from '../../src/kernel/config/index.ts'
import { rootToken, startWorld, type World } from '../world/world.ts'
import { CiProjects } from './ci-project.ts'
import { RawRunner } from './raw-runner.ts'

/** Two nodes with one database and one data folder. */
let world: World
let second: Service
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld()
  second = await startService(
    readConfig({
      PORT: '0',
      DATA_DIR: world.directory,
      DATABASE_URL: world.databaseUrl,
      DATABASE_POOL: '4',
      ROOT_TOKEN: rootToken,
      ROLES: 'web',
      SHUTDOWN_TIMEOUT: '5',
    }),
    pino({ level: 'silent' }),
  )
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test('a runner that waits at one node gets the job that another makes, and either takes its log', async () => {
  const ci = await projects.make({ test: { script: ['x'] } })
  const here = await RawRunner.forProject(world, ci.project)
  const there = new RawRunner(second.address, { id: here.id, token: here.token })
  await there.ask()
  const held = there.ask()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const begin = performance.now()
  await ci.run(world.root)
  expect((await held).status).toBe(201)
  expect(performance.now() - begin).toBeLessThan(20_000)
})

test('two nodes never hand out one job twice', async () => {
  const names = Array.from({ length: 30 }, (_, n) => `job ${n}`)
  const ci = await projects.make(Object.fromEntries(names.map((name) => [name, { script: ['x'] }])))
  const here = await RawRunner.forProject(world, ci.project)
  const runners = Array.from({ length: 30 }, (_, n) => {
    return new RawRunner(n % 2 === 0 ? world.url : second.address, { id: here.id, token: here.token })
  })
  await Promise.all(runners.map((runner) => runner.ask()))
  const held = runners.map((runner) => runner.ask())
  await new Promise((resolve) => setTimeout(resolve, 300))
  await ci.run(world.root)
  const replies = await Promise.all(held)
  const given = replies.flatMap(({ status, body }) => (status === 201 ? [(body as { id: number }).id] : []))
  expect(new Set(given).size).toBe(given.length)
  expect(given.length).toBe(30)
}, 80_000)
