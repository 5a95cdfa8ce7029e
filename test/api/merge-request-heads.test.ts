// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closedBy } from '../../src/areas/issues/index.ts'
import { sql } from '../../src/kernel/db/index.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: MergeProjects
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
})
afterAll(() => world[Symbol.asyncDispose]())

const configuration = `
check:
  script: echo
  rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }]
docs:
  script: echo
  rules: [{ if: $CI_MERGE_REQUEST_IID, changes: [docs/*] }]
`

async function configured(): Promise<MergeProject> {
  const at = await projects.make()
  await at.commit('main', { '.gitlab-ci.yml': configuration })
  return at
}
const pipelinesOf = async (at: MergeProject, iid: number): Promise<Json[]> =>
  expectStatus(await at.developer.get(`${at.one(iid)}/pipelines`), 200) as Json[]
const one = async (at: MergeProject, iid: number): Promise<Json> =>
  expectStatus(await at.developer.get(at.one(iid)), 200)

test('each head of a request gets a pipeline that knows of it, and a merge can wait for that', async () => {
  const at = await configured()
  await world.root.put(at.base, { only_allow_merge_if_pipeline_succeeds: true })
  const made = await at.request(
    { 'docs/a.md': 'a\n' },
    { title: 'A $title', source_branch: 'a' },
    at.maintainer,
  )
  const [first] = await eventually(async () => {
    const found = await pipelinesOf(at, 1)
    return found.length > 0 && found
  })
  expect(first).toMatchObject({
    source: 'merge_request_event',
    ref: 'refs/merge-requests/1/head',
    sha: made['sha'],
  })
  const seen = await one(at, 1)
  const shown = await at.developer.get(`${at.base}/pipelines/${first!['id'] as number}`)
  const { name: _, ...brief } = first!
  expect(seen).toMatchObject({ detailed_merge_status: 'ci_still_running' })
  expect(seen['head_pipeline']).toEqual(expectStatus(shown, 200))
  expect(seen['pipeline']).toEqual(brief)
  expect((await at.merge(1)).status).toBe(405)
  expectStatus(await at.merge(1, { auto_merge: true }), 200)

  const runner = await RawRunner.forProject(world, at.project)
  for (const name of ['check', 'docs']) {
    const job = await runner.take()
    const variables = Object.fromEntries(
      (job.payload['variables'] as Json[]).map(({ key, value }) => [key as string, value as string]),
    )
    expect(variables).toMatchObject({
      CI_JOB_NAME: name,
      CI_MERGE_REQUEST_IID: '1',
      CI_MERGE_REQUEST_TITLE: 'A $title',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'a',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
      CI_COMMIT_REF_NAME: 'a',
    })
    expect(variables).not.toHaveProperty('CI_COMMIT_BRANCH')
    expectStatus(await world.anonymous.put(`/jobs/${job.id}`, { token: job.token, state: 'success' }), 200)
  }
  const merged = await eventually(async () => {
    const now = await one(at, 1)
    return now['state'] === 'merged' && now
  })
  expect(merged).toMatchObject({ merge_user: { id: at.maintainer.id }, merge_when_pipeline_succeeds: false })
})

test('is made by hand, unless there is nothing to run', async () => {
  const at = await configured()
  await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' })
  const made = await at.developer.post(`${at.one(1)}/pipelines`)
  expect(expectStatus(made, 200)).toMatchObject({ source: 'merge_request_event', status: 'pending' })
  expect((await at.developer.post(`${at.one(1)}/pipelines`, { async: true })).status).toBe(202)
  const bare = await projects.make()
  await bare.request({ 'a.txt': 'a\n' })
  expect((await bare.developer.post(`${bare.one(1)}/pipelines`)).status).toBe(405)
})

