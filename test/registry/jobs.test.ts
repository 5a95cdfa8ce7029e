import { afterAll, beforeAll, expect, test } from 'vitest'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { claimsOf, codeOf, RegistryClient } from './client.ts'

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

test('a job signs in with what it is given, and pushes to its own project', async () => {
  const ci = await projects.make({ build: { script: ['build'] } })
  const path = ci.project['path_with_namespace'] as string
  const person = await world.member({ project: ci.project }, 'maintainer')
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(person)
  const job = await runner.take()

  const host = new URL(world.url).host
  expect(job.variable('CI_REGISTRY')).toBe(host)
  expect(job.variable('CI_REGISTRY_IMAGE')).toBe(`${host}/${path}`)
  expect(job.variable('CI_REGISTRY_USER')).toBe('gitlab-ci-token')
  expect(job.variable('CI_REGISTRY_PASSWORD')).toBe(job.token)
  expect(job.payload['credentials']).toEqual([
    { type: 'registry', url: host, username: 'gitlab-ci-token', password: job.token },
  ])

  const client = new RegistryClient(world, {
    username: job.variable('CI_REGISTRY_USER')!,
    password: job.variable('CI_REGISTRY_PASSWORD')!,
  })
  await client.pushImage(`${path}/built`, '1.0')
  const token = await client.token(`repository:${path}/built:pull,push,delete`)
  expect(claimsOf(token).payload).toMatchObject({
    sub: person.username,
    auth_type: 'build',
    access: [{ actions: ['pull', 'push', 'delete'] }],
  })

  // Of others it reads what is public, whatever its user may there.
  for (const visibility of ['public', 'private']) {
    const other = await world.project({ visibility })
    await world.root.post(`/projects/${other.id}/members`, { user_id: person.id, access_level: 40 })
    const elsewhere = await client.token(`repository:${other.path_with_namespace}:pull,push`)
    const access = claimsOf(elsewhere).payload['access'] as Json[]
    expect(access.map((one) => one['actions'])).toEqual(visibility === 'public' ? [['pull']] : [])
  }

  await job.end('success')
  const after = await client.ask(`repository:${path}/built:pull`)
  expect([after.status, codeOf(after)]).toEqual([401, 'UNAUTHORIZED'])
})

test('a job of a project without the registry is told nothing of it', async () => {
  const ci = await projects.make(
    { build: { script: ['build'] } },
    { container_registry_access_level: 'disabled' },
  )
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  const job = await runner.take()
  expect(job.variable('CI_REGISTRY')).toBeUndefined()
  expect(job.variable('CI_REGISTRY_PASSWORD')).toBeUndefined()
  expect(job.payload['credentials']).toEqual([])
})

test('jobs get the deploy token that is named for them, the one of the project before that of a group', async () => {
  const ci = await projects.make({ build: { script: ['build'] } })
  const runner = await RawRunner.forProject(world, ci.project)
  const give = async (place: string): Promise<Json> => {
    const fields = { name: 'gitlab-deploy-token', scopes: ['read_registry'] }
    return expectStatus(await world.root.post(`${place}/deploy_tokens`, fields), 201)
  }
  const given = async (): Promise<(string | undefined)[]> => {
    await ci.run(world.root)
    const job = await runner.take()
    await job.end('success')
    return [job.variable('CI_DEPLOY_USER'), job.variable('CI_DEPLOY_PASSWORD')]
  }
  expect(await given()).toEqual([undefined, undefined])
  const ofGroup = await give(`/groups/${(ci.project['namespace'] as Json)['id'] as number}`)
  expect(await given()).toEqual([ofGroup['username'], ofGroup['token']])
  const own = await give(`/projects/${ci.project['id'] as number}`)
  expect(await given()).toEqual([own['username'], own['token']])
})
