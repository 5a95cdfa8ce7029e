// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { project as projectKind, enterAs, type ProjectSubject } from '../../src/access/index.ts'
import type { MergeRequestFacts } from '../../src/areas/pipelines/index.ts'
import {
  PersistentRefs,
  PipelineCreator,
  PipelineProcess,
  RemoteFiles,
} from '../../src/areas/pipelines/index.ts'
import { deployments } from '../../src/areas/environments/index.ts'
import { refProtection } from '../../src/app/ref-protection.ts'
import type { Oid } from '../../src/git/index.ts'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { startWorld, expectStatus, type Json, type World } from '../world/world.ts'

// What CI/CD makes of a merge request: which jobs there are, and what they know of it.

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

const script = ['x']

async function mergeRequest(ci: CiProject, { protectedSource = false } = {}): Promise<MergeRequestFacts> {
  const base = ci.sha
  const sha = await ci.push({ 'src/a.c': 'a' }, { to: 'fix', options: ['ci.skip'] })
  if (protectedSource) {
    expectStatus(await world.root.post(`/projects/${ci.id}/protected_branches`, { name: 'fix' }), 201)
  }
  const fields = { source_branch: 'fix', target_branch: 'main', title: 'Fix it' }
  const made = expectStatus(await world.root.post(`/projects/${ci.id}/merge_requests`, fields), 201)
  const place = {
    id: ci.id,
    path: ci.project['path_with_namespace'] as string,
    url: ci.project['web_url'] as string,
  }
  return {
    id: made['id'] as number,
    iid: made['iid'] as number,
    eventType: 'detached',
    title: 'Fix it',
    description: null,
    draft: false,
    approved: false,
    assignees: [],
    labels: [],
    milestone: null,
    squash: false,
    diffId: null,
    diffBaseSha: base,
    project: place,
    source: { branch: 'fix', sha, protected: protectedSource, project: place },
    target: { branch: 'main', sha: base, protected: true },
  }
}

async function create(ci: CiProject, facts: MergeRequestFacts): Promise<number> {
  const { services } = world.service
  const refs = new PersistentRefs(services)
  const process = new PipelineProcess({ ...services, deployments: deployments(services.plan), refs })
  const creator = new PipelineCreator({
    ...services,
    ...{
      refProtection,
      process,
      deployments: deployments(services.plan),
      refs,
      remoteFiles: new RemoteFiles(services.outbound),
    },
  })
  const entered = await enterAs<ProjectSubject>(services.db, projectKind, 1, ci.id)
  const made = await creator.create({
    project: entered!.subject,
    actor: entered!.actor,
    source: 'merge_request_event',
    ref: `refs/merge-requests/${facts.iid}/head`,
    tag: false,
    sha: facts.source.sha as Oid,
    mergeRequest: facts,
  })
  if ('refused' in made) throw new Error(made.refused ?? 'refused')
  return made.id
}

const jobsOf = async (ci: CiProject, id: number): Promise<unknown[]> =>
  ((await world.root.get(`/projects/${ci.id}/pipelines/${id}/jobs`)).body as Json[])
    .map(({ name }) => name)
    .sort()