test('a merge into the default branch closes the issues that it names', async () => {
  const at = await projects.make()
  for (const title of ['one', 'two', 'three']) {
    expectStatus(await at.developer.post(`${at.base}/issues`, { title }), 201)
  }
  await at.request({ 'a.txt': 'a\n' }, { description: 'Closes #1 and #2, see #3' })
  const iids = async (path: string): Promise<unknown[]> =>
    (expectStatus(await at.developer.get(`${at.one(1)}/${path}`), 200) as Json[]).map(
      ({ iid }) => iid as number,
    )
  expect(await iids('closes_issues')).toEqual([1, 2])
  expect(await iids('related_issues')).toEqual([1, 2, 3])
  const merged = expectStatus(await at.merge(1), 200)
  const { message } = (
    await at.developer.get(`${at.base}/repository/commits/${merged['merge_commit_sha'] as string}`)
  ).body as Json
  expect(message).toContain('\n\nCloses #1 and #2\n\n')
  await eventually(async () => {
    const open = (await at.developer.get(`${at.base}/issues?state=opened`)).body as Json[]
    return open.length === 1
  })
})

test('the issues that its commits close are closed too, when it is squashed', async () => {
  const at = await projects.make()
  for (const title of ['one', 'two'])
    expectStatus(await at.developer.post(`${at.base}/issues`, { title }), 201)
  await at.commit('a', { 'a.txt': 'a\n' }, { commit_message: 'Add a\n\nFixes #1' })
  await at.branch({ 'base.txt': 'x\n' }, 'base')
  const fields = { source_branch: 'a', target_branch: 'base', title: 'Closes #2' }
  expectStatus(await at.developer.post(at.path, fields), 201)
  const closes = async (): Promise<unknown[]> =>
    (expectStatus(await at.developer.get(`${at.one(1)}/closes_issues`), 200) as Json[]).map(
      ({ iid }) => iid as number,
    )
  expect(await closes()).toEqual([])
  expectStatus(await at.developer.put(at.one(1), { target_branch: 'main' }), 200)
  expect(await closes()).toEqual([1, 2])
  const merge = { squash: true, squash_commit_message: 'Squashed', merge_commit_message: 'Merged' }
  expectStatus(await at.merge(1, merge), 200)
  await eventually(async () => {
    const open = (await at.developer.get(`${at.base}/issues?state=opened`)).body as Json[]
    return open.length === 0
  })
})

test.each<[string, string[]]>([
  ['Closes #1', ['#1']],
  ['closes: #1, #2 and #3', ['#1', '#2', '#3']],
  ['This fixes group/sub/project#4, and resolved #5.', ['group/sub/project#4', '#5']],
  ['Implementing issues #6, and #7', ['#6', '#7']],
  ['Discloses #1, see #2', []],
  ['close it, #3', []],
])('%s', (text, expected) => {
  expect(closedBy(text).map(({ path, iid }) => `${path ?? ''}#${iid}`)).toEqual(expected)
})

test('a head that is seen before the news of its push is of who pushed it', async () => {
  await using slow = await startWorld({ ROLES: 'web' })
  const at = await new MergeProjects(slow).make()
  await at.request({ 'a.txt': 'a\n' }, { source_branch: 'a' }, at.maintainer)
  const actions = [{ action: 'create', file_path: 'b.txt', content: 'b\n' }]
  const pushed = { branch: 'a', commit_message: 'More', actions }
  expectStatus(await at.developer.post(`${at.base}/repository/commits`, pushed), 201)
  const other = await slow.project()
  await sql`
    insert into ref_updates (project_id, state, updates) select ${other.id}, 'applied', '[]' from generate_series(1, 2000)`.execute(
    slow.service.services.db.writer,
  )
  expect((await at.merge(1, { sha: '0'.repeat(40) })).status).toBe(409)
  const [told] = (await at.developer.get(`${at.one(1)}/notes`)).body as Json[]
  expect(told).toMatchObject({ system: true, author: { id: at.developer.id } })
  expect(told!['body']).toContain('added 1 commit')
})
