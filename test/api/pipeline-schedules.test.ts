// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueue } from '../../src/tasks/index.ts'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import type { Person } from '../world/client.ts'
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

const nightly = { description: 'Nightly', ref: 'main', cron: '0 1 * * *' }
const listOf = (ci: CiProject): string => `/projects/${ci.id}/pipeline_schedules`
const oneOf = (ci: CiProject, { id }: Json): string => `${listOf(ci)}/${id}`
const make = async (ci: CiProject, fields: Json = {}, by: Person = world.root): Promise<Json> =>
  expectStatus(await by.post(listOf(ci), { ...nightly, ...fields }), 201)
const project = (fields: Json = {}): Promise<CiProject> => projects.make({ job: { script: ['x'] } }, fields)
const pipelinesOf = async (ci: CiProject, of: Json): Promise<Json[]> =>
  (await world.root.get(`${oneOf(ci, of)}/pipelines`)).body as Json[]
const firstOf = async (ci: CiProject, of: Json): Promise<Json> =>
  (
    await until(
      () => pipelinesOf(ci, of),
      ({ length }) => length > 0,
    )
  )[0]!
/** As when the minute begins, with these schedules due. */
async function tick(...due: Json[]): Promise<void> {
  const { db } = world.service.services
  const ids = due.map(({ id }) => id as number)
  await sql`update ci_pipeline_schedules set next_run_at = now() - interval '1 second' where id = any (${ids}::bigint[])`.execute(
    db.writer,
  )
  await enqueue(db.writer, 'ci:run-due-schedules', {})
}

describe('schedules', () => {
  test('are made, read, listed, changed and deleted', async () => {
    const ci = await project()
    const made = await make(ci, { cron_timezone: 'Asia/Tokyo' })
    expect(Object.keys(made)).toEqual([
      'id',
      'description',
      'ref',
      'cron',
      'cron_timezone',
      'next_run_at',
      'active',
      'created_at',
      'updated_at',
      'owner',
      'last_pipeline',
      'variables',
    ])
    expect(made).toMatchObject({
      ...nightly,
      ref: 'refs/heads/main',
      cron_timezone: 'Asia/Tokyo',
      next_run_at: expect.stringMatching(/T16:00:00\.000Z$/) as string,
      active: true,
      owner: { username: 'root' },
      last_pipeline: null,
      variables: [],
    })
    expect((await world.root.get(oneOf(ci, made))).body).toEqual(made)
    const { last_pipeline: _, variables: __, ...summary } = made
    expect((await world.root.get(listOf(ci))).body).toEqual([summary])

    const off = expectStatus(
      await world.root.put(oneOf(ci, made), { active: false, cron: '30 2 * * *' }),
      200,
    )
    expect(off).toMatchObject({
      active: false,
      next_run_at: expect.stringMatching(/T17:30:00\.000Z$/) as string,
    })
    const ids = async (scope: string) =>
      ((await world.root.get(`${listOf(ci)}?scope=${scope}`)).body as Json[]).map(({ id }) => id as number)
    expect([await ids('active'), await ids('inactive')]).toEqual([[], [made['id']]])
    expect((await world.root.get(`${listOf(ci)}?scope=odd`)).body).toEqual({
      error: 'scope does not have a valid value',
    })

    expect((await world.root.request('DELETE', oneOf(ci, made))).status).toBe(204)
    expect((await world.root.get(oneOf(ci, made))).body).toEqual({
      message: '404 Pipeline Schedule Not Found',
    })
  })

  const fault = { message: { cron: ['syntax is invalid'] } }
  test.each([
    [{ cron: 'x' }, fault],
    [{ cron: '* * * * * *' }, fault],
    [{ cron_timezone: 'Mars' }, { message: { cron_timezone: ['syntax is invalid'] } }],
    [{ description: ' ' }, { message: { description: ["can't be blank"] } }],
    [{ ref: '' }, { message: { ref: ["can't be blank"] } }],
    [{ ref: 'none' }, { message: { ref: ['is invalid'] } }],
    [{ ref: 'twice' }, { message: { ref: ['is ambiguous'] } }],
    [{ cron: undefined }, { error: 'cron is missing' }],
    [{ active: 'odd' }, { error: 'active is invalid' }],
  ])('%j is refused', async (fields, answer) => {
    const ci = await shared()
    const reply = await world.root.post(listOf(ci), { ...nightly, ...fields })
    expect([reply.status, reply.body]).toEqual([400, answer])
  })
  let made: Promise<CiProject> | undefined
  const shared = (): Promise<CiProject> =>
    (made ??= project().then(async (ci) => {
      for (const to of ['refs/heads/twice', 'refs/tags/twice']) {
        await ci.push({ a: to }, { to, options: ['ci.skip'] })
      }
      return ci
    }))

  test('take a full name where a branch and a tag share one', async () => {
    expect(await make(await shared(), { ref: 'refs/tags/twice' })).toMatchObject({ ref: 'refs/tags/twice' })
  })

  test('are at most ten', async () => {
    const ci = await project()
    for (let count = 0; count < 10; count += 1) await make(ci)
    const reply = await world.root.post(listOf(ci), nightly)
    const text = 'Maximum number of pipeline schedules (10) exceeded'
    expect([reply.status, reply.body]).toEqual([400, { message: { base: [text] } }])
  })
})