test('its rules, filters and variables are those of the merge request', async () => {
  const ci = await projects.make({
    workflow: { rules: [{ if: '$CI_MERGE_REQUEST_IID' }, { if: '$CI_COMMIT_BRANCH' }] },
    'by source': { script, rules: [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }] },
    'by target': { script, rules: [{ if: '$CI_MERGE_REQUEST_TARGET_BRANCH_NAME == $CI_DEFAULT_BRANCH' }] },
    'by changes': { script, rules: [{ changes: ['src/**/*'] }] },
    'other changes': { script, rules: [{ changes: ['docs/**/*'] }] },
    'of branches': { script, rules: [{ if: '$CI_COMMIT_BRANCH' }] },
    'only them': { script, only: ['merge_requests'] },
    'only branches': { script, only: ['branches'] },
    'usually not': { script, only: ['main'] },
    'not them': { script, except: ['merge_requests'] },
  })
  const facts = await mergeRequest(ci)
  const id = await create(ci, facts)
  expect(await jobsOf(ci, id)).toEqual(['by changes', 'by source', 'by target', 'only them'])
  const pipeline = expectStatus(await world.root.get(`/projects/${ci.id}/pipelines/${id}`), 200)
  expect(pipeline).toMatchObject({
    source: 'merge_request_event',
    ref: `refs/merge-requests/${facts.iid}/head`,
    tag: false,
  })

  const runner = await RawRunner.forProject(world, ci.project)
  const job = await runner.take()
  expect(job.payload['git_info']).toMatchObject({ ref_type: 'branch', sha: facts.source.sha })
  const known = Object.fromEntries(
    ['CI_COMMIT_REF_NAME', 'CI_MERGE_REQUEST_TITLE', 'CI_OPEN_MERGE_REQUESTS', 'CI_COMMIT_BRANCH'].map(
      (key) => [key, job.variable(key)],
    ),
  )
  expect(known).toEqual({
    CI_COMMIT_REF_NAME: 'fix',
    CI_MERGE_REQUEST_TITLE: 'Fix it',
    CI_OPEN_MERGE_REQUESTS: `${facts.project.path}!${facts.iid}`,
    CI_COMMIT_BRANCH: undefined,
  })
})

test('the message of its commit may ask for no jobs', async () => {
  const ci = await projects.make({ test: { script, rules: [{ if: '$CI_MERGE_REQUEST_ID' }] } })
  await ci.push({ a: 'a' }, { to: 'fix', options: ['ci.skip'], message: 'Fix it [skip ci]' })
  const fields = { source_branch: 'fix', target_branch: 'main', title: 'Fix it' }
  const { iid } = expectStatus(await world.root.post(`/projects/${ci.id}/merge_requests`, fields), 201)
  const asked = await world.root.post(`/projects/${ci.id}/merge_requests/${iid}/pipelines`)
  expect(expectStatus(asked, 200)).toMatchObject({ status: 'skipped', source: 'merge_request_event' })
  await world.settled()

  const made = await world.root.get(`/projects/${ci.id}/pipelines?source=merge_request_event`)
  expect(new Set((made.body as Json[]).map(({ status }) => status))).toEqual(new Set(['skipped']))
})

test('protected values reach it only where both branches are protected, and who may run them runs it again', async () => {
  // Not for the pipeline that the merge request gets by itself.
  const rules = [{ if: '$CI_MERGE_REQUEST_TITLE == "By hand"' }]
  const ci = await projects.make({ one: { script, rules } })
  const variable = { key: 'SECRET', value: 'protected value', protected: true }
  expectStatus(await world.root.post(`/projects/${ci.id}/variables`, variable), 201)
  const runner = await RawRunner.forProject(world, ci.project)
  const developer = await world.member({ project: ci.project }, 'developer')

  const open = { ...(await mergeRequest(ci)), title: 'By hand' }
  const first = await create(ci, open)
  const job = await runner.take()
  expect(job.variable('SECRET')).toBeUndefined()
  await job.end('failed')
  expectStatus(await developer.post(`/projects/${ci.id}/pipelines/${first}/retry`), 201)
  await (await runner.take()).end('failed')

  expectStatus(await world.root.post(`/projects/${ci.id}/protected_branches`, { name: 'fix' }), 201)
  const second = await create(ci, { ...open, source: { ...open.source, protected: true } })
  const shut = await runner.take()
  expect(shut.variable('SECRET')).toBe('protected value')
  await shut.end('failed')
  expect((await developer.post(`/projects/${ci.id}/pipelines/${second}/retry`)).status).toBe(403)
  expect((await developer.post(`/projects/${ci.id}/jobs/${shut.id}/retry`)).status).toBe(403)
})
