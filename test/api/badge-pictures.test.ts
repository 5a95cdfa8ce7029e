import { afterAll, beforeAll, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/** Pictures that READMEs show of pipelines, coverage and releases. */
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

const make = (fields: Json = { visibility: 'public' }): Promise<CiProject> =>
  projects.make({ test: { script: ['x'], coverage: '/TOTAL (\\d+)%/' } }, fields)

const look = (ci: CiProject, path: string, by?: Person): Promise<Response> =>
  fetch(`${ci.project['web_url'] as string}/${path}`, { headers: by?.headers ?? {} })

/** What a picture says. */
async function said(ci: CiProject, path: string): Promise<string> {
  const answer = await look(ci, path)
  expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'image/svg+xml'])
  expect(answer.headers.get('cache-control')).toContain('no-store')
  expect(answer.headers.get('content-security-policy')).toContain('sandbox')
  return /<title>(.*)<\/title>/.exec(await answer.text())![1]!
}

test('the latest pipeline of a branch, also of one with slashes', async () => {
  const ci = await make()
  const runner = await RawRunner.forProject(world, ci.project)
  const main = 'badges/main/pipeline.svg'
  await world.settled()
  expect(await said(ci, main)).toBe('pipeline: skipped')
  await ci.run(world.root)
  expect(await said(ci, main)).toBe('pipeline: pending')
  await (await runner.take()).end('failed', { failure_reason: 'script_failure' })
  expect(await said(ci, main)).toBe('pipeline: failed')
  await ci.push({ 'a.txt': 'a' }, { to: 'some/branch', options: ['ci.skip'] })
  await ci.run(world.root, { ref: 'some/branch' })
  await (await runner.take()).end('success')
  for (const ref of ['some/branch', 'some%2Fbranch'])
    expect(await said(ci, `badges/${ref}/pipeline.svg`)).toBe('pipeline: passed')
  expect(await said(ci, 'badges/nothing/pipeline.svg')).toBe('pipeline: unknown')
  expect(await said(ci, `${main}?key_text=Main&key_width=130&style=flat-square`)).toBe('Main: failed')
  expect(await said(ci, `${main}?key_text=${'x'.repeat(65)}&key_width=none`)).toBe('pipeline: failed')
  expect(await said(ci, `${main}?key_text=%3Cscript%3E`)).toBe('&lt;script&gt;: failed')
})

test('pipelines that were skipped may be passed over', async () => {
  const ci = await make()
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  await (await runner.take()).end('success')
  const { project_id, id } = await ci.run(world.root)
  await world.root.post(`/projects/${project_id as number}/pipelines/${id as number}/cancel`)
  expect(await said(ci, 'badges/main/pipeline.svg?ignore_skipped=true')).toBe('pipeline: canceled')
  await ci.push({ 'a.txt': 'a' }, { options: ['ci.skip'] })
  await world.settled()
  expect(await said(ci, 'badges/main/pipeline.svg')).toBe('pipeline: skipped')
  expect(await said(ci, 'badges/main/pipeline.svg?ignore_skipped=true')).toBe('pipeline: unknown')
})

test('the coverage of the latest successful pipeline, or of one of its jobs', async () => {
  const ci = await make()
  const runner = await RawRunner.forProject(world, ci.project)
  const path = 'badges/main/coverage.svg'
  expect(await said(ci, path)).toBe('coverage: unknown')
  await ci.run(world.root)
  const job = await runner.take()
  await job.say('TOTAL 87%\n')
  await job.end('success')
  expect(await said(ci, path)).toBe('coverage: 87.00%')
  expect(await said(ci, `${path}?job=test`)).toBe('coverage: 87.00%')
  expect(await said(ci, `${path}?job=other`)).toBe('coverage: unknown')
  const colored = async (query: string): Promise<string> => (await look(ci, path + query)).text()
  expect(await colored('')).toContain('#dfb317')
  expect(await colored('?min_good=87')).toContain('#4c1')
  expect(await colored('?min_acceptable=80')).toContain('#a3c51c')
  expect(await colored('?min_medium=88')).toContain('#e05d44')
  // One that is out of order is brought into it: this one comes to 87.
  expect(await colored('?min_good=90&min_acceptable=88&min_medium=95')).toContain('#dfb317')
})

test('the latest release', async () => {
  const ci = await make()
  const path = '-/badges/release.svg'
  expect(await said(ci, path)).toBe('Latest Release: none')
  const release = (tag_name: string, released_at: string) =>
    world.root.post(`/projects/${ci.id}/releases`, { tag_name, ref: 'main', released_at })
  expectStatus(await release('v2', '2020-02-02T00:00:00Z'), 201)
  expectStatus(await release('v1', '2020-01-01T00:00:00Z'), 201)
  expectStatus(await release('v3', '2999-01-01T00:00:00Z'), 201)
  expect(await said(ci, path)).toBe('Latest Release: v2')
  expect(await said(ci, `${path}?order_by=created_at&value_width=150&key_text=out`)).toBe('out: v1')
})

test('nobody sees of pipelines what he may not read', async () => {
  const paths = ['badges/main/pipeline.svg', 'badges/main/coverage.svg', '-/badges/release.svg']
  const statuses = async (ci: CiProject, by?: Person): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await look(ci, path, by)).status))
  const closed = await make({ visibility: 'private' })
  const member = await world.member({ project: closed.project }, 'reporter')
  expect(await statuses(closed)).toEqual([404, 404, 404])
  expect(await statuses(closed, await world.user())).toEqual([404, 404, 404])
  expect(await statuses(closed, member)).toEqual([200, 200, 200])
  const open = await make()
  expectStatus(await world.root.put(`/projects/${open.id}`, { public_jobs: false }), 200)
  expect(await statuses(open)).toEqual([404, 404, 200])
  expectStatus(await world.root.put(`/projects/${open.id}`, { releases_access_level: 'private' }), 200)
  expect(await statuses(open)).toEqual([404, 404, 404])
})