describe('whoever owns a schedule', () => {
  test('changes it; Maintainers take it over or delete it', async () => {
    const ci = await project()
    await ci.push({ a: 'a' }, { to: 'free', options: ['ci.skip'] })
    const [owner, developer] = [await world.member(ci, 'developer'), await world.member(ci, 'developer')]
    const maintainer = await world.member(ci, 'maintainer')
    expect((await owner.post(listOf(ci), nightly)).status).toBe(403)
    const made = await make(ci, { ref: 'free' }, owner)
    const path = oneOf(ci, made)
    for (const other of [developer, maintainer]) {
      expect((await other.put(path, { description: 'x' })).status).toBe(403)
      expect((await other.post(`${path}/variables`, { key: 'A', value: '1' })).status).toBe(403)
    }
    expect((await developer.request('DELETE', path)).status).toBe(403)
    expect((await developer.post(`${path}/take_ownership`)).status).toBe(403)
    expectStatus(await owner.put(path, { description: 'Mine' }), 200)
    expectStatus(await owner.post(`${path}/variables`, { key: 'A', value: '1' }), 201)
    const seen = async (by: Person) => ((await by.get(path)).body as Json)['variables'] as Json[]
    expect((await seen(owner)).map(({ key }) => key as string)).toEqual(['A'])
    expect(await seen(developer)).toEqual([])
    expect(expectStatus(await maintainer.post(`${path}/take_ownership`), 201)).toMatchObject({
      owner: { username: maintainer.username },
      description: 'Mine',
      next_run_at: made['next_run_at'],
    })
    expect((await owner.put(path, { description: 'x' })).status).toBe(403)
    expect((await maintainer.request('DELETE', path)).status).toBe(204)
  })
})

describe('variables', () => {
  test('are made, changed and deleted', async () => {
    const ci = await project()
    const made = await make(ci)
    const path = `${oneOf(ci, made)}/variables`
    const variable = { key: 'A', variable_type: 'env_var', value: '1', raw: false }
    const added = expectStatus(await world.root.post(path, { key: 'A', value: '1' }), 201)
    expect(added).toEqual(variable)
    expect(Object.keys(added)).toEqual(['variable_type', 'key', 'value', 'raw'])
    expect((await world.root.post(path, { key: 'A', value: '2' })).body).toEqual({
      message: { key: ['A has already been taken'] },
    })
    expect((await world.root.post(path, { key: 'A-B', value: '2' })).status).toBe(400)
    const changed = { value: '3', variable_type: 'file' }
    expect(expectStatus(await world.root.put(`${path}/A`, changed), 200)).toEqual({ ...variable, ...changed })
    expect((await world.root.get(oneOf(ci, made))).body).toMatchObject({ variables: [changed] })
    expect((await world.root.put(`${path}/B`, { value: 'x' })).body).toEqual({
      message: '404 Pipeline Schedule Variable Not Found',
    })
    expect(expectStatus(await world.root.request('DELETE', `${path}/A`), 202)).toMatchObject({ key: 'A' })
    expect((await world.root.get(oneOf(ci, made))).body).toMatchObject({ variables: [] })
  })
})

