// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Copies, git } from '../git/copies.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
import { Person } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { Receiver } from '../world/receiver.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

/* Pipelines of what merging would make, where a project wants them: not of the head of the source branch. */

let world: World
let projects: MergeProjects
let copies: Copies
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
  copies = await Copies.open(world)
})
afterAll(async () => {
  await copies[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const configuration = `
workflow: { rules: [{ if: $CI_MERGE_REQUEST_IID }] }
check: { script: echo, interruptible: true }
of the source: { script: echo, rules: [{ changes: [a.txt] }] }
of the target: { script: echo, rules: [{ changes: [main.txt] }] }
unlike the target: { script: echo, rules: [{ changes: { paths: [main.txt], compare_to: refs/heads/main } }] }
`
const headRef = 'refs/merge-requests/1/head'
const mergeRef = 'refs/merge-requests/1/merge'

async function configured(
  fields: Json = {},
  { config = configuration, visibility = 'private' } = {},
): Promise<MergeProject> {
  const at = await projects.make({ visibility })
  await at.commit('main', { '.gitlab-ci.yml': config })
  await set(at, { merge_pipelines_enabled: true, ...fields })
  return at
}
const set = async (at: MergeProject, fields: Json) =>
  expectStatus(await at.maintainer.put(at.base, fields), 200)
const open = async (at: MergeProject, fields: Json = {}): Promise<Json> => {
  const body = { source_branch: 'a', target_branch: 'main', title: 'Add a', ...fields }
  return expectStatus(await at.developer.post(at.path, body), 201)
}
/** A request from `a`, while `main` has gone on; with the two heads. */
async function diverged(at: MergeProject): Promise<{ source: string; target: string; request: Json }> {
  const source = await at.commit('a', { 'a.txt': 'a\n' })
  const target = await at.commit('main', { 'main.txt': 'main\n' })
  return { source, target, request: await open(at) }
}
const pipelinesOf = async (at: MergeProject): Promise<Json[]> => {
  await world.settled()
  return expectStatus(await at.developer.get(`${at.one(1)}/pipelines`), 200) as Json[]
}
const only = async (at: MergeProject): Promise<Json> => {
  const found = await pipelinesOf(at)
  expect(found).toHaveLength(1)
  return found[0]!
}
const again = async (at: MergeProject): Promise<Json> =>
  expectStatus(await at.maintainer.post(`${at.one(1)}/pipelines`), 200)
const jobsOf = async (at: MergeProject, { id }: Json): Promise<unknown[]> =>
  (expectStatus(await at.developer.get(`${at.base}/pipelines/${id}/jobs`), 200) as Json[])
    .map(({ name }) => name as string)
    .sort()
const one = async (at: MergeProject): Promise<Json> => expectStatus(await at.developer.get(at.one(1)), 200)
const endAll = async (runner: RawRunner, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1) await (await runner.take()).end('success')
}
const about = (job: RawJob): Json =>
  Object.fromEntries(
    ['EVENT_TYPE', 'REF_PATH', 'SOURCE_BRANCH_SHA', 'TARGET_BRANCH_SHA'].map((key) => [
      key,
      job.variable(`CI_MERGE_REQUEST_${key}`),
    ]),
  )
const detached = { EVENT_TYPE: 'detached', REF_PATH: headRef, SOURCE_BRANCH_SHA: '', TARGET_BRANCH_SHA: '' }

/** The files that a runner gets which has nothing yet. */
async function filesOf(at: MergeProject, job: RawJob): Promise<string[]> {
  const { repo_url, refspecs, sha } = job.payload['git_info'] as Json
  const fresh = await copies.fresh(at.project)
  await git(fresh, 'fetch', '--quiet', repo_url as string, ...(refspecs as string[]))
  return (await git(fresh, 'ls-tree', '--name-only', sha as string)).trim().split('\n')
}

describe('a pipeline of the merged result', () => {
  test('builds both sides, and knows of them', async () => {
    const at = await configured()
    const { source, target } = await diverged(at)
    const pipeline = await only(at)
    expect(pipeline).toMatchObject({ source: 'merge_request_event', ref: mergeRef })
    const sha = pipeline['sha'] as string
    const merge = expectStatus(await at.developer.get(`${at.base}/repository/commits/${sha}`), 200)
    expect(merge).toMatchObject({
      parent_ids: [target, source],
      author_name: `Name of ${at.developer.username}`,
      author_email: `${at.developer.username}@example.com`,
    })
    const newest = expectStatus(await at.developer.get(`${at.base}/repository/commits/main`), 200)
    expect(Date.parse(merge['created_at'] as string)).toBe(Date.parse(newest['created_at'] as string))
    expect(expectStatus(await at.developer.get(`${at.one(1)}/merge_ref`), 200)).toEqual({ commit_id: sha })

    const runner = await RawRunner.forProject(world, at.project)
    const job = await runner.take()
    expect(about(job)).toEqual({
      EVENT_TYPE: 'merged_result',
      REF_PATH: headRef,
      SOURCE_BRANCH_SHA: source,
      TARGET_BRANCH_SHA: target,
    })
    expect(job.variable('CI_COMMIT_SHA')).toBe(sha)
    expect(job.variable('CI_COMMIT_REF_NAME')).toBe('a')
    expect(job.payload['git_info']).toMatchObject({ sha, ref: mergeRef, ref_type: 'branch' })
    expect(await filesOf(at, job)).toEqual(['.gitlab-ci.yml', 'README.md', 'a.txt', 'main.txt'])
  })

  test('has the jobs of what the request changes, not of what its target has gone on with', async () => {
    const at = await configured()
    await diverged(at)
    expect(await jobsOf(at, await only(at))).toEqual(['check', 'of the source'])
    await set(at, { merge_pipelines_enabled: false })
    expect(await jobsOf(at, await again(at))).toEqual(['check', 'of the source', 'unlike the target'])
  })

  test('can be run again when its ref is that of a newer merge', async () => {
    const at = await configured()
    await diverged(at)
    const runner = await RawRunner.forProject(world, at.project)
    const pipeline = await only(at)
    await endAll(runner, 1)
    await (await runner.take()).end('failed')
    await sql`select graphile_worker.add_job('ci:tidy-pipeline-refs')`.execute(
      world.service.services.db.writer,
    )
    await at.commit('main', { 'later.txt': 'later\n' })
    const { commit_id } = expectStatus(await at.developer.get(`${at.one(1)}/merge_ref`), 200)
    expect(commit_id).not.toBe(pipeline['sha'])
    await world.settled()
    expectStatus(await at.developer.post(`${at.base}/pipelines/${pipeline['id']}/retry`), 201)
    const job = await runner.take()
    expect(job.payload['git_info']).toMatchObject({ sha: pipeline['sha'] })
    expect(await filesOf(at, job)).not.toContain('later.txt')
    await job.end('success')

    const next = await again(at)
    expect(next['sha']).toBe(commit_id)
    expect(await filesOf(at, await runner.take())).toContain('later.txt')
  })

  test('keeps its commit when no job has run yet', async () => {
    const config = 'check: { script: echo, when: manual, rules: [{ if: $CI_MERGE_REQUEST_IID }] }'
    const at = await configured({}, { config })
    await diverged(at)
    const { sha } = await only(at)
    const storage = expectStatus(await world.root.get(at.base), 200)['repository_storage'] as string
    const { path } = world.service.services.places.of({ id: at.id, storage })
    expect((await git(path, 'rev-parse', `refs/keep-around/${sha}`)).trim()).toBe(sha)
  })

  test('has no jobs where the newest commit of the source asks for none', async () => {
    const at = await configured()
    await at.commit('a', { 'a.txt': 'a\n' }, { commit_message: 'Add a [skip ci]' })
    await open(at)
    const own = (await pipelinesOf(at)).filter(({ source }) => source === 'merge_request_event')
    expect(own).toMatchObject([{ ref: mergeRef, status: 'skipped' }])
  })

  test('makes those of earlier heads superfluous, whatever they built', async () => {
    const at = await configured()
    await at.commit('a', { 'README.md': 'ours\n' })
    await at.commit('main', { 'README.md': 'theirs\n' })
    await open(at)
    const first = await only(at)
    expect(first).toMatchObject({ ref: headRef, status: 'pending' })
    await at.commit('a', { 'README.md': 'theirs\n', 'a.txt': 'a\n' })
    const [second] = await pipelinesOf(at)
    expect(second).toMatchObject({ ref: mergeRef, status: 'pending' })
    await at.commit('a', { 'a.txt': 'b\n' })
    const statuses = (await pipelinesOf(at)).map(({ id, ref, status }) => [id, ref, status])
    expect(statuses).toEqual([
      [expect.any(Number), mergeRef, 'pending'],
      [second!['id'], mergeRef, 'canceled'],
      [first['id'], headRef, 'canceled'],
    ])
  })
})

describe('the head of the request', () => {
  test('is what its pipelines are of: a merge waits for them, and happens by itself', async () => {
    const at = await configured({ only_allow_merge_if_pipeline_succeeds: true })
    await diverged(at)
    const pipeline = await only(at)
    expect(await one(at)).toMatchObject({
      detailed_merge_status: 'ci_still_running',
      head_pipeline: { id: pipeline['id'], sha: pipeline['sha'], ref: mergeRef },
    })
    expect((await at.merge(1)).status).toBe(405)
    expectStatus(await at.merge(1, { auto_merge: true }), 200)
    const runner = await RawRunner.forProject(world, at.project)
    const job = await runner.take()
    const status = await at.developer.post(`${at.base}/statuses/${job.variable('CI_COMMIT_SHA')}`, {
      state: 'success',
      name: 'outside',
    })
    expect(expectStatus(status, 201)).toMatchObject({ ref: mergeRef, pipeline_id: pipeline['id'] })
    await job.end('success')
    await endAll(runner, 1)
    const merged = await eventually(async () => {
      const now = await one(at)
      return now['state'] === 'merged' && now
    })
    expect(merged['head_pipeline']).toMatchObject({ id: pipeline['id'], status: 'success' })
  })

  test('has none once it was pushed to, until there is one of it', async () => {
    const at = await configured({ only_allow_merge_if_pipeline_succeeds: true })
    await diverged(at)
    await only(at)
    await endAll(await RawRunner.forProject(world, at.project), 2)
    expect((await one(at))['detailed_merge_status']).toBe('mergeable')
    await set(at, { builds_access_level: 'disabled' })
    await at.commit('a', { 'a.txt': 'b\n' })
    await world.settled()
    expect(await one(at)).toMatchObject({ detailed_merge_status: 'ci_must_pass', head_pipeline: null })
  })

  test('is what others are told of it by', async () => {
    expectStatus(
      await world.root.put('/application/settings', {
        allow_local_requests_from_web_hooks_and_services: true,
      }),
      200,
    )
    await using receiver = await Receiver.open()
    const at = await configured()
    await diverged(at)
    const pipeline = await only(at)
    const hook = { url: `${receiver.url}/hook`, push_events: false, merge_requests_events: true }
    expectStatus(await at.maintainer.post(`${at.base}/hooks`, hook), 201)
    expectStatus(await at.developer.put(at.one(1), { title: 'Add more' }), 200)
    const { body } = await receiver.next('/hook', () => true)
    expect((body['object_attributes'] as Json)['head_pipeline_id']).toBe(pipeline['id'])

    const runner = await RawRunner.forProject(world, at.project)
    await endAll(runner, 1)
    await (await runner.take()).end('failed')
    await world.settled()
    const todos = expectStatus(await at.developer.get('/todos'), 200) as Json[]
    expect(todos.map(({ action_name }) => action_name as string)).toEqual(['build_failed'])
  })
})

describe('the head itself is built', () => {
  const isDetached = async (at: MergeProject): Promise<void> => {
    const head = (await at.head('a'))!
    expect(await only(at)).toMatchObject({ ref: headRef, sha: head })
    const job = await (await RawRunner.forProject(world, at.project)).take()
    expect(about(job)).toEqual(detached)
    expect(job.payload['git_info']).toMatchObject({ sha: head })
  }

  test('where the project does not want it otherwise', async () => {
    const at = await configured({ merge_pipelines_enabled: false })
    await diverged(at)
    await isDetached(at)
  })

  test('where the branches do not fit together', async () => {
    const at = await configured()
    await at.commit('a', { 'README.md': 'ours\n' })
    await at.commit('main', { 'README.md': 'theirs\n' })
    await open(at)
    await isDetached(at)
  })

  test('in a fork, and its merge where the target project lets who asks run it there', async () => {
    const at = await configured({}, { visibility: 'public' })
    const stranger = await world.user()
    const fork = expectStatus(await stranger.post(`${at.base}/fork`, {}), 201)
    const path = `/projects/${fork['id'] as number}`
    await world.settled()
    const made = expectStatus(
      await stranger.post(`${path}/repository/commits`, {
        branch: 'a',
        start_branch: 'main',
        commit_message: 'Work',
        actions: [{ action: 'create', file_path: 'a.txt', content: 'a\n' }],
      }),
      201,
    )
    const target = await at.commit('main', { 'main.txt': 'main\n' })
    const fields = { source_branch: 'a', target_branch: 'main', title: 'Work', target_project_id: at.id }
    expectStatus(await stranger.post(`${path}/merge_requests`, fields), 201)
    const first = await only(at)
    expect(first).toMatchObject({ project_id: fork['id'], ref: headRef, sha: made['id'] })
    expect(await again(at)).toMatchObject({ project_id: at.id, ref: mergeRef })
    const job = await (await RawRunner.forProject(world, at.project)).take()
    expect(about(job)).toEqual({
      EVENT_TYPE: 'merged_result',
      REF_PATH: headRef,
      SOURCE_BRANCH_SHA: made['id'],
      TARGET_BRANCH_SHA: target,
    })
    expect(await filesOf(at, job)).toContain('a.txt')
  })

  test('without a paid plan', async () => {
    const at = await configured()
    await diverged(at)
    const free = await world.sibling({ PLAN: 'free' })
    const { id, username, token } = at.developer
    const made = await new Person(free.address, { id, username, token }).post(`${at.one(1)}/pipelines`)
    expect(expectStatus(made, 200)).toMatchObject({ ref: headRef, sha: await at.head('a') })
  })
})
