// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, MergeProjects } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { Copies, git } from './copies.ts'

let world: World
let copies: Copies
beforeAll(async () => {
  world = await startWorld()
  copies = await Copies.open(world)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

test('a push makes and changes a merge request by its options, and tells where it is', async () => {
  const at = await new MergeProjects(world).make()
  const copy = await copies.clone(at.project, at.developer)
  await git(copy, 'checkout', '--quiet', '-b', 'fix-it')
  await copies.commit(copy, 'a.txt')
  const url = `${world.url}/${at.fullPath}`
  const first = await copies.try(copy, ['push', 'origin', 'fix-it'])
  expect(first.stderr).toContain('To create a merge request for fix-it, visit:')
  expect(first.stderr).toContain(`${url}/-/merge_requests/new?merge_request%5Bsource_branch%5D=fix-it`)

  await copies.commit(copy, 'b.txt')
  const options = [
    'merge_request.create',
    'mr.description=one\\ntwo',
    'merge_request.draft',
    'merge_request.label=bug',
  ]
  const second = await copies.try(copy, [
    'push',
    ...options.flatMap((one) => ['-o', one]),
    'origin',
    'fix-it',
  ])
  expect(second, second.stderr).toMatchObject({ code: 0 })
  expect(second.stderr).toContain('View merge request for fix-it:')
  expect(expectStatus(await at.developer.get(at.one(1)), 200)).toMatchObject({
    title: 'Draft: Fix it',
    description: 'one\ntwo',
    source_branch: 'fix-it',
    target_branch: 'main',
    labels: ['bug'],
    author: { username: at.developer.username },
  })

  await copies.commit(copy, 'c.txt')
  const third = await copies.try(copy, [
    'push',
    '-o',
    'merge_request.title=New',
    '-o',
    'merge_request.target=nowhere',
    'origin',
    'fix-it',
  ])
  expect(third).toMatchObject({ code: 0 })
  expect(third.stderr).toContain('WARNINGS:')
  expect(third.stderr).toContain(
    'A merge_request.create push option is required to create a merge request for branch fix-it',
  )
  const refs = await git(copy, 'ls-remote', 'origin', 'refs/merge-requests/*')
  expect(refs).toContain('refs/merge-requests/1/head')
  expect((await copies.try(copy, ['push', 'origin', 'HEAD:refs/merge-requests/1/head'])).stderr).toContain(
    'deny updating a hidden ref',
  )
  const list = (await at.developer.get(at.path)).body as Json[]
  expect(list).toHaveLength(1)
})

test('who may not set variables of pipelines is told so, and gets no pipeline', async () => {
  const at = await new MergeProjects(world).make()
  await at.commit('main', { '.gitlab-ci.yml': 'a: { script: x }\n' })
  const settings = { ci_pipeline_variables_minimum_override_role: 'maintainer' }
  expectStatus(await at.maintainer.put(at.base, settings), 200)
  const push = async (person: typeof at.developer, branch: string) => {
    const copy = await copies.clone(at.project, person)
    await git(copy, 'checkout', '--quiet', '-b', branch)
    const told = await copies.try(copy, ['push', '-o', 'ci.variable=KEY=hidden', 'origin', branch])
    expect(told, told.stderr).toMatchObject({ code: 0 })
    await world.settled()
    const pipelines = await world.root.get(`${at.base}/pipelines?ref=${branch}`)
    return { told: told.stderr, pipelines: expectStatus(pipelines, 200) as Json[] }
  }
  const refused = await push(at.developer, 'one')
  expect(refused.told).toContain('WARNINGS:')
  expect(refused.told).toMatch(
    /remote: Error encountered with push options 'ci\.variable=KEY': Insufficient permissions to set pipeline variables\./,
  )
  expect(refused.told).not.toContain('hidden')
  expect(refused.pipelines).toEqual([])
  const taken = await push(at.maintainer, 'two')
  expect(taken.told).not.toContain('WARNINGS:')
  expect(taken.pipelines).toHaveLength(1)
})

test('the merge of a request that would be can be fetched while it fits', async () => {
  const at = await new MergeProjects(world).make()
  const { sha } = await at.request({ 'README.md': 'mine\n' }, { source_branch: 'a' })
  const copy = await copies.clone(at.project, at.developer)
  const main = await git(copy, 'rev-parse', 'HEAD')
  const ref = 'refs/merge-requests/1/merge'
  const there = async (): Promise<boolean> => (await git(copy, 'ls-remote', 'origin', ref)) !== ''
  await eventually(there)
  await git(copy, 'fetch', '--quiet', 'origin', ref)
  expect(await git(copy, 'rev-parse', 'FETCH_HEAD^1', 'FETCH_HEAD^2')).toBe(`${main}\n${sha as string}`)
  await at.commit('main', { 'README.md': 'theirs\n' })
  await at.commit('a', { 'b.txt': 'b\n' })
  await eventually(async () => !(await there()))
})