describe('running', () => {
  test('when the time has come: in the name of the owner, once, with variables that only jobs see', async () => {
    const ci = await project()
    const owner = await world.member(ci, 'maintainer')
    const runner = await RawRunner.forProject(world, ci.project)
    const made = await make(ci, {}, owner)
    await world.root.put(`/projects/${ci.id}`, { ci_pipeline_variables_minimum_override_role: 'maintainer' })
    expectStatus(await owner.post(`${oneOf(ci, made)}/variables`, { key: 'FROM', value: 'schedule' }), 201)
    await tick(made)
    const pipeline = await firstOf(ci, made)
    expect(pipeline).toMatchObject({ source: 'schedule', ref: 'main', sha: ci.sha })
    const path = `/projects/${ci.id}/pipelines/${pipeline['id']}`
    expect((await world.root.get(path)).body).toMatchObject({ user: { username: owner.username } })
    expect((await world.root.get(`${path}/variables`)).body).toEqual([])
    const job = await runner.take()
    expect(job.variable('FROM')).toBe('schedule')
    expect(job.variable('CI_PIPELINE_SOURCE')).toBe('schedule')
    expect(job.variable('CI_PIPELINE_SCHEDULE_DESCRIPTION')).toBe('Nightly')
    const after = (await world.root.get(oneOf(ci, made))).body as Json
    expect(after['next_run_at']).toBe(made['next_run_at'])
    expect(after['last_pipeline']).toMatchObject({ id: pipeline['id'], source: 'schedule' })
    await tick()
    expect(await pipelinesOf(ci, made)).toHaveLength(1)
  })

  test('when somebody asks for it, in his name, once a minute', async () => {
    const ci = await project()
    const maintainer = await world.member(ci, 'maintainer')
    const developer = await world.member(ci, 'developer')
    const made = await make(ci, { active: false })
    const path = `${oneOf(ci, made)}/play`
    expect((await developer.post(path)).status).toBe(403)
    const played = await maintainer.post(path)
    expect([played.status, played.body]).toEqual([201, { message: '201 Created' }])
    const pipeline = await firstOf(ci, made)
    const shown = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).body
    expect(shown).toMatchObject({ user: { username: maintainer.username }, source: 'schedule' })
    expect((await maintainer.post(path)).status).toBe(429)
    expect((await world.root.get(oneOf(ci, made))).body).toMatchObject({ next_run_at: made['next_run_at'] })
  })

  test('not when it is switched off, and not any more when its owner is blocked', async () => {
    const ci = await project()
    const owner = await world.member(ci, 'maintainer')
    const [off, left] = [await make(ci, { active: false }), await make(ci, {}, owner)]
    expectStatus(await world.root.post(`/users/${owner.id}/block`), 201)
    await tick(off, left)
    await until(
      async () => (await world.root.get(oneOf(ci, left))).body as Json,
      ({ active }) => active === false,
    )
    expect([await pipelinesOf(ci, off), await pipelinesOf(ci, left)]).toEqual([[], []])
  })

  test('shows what is wrong with the configuration, and heeds no marker to skip', async () => {
    const ci = await project()
    const made = await make(ci)
    await ci.push({ '.gitlab-ci.yml': 'job: {}\n' }, { message: 'Break it [ci skip]' })
    await tick(made)
    const { id } = await firstOf(ci, made)
    const shown = (await world.root.get(`/projects/${ci.id}/pipelines/${id}`)).body
    expect(shown).toMatchObject({ status: 'failed', yaml_errors: expect.stringContaining('job') as string })
  })
})

test('a schedule gives inputs to its configuration, where the feature is on', async () => {
  const config =
    'spec:\n  inputs:\n    level: { default: low }\n---\n"job $[[ inputs.level ]]": { script: [x] }\n'
  const ci = await projects.make(config)
  const path = `/projects/${ci.id}/pipeline_schedules`
  const fields = {
    description: 'x',
    ref: 'main',
    cron: '0 1 * * *',
    inputs: [{ name: 'level', value: 'high' }],
  }
  const before = expectStatus(await world.root.post(path, fields), 201)
  expect(before).not.toHaveProperty('inputs')
  await world.service.services.settings.switch('ci_inputs_for_pipelines', true)
  try {
    const made = expectStatus(await world.root.post(path, fields), 201)
    expect(made['inputs']).toEqual([{ name: 'level', value: 'high' }])
    expectStatus(await world.root.post(`${path}/${made['id']}/play`), 201)
    const jobs = await until(
      async () => (await world.root.get(`/projects/${ci.id}/jobs`)).body as Json[],
      ({ length }) => length > 0,
    )
    expect(jobs[0]).toMatchObject({ name: 'job high' })
    const changed = await world.root.put(`${path}/${made['id']}`, {
      inputs: [
        { name: 'level', destroy: true },
        { name: 'other', value: 3 },
      ],
    })
    expect(expectStatus(changed, 200)['inputs']).toEqual([{ name: 'other', value: 3 }])
    const many = Array.from({ length: 21 }, (_, index) => ({ name: `n${index}`, value: 1 }))
    expect(await world.root.put(`${path}/${made['id']}`, { inputs: many })).toMatchObject({
      status: 400,
      body: { message: { base: ['There cannot be more than 20 inputs'] } },
    })
  } finally {
    await world.service.services.settings.switch('ci_inputs_for_pipelines', false)
  }
})
