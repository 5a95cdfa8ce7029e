// @module-tag long
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { during } from '../settings/effects.ts'
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

const script = ['x']
const pathOf = (ci: CiProject): string => ci.project['path_with_namespace'] as string
const get = async (path: string): Promise<Json> => (await world.root.get(path)).body as Json
const shown = (of: Json): Promise<Json> => get(`/projects/${of['project_id']}/pipelines/${of['id']}`)
const bridges = async (of: Json): Promise<Json[]> =>
  (await get(`/projects/${of['project_id']}/pipelines/${of['id']}/bridges`)) as Json[]
const jobs = async (of: Json): Promise<Json[]> =>
  (await get(`/projects/${of['project_id']}/pipelines/${of['id']}/jobs`)) as Json[]
const reach = (of: Json, ...statuses: string[]): Promise<Json> =>
  until(
    () => shown(of),
    ({ status }) => statuses.includes(status as string),
  )
/** The only trigger job, once it is in one of these. */
const bridge = async (of: Json, ...statuses: string[]): Promise<Json> =>
  (
    await until(
      () => bridges(of),
      ([one]) => statuses.includes(one?.['status'] as string),
    )
  )[0]!
const child = (of: Json): Promise<Json> =>
  until(
    async () => (await bridges(of))[0]?.['downstream_pipeline'] as Json,
    (found) => (found as Json | null) !== null,
  )

async function withChild(trigger: Json, content: string, more: Json = {}): Promise<CiProject> {
  const ci = await projects.make({ down: { trigger: { include: 'child.yml', ...trigger } }, ...more })
  await ci.push({ 'child.yml': content }, { options: ['ci.skip'] })
  return ci
}

test('a trigger job knows what jobs before it have reported, and hands it on', async () => {
  const ci = await withChild({ forward: { pipeline_variables: true } }, 'inner: {script: [x]}\n', {
    make: { stage: 'build', script, artifacts: { reports: { dotenv: 'build.env' } } },
    other: { stage: 'build', script },
    down: {
      needs: ['make'],
      variables: { NAME: 'v-$VERSION' },
      trigger: { include: 'child.yml', forward: { pipeline_variables: true } },
    },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  for (const _ of ['make', 'other']) {
    const job = await runner.take()
    const made = new Uint8Array(gzipSync('VERSION=1.5\n'))
    await job.upload(made, { artifact_type: 'dotenv', artifact_format: 'gzip' }, '.env.gz')
    await job.end('success')
  }
  const inner = await until(
    () => runner.ask(),
    ({ status }) => status === 201,
  )
  const variables = inner.body['variables'] as Json[]
  expect(variables).toContainEqual(expect.objectContaining({ key: 'NAME', value: 'v-1.5' }))
  expect(variables).toContainEqual(expect.objectContaining({ key: 'VERSION', value: '1.5' }))
})

describe('a child pipeline', () => {
  test('is of the same commit, hidden from lists, and known to its trigger job', async () => {
    const ci = await withChild({}, 'inner: {script: [x]}\n')
    // The push makes one that is skipped, which would be the latest.
    await world.settled()
    const parent = await ci.run(world.root)
    const done = await bridge(parent, 'success')
    const made = done['downstream_pipeline'] as Json
    expect(done).toMatchObject({ name: 'down', status: 'success', finished_at: expect.any(String) as string })
    expect(made).toMatchObject({
      project_id: ci.id,
      sha: parent['sha'],
      ref: 'main',
      source: 'parent_pipeline',
      status: 'pending',
      web_url: `${world.url}/${pathOf(ci)}/-/pipelines/${made['id']}`,
    })
    expect((await jobs(made)).map(({ name }) => name)).toEqual(['inner'])
    const ids = async (query: string) =>
      ((await get(`/projects/${ci.id}/pipelines${query}`)) as Json[]).map(({ id }) => id as number)
    expect(await ids('')).not.toContain(made['id'])
    expect(await ids('?source=parent_pipeline')).toEqual([made['id']])
    expect((await get(`/projects/${ci.id}/pipelines/latest`))['id']).toBe(parent['id'])
    expect(await reach(parent, 'success')).toMatchObject({ status: 'success' })
  })

  test('is given the variables of the file, and of the run where it says so, and inputs', async () => {
    const content = 'spec: {inputs: {name: {}}}\n---\n"$[[ inputs.name ]]": {script: [x]}\n'
    const include = [{ local: 'child.yml', inputs: { name: 'named' } }]
    for (const [forward, keys] of [
      [undefined, ['GLOBAL', 'OWN']],
      [{ yaml_variables: false }, []],
      [{ pipeline_variables: true }, ['GLOBAL', 'OWN', 'GIVEN']],
      [{ yaml_variables: false, pipeline_variables: true }, ['GIVEN']],
    ] as const) {
      const ci = await projects.make({
        variables: { GLOBAL: 'g' },
        down: { variables: { OWN: '$GLOBAL-$CI_COMMIT_BRANCH-$GIVEN' }, trigger: { include, forward } },
      })
      await ci.push({ 'child.yml': content }, { options: ['ci.skip'] })
      const parent = await ci.run(world.root, { variables: [{ key: 'GIVEN', value: 'v' }] })
      const made = await child(parent)
      expect((await jobs(made)).map(({ name }) => name)).toEqual(['named'])
      const given = (await get(`/projects/${ci.id}/pipelines/${made['id']}/variables`)) as Json[]
      expect(given.map(({ key }) => key as string)).toEqual([...keys])
      expect(given.find(({ key }) => key === 'OWN')?.['value'] ?? 'g-main-v').toBe('g-main-v')
    }
  })

  test('knows where it comes from', async () => {
    const ci = await withChild({}, 'inner: {script: [x]}\n')
    const runner = await RawRunner.forProject(world, ci.project)
    const parent = await ci.run(world.root)
    const { id } = await bridge(parent, 'success')
    const job = await runner.take()
    expect(job.variable('CI_PIPELINE_SOURCE')).toBe('parent_pipeline')
    expect(job.variable('CI_UPSTREAM_PIPELINE_ID')).toBe(String(parent['id']))
    expect(job.variable('CI_UPSTREAM_JOB_ID')).toBe(String(id))
  })

  test.each([
    ['depend', 'failed', 'failed', 'failed'],
    ['depend', 'success', 'success', 'success'],
    ['mirror', 'success', 'success', 'success'],
  ] as const)('with strategy %s that ends %s ends its job %s', async (strategy, state, status, whole) => {
    const ci = await withChild({ strategy }, 'inner: {script: [x]}\n')
    const runner = await RawRunner.forProject(world, ci.project)
    const parent = await ci.run(world.root)
    await child(parent)
    expect(await reach(parent, 'running')).toMatchObject({ status: 'running' })
    await (await runner.take()).end(state)
    expect(await bridge(parent, 'success', 'failed')).toMatchObject({ status })
    expect(await reach(parent, 'success', 'failed')).toMatchObject({ status: whole })
  })

  test('that waits for somebody is copied, or waited for', async () => {
    const content = 'inner: {script: [x], when: manual, allow_failure: false}\n'
    const mirroring = await (await withChild({ strategy: 'mirror' }, content)).run(world.root)
    const waiting = await (await withChild({ strategy: 'depend' }, content)).run(world.root)
    expect(await reach(mirroring, 'manual')).toMatchObject({ status: 'manual' })
    await bridge(mirroring, 'manual')
    await bridge(waiting, 'running')
    await reach(await child(waiting), 'manual')
    expect(await shown(waiting)).toMatchObject({ status: 'running' })
  })

  test('retried opens its trigger job and what was skipped after it', async () => {
    const ci = await withChild({ strategy: 'depend' }, 'inner: {script: [x]}\n', {
      after: { stage: 'deploy', script },
    })
    const runner = await RawRunner.forProject(world, ci.project)
    const parent = await ci.run(world.root)
    const made = await child(parent)
    await (await runner.take()).end('failed')
    expect(await reach(parent, 'failed')).toMatchObject({ status: 'failed' })
    expect((await jobs(parent))[0]).toMatchObject({ name: 'after', status: 'skipped' })

    expectStatus(await world.root.post(`/projects/${ci.id}/pipelines/${made['id']}/retry`), 201)
    await bridge(parent, 'running')
    expect(await reach(parent, 'running')).toMatchObject({ finished_at: null })
    await (await runner.take()).end('success')
    await bridge(parent, 'success')
    await (await until(
      async () => runner.take().catch(() => undefined),
      (job) => job !== undefined,
    ))!.end('success')
    expect(await reach(parent, 'success')).toMatchObject({ status: 'success' })
  })

  test('is canceled with its parent, and stays when that is deleted', async () => {
    const ci = await withChild({}, 'inner: {script: [x]}\n', { other: { script } })
    const [first, second] = [await ci.run(world.root), await ci.run(world.root)]
    const [made, kept] = [await child(first), await child(second)]
    expectStatus(await world.root.post(`/projects/${ci.id}/pipelines/${first['id']}/cancel`), 200)
    expect(await reach(made, 'canceled')).toMatchObject({ status: 'canceled' })
    expect(await shown(kept)).toMatchObject({ status: 'pending' })
    const gone = await world.root.request('DELETE', `/projects/${ci.id}/pipelines/${second['id']}`)
    expect(gone.status).toBe(204)
    expect(await reach(kept, 'canceled')).toMatchObject({ status: 'canceled' })
  })

  test('is started again when its failed trigger job is retried', async () => {
    const ci = await withChild({ strategy: 'depend' }, 'inner: {script: [x]}\n')
    const runner = await RawRunner.forProject(world, ci.project)
    const parent = await ci.run(world.root)
    const first = await child(parent)
    await (await runner.take()).end('failed')
    await bridge(parent, 'failed')
    expectStatus(await world.root.post(`/projects/${ci.id}/pipelines/${parent['id']}/retry`), 201)
    await bridge(parent, 'running')
    const second = await child(parent)
    expect(second['id']).toBeGreaterThan(first['id'] as number)
  })

  test('waits for somebody to play its manual trigger job', async () => {
    const ci = await withChild({}, 'inner: {script: [x]}\n', {
      down: { when: 'manual', trigger: { include: 'child.yml' } },
      other: { script },
    })
    const parent = await ci.run(world.root)
    const waiting = await bridge(parent, 'manual')
    const played = await world.root.post(`/projects/${ci.id}/jobs/${waiting['id']}/play`, {})
    expect(played.status, played.text).toBe(200)
    expect(played.body).toMatchObject({ id: waiting['id'], name: 'down' })
    expect((await child(parent))['source']).toBe('parent_pipeline')
    expect((await world.root.post(`/projects/${ci.id}/jobs/${waiting['id']}/play`, {})).status).toBe(400)
  })

  test('goes no deeper than two levels, and in no circle', async () => {
    const ci = await withChild({}, 'down: {trigger: {include: child.yml}}\n')
    let at = await ci.run(world.root)
    for (let level = 0; level < 2; level += 1) at = await child(at)
    expect(await bridge(at, 'failed')).toMatchObject({
      failure_reason: 'reached_max_descendant_pipelines_depth',
      downstream_pipeline: null,
    })
  })

  test('with a wrong configuration fails its trigger job', async () => {
    const ci = await withChild({}, 'inner: {}\n')
    const failed = await bridge(await ci.run(world.root), 'failed')
    expect(failed).toMatchObject({
      failure_reason: 'downstream_pipeline_creation_failed',
      downstream_pipeline: { status: 'failed' },
    })
  })

  test('can be made of what a job has made', async () => {
    const ci = await projects.make({
      generate: { stage: 'build', script, artifacts: { paths: ['made.yml'] } },
      down: { trigger: { include: [{ artifact: 'made.yml', job: 'generate' }] } },
    })
    const runner = await RawRunner.forProject(world, ci.project)
    const run = async (files: Record<string, string>): Promise<Json> => {
      const parent = await ci.run(world.root)
      const job = await runner.take()
      const zip = new ZipFile()
      for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name)
      zip.end()
      const content = new Uint8Array(await buffer(zip.outputStream))
      const about = { artifact_type: 'archive', artifact_format: 'zip' }
      expect((await job.upload(content, about)).status).toBe(201)
      await job.end('success')
      return bridge(parent, 'success', 'failed')
    }
    const made = (await run({ 'made.yml': 'dynamic: {script: [x]}\n' }))['downstream_pipeline'] as Json
    expect((await jobs(made)).map(({ name }) => name)).toEqual(['dynamic'])
    await world.root.post(`/projects/${ci.id}/pipelines/${made['id']}/cancel`)
    expect(await run({ 'other.yml': 'x' })).toMatchObject({ status: 'failed' })
    expect(await run({ 'made.yml': `#${'x'.repeat(3_000_000)}` })).toMatchObject({ status: 'failed' })
  })
})

describe('a pipeline of another project', () => {
  const member = async (of: CiProject, person: Person, access_level: number): Promise<void> => {
    expectStatus(
      await world.root.post(`/projects/${of.id}/members`, { user_id: person.id, access_level }),
      201,
    )
  }

  test('is started on its default branch, or another, by the rights of the user', async () => {
    const target = await projects.make({ there: { script } })
    await target.push({ a: 'a' }, { to: 'feature', options: ['ci.skip'] })
    const ci = await projects.make({
      variables: { WHERE: pathOf(target) },
      down: { trigger: { project: '$WHERE', branch: 'feature' } },
    })
    const maintainer = await world.member(ci, 'maintainer')
    const failing = async (): Promise<unknown> =>
      (await bridge(await ci.run(maintainer), 'failed'))['failure_reason']
    expect(await failing()).toBe('downstream_bridge_project_not_found')
    await member(target, maintainer, 20)
    expect(await failing()).toBe('insufficient_bridge_permissions')
    await world.root.put(`/projects/${target.id}/members/${maintainer.id}`, { access_level: 30 })
    const made = (await bridge(await ci.run(maintainer), 'success'))['downstream_pipeline'] as Json
    expect(made).toMatchObject({ project_id: target.id, ref: 'feature', source: 'pipeline' })
    expect(
      ((await get(`/projects/${target.id}/pipelines`)) as Json[]).map(({ id }) => id as number),
    ).toContain(made['id'])
    const list = (await get(`/projects/${ci.id}/pipelines`)) as Json[]
    expect(list.map(({ project_id }) => project_id as number)).not.toContain(target.id)
  })

  test('on a protected branch needs the right to push or merge there', async () => {
    const target = await projects.make({ there: { script } })
    const ci = await projects.make({ down: { trigger: pathOf(target) } })
    const maintainer = await world.member(ci, 'maintainer')
    await member(target, maintainer, 30)
    expect(await bridge(await ci.run(maintainer), 'failed')).toMatchObject({
      failure_reason: 'insufficient_bridge_permissions',
    })
  })

  test('is not canceled with the one that started it', async () => {
    const target = await projects.make({ there: { script } })
    const ci = await projects.make({ down: { trigger: { project: pathOf(target), strategy: 'depend' } } })
    const parent = await ci.run(world.root)
    await bridge(parent, 'running')
    const made = await child(parent)
    expectStatus(await world.root.post(`/projects/${ci.id}/pipelines/${parent['id']}/cancel`), 200)
    expect(await reach(parent, 'canceled')).toMatchObject({ status: 'canceled' })
    expect(await shown(made)).toMatchObject({ status: 'pending' })
  })

  test('whose branch is not there fails the trigger job', async () => {
    const target = await projects.make({ there: { script } })
    const ci = await projects.make({ down: { trigger: { project: pathOf(target), branch: 'none' } } })
    expect(await bridge(await ci.run(world.root), 'failed')).toMatchObject({
      failure_reason: 'downstream_pipeline_creation_failed',
    })
  })

  test('that starts the first one again is stopped', async () => {
    const [one, other] = [await projects.make({ x: { script } }), await projects.make({ x: { script } })]
    const config = (to: CiProject) => ({ '.gitlab-ci.yml': `down: {trigger: ${pathOf(to)}}\n` })
    await one.push(config(other), { options: ['ci.skip'] })
    await other.push(config(one), { options: ['ci.skip'] })
    let at = await one.run(world.root)
    for (let hop = 0; hop < 4; hop += 1) at = await child(at)
    expect(await bridge(at, 'failed')).toMatchObject({ failure_reason: 'pipeline_loop_detected' })
  })

  test('can be limited in number', async () => {
    const ci = await withChild({}, 'inner: {script: [x]}\n')
    await during(world, { downstream_pipeline_trigger_limit_per_project_user_sha: 1 }, async () => {
      await bridge(await ci.run(world.root), 'success')
      expect(await bridge(await ci.run(world.root), 'failed')).toMatchObject({
        failure_reason: 'reached_downstream_pipeline_trigger_rate_limit',
      })
    })
    expect(await bridge(await ci.run(world.root), 'success')).toMatchObject({ status: 'success' })
  })

  test('is followed by a job that needs it', async () => {
    const source = await projects.make({ there: { script } })
    const runner = await RawRunner.forProject(world, source.project)
    const ci = await projects.make({ follows: { needs: { pipeline: pathOf(source) } } })
    // The newest pipeline there is the one of the first push, which asked for none.
    expect(await bridge(await ci.run(world.root), 'skipped')).toMatchObject({ downstream_pipeline: null })
    await source.run(world.root)
    const following = await ci.run(world.root)
    await bridge(following, 'running')
    await (await runner.take()).end('success')
    expect(await bridge(following, 'success')).toMatchObject({ downstream_pipeline: null })
    const stranger = await world.member(ci, 'maintainer')
    expect(await bridge(await ci.run(stranger), 'failed')).toMatchObject({
      failure_reason: 'upstream_bridge_project_not_found',
    })
  })
})

describe('artifacts of elsewhere', () => {
  const archive = async (): Promise<Uint8Array<ArrayBuffer>> => {
    const zip = new ZipFile()
    zip.addBuffer(Buffer.from('hello'), 'x.txt')
    zip.end()
    return new Uint8Array(await buffer(zip.outputStream))
  }
  const about = { artifact_type: 'archive', artifact_format: 'zip' }
  const dependencies = (payload: Json): string[] =>
    (payload['dependencies'] as Json[]).map(({ name }) => name as string)

  test('a job gets those of the newest success of a job of another project that it may read', async () => {
    const config = {
      make: { stage: 'build', script, artifacts: { paths: ['x.txt'] } },
      // What becomes of its pipeline afterwards does not matter.
      confirm: { script, when: 'manual', allow_failure: false },
    }
    const [open, shut] = [
      await projects.make(config, { visibility: 'internal' }),
      await projects.make(config),
    ]
    for (const source of [open, shut]) {
      const runner = await RawRunner.forProject(world, source.project)
      await source.run(world.root)
      const job = await runner.take()
      expect((await job.upload(await archive(), about)).status).toBe(201)
      await job.end('success')
    }
    const needing = (project: string, job = 'make') => ({
      use: {
        script,
        needs: [{ project, ref: '$BRANCH', job, artifacts: true }],
        variables: { BRANCH: 'main' },
      },
    })
    const ci = await projects.make(needing(pathOf(open)))
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    const job = await runner.take()
    expect(dependencies(job.payload)).toEqual(['make'])
    const { id } = (job.payload['dependencies'] as Json[])[0]!
    expect((await job.download(id as number)).status).toBe(200)

    // What is private no job of another project reaches.
    for (const [project, name] of [
      [pathOf(shut), 'make'],
      [pathOf(open), 'none'],
    ] as const) {
      const other = await projects.make(needing(project, name))
      const its = await RawRunner.forProject(world, other.project)
      const pipeline = await other.run(world.root)
      expect((await its.ask()).status).toBe(204)
      expect(await jobs(pipeline)).toMatchObject([{ failure_reason: 'missing_dependency_failure' }])
    }
  })

  test('a child pipeline gets those of its parent, and of no other pipeline', async () => {
    const child = `
mine: {script: [x], needs: [{pipeline: $PARENT, job: make}]}
foreign: {stage: deploy, script: [x], needs: [{pipeline: '$OTHER', job: make}]}
`
    const ci = await projects.make({
      make: { stage: 'build', script, artifacts: { paths: ['x.txt'] } },
      down: {
        variables: { PARENT: '$CI_PIPELINE_ID' },
        trigger: { include: 'child.yml', forward: { pipeline_variables: true } },
      },
    })
    await ci.push({ 'child.yml': child }, { options: ['ci.skip'] })
    const runner = await RawRunner.forProject(world, ci.project)
    const run = async (body: Json = {}) => {
      const pipeline = await ci.run(world.root, body)
      const job = await runner.take()
      expect((await job.upload(await archive(), about)).status).toBe(201)
      await job.end('success')
      return bridge(pipeline, 'success')
    }
    const foreign = async (of: Json) =>
      (await jobs(of['downstream_pipeline'] as Json)).find(({ name }) => name === 'foreign')
    const first = await run({ variables: [{ key: 'OTHER', value: '0' }] })
    const taken = await runner.take()
    expect([taken.payload['job_info'].name, dependencies(taken.payload)]).toEqual(['mine', ['make']])
    await taken.end('success')
    expect((await runner.ask({ last_update: 'before' })).status).toBe(204)

    const other = String((first['pipeline'] as Json)['id'])
    const second = await run({ variables: [{ key: 'OTHER', value: other }] })
    await (await runner.take()).end('success')
    expect((await runner.ask({ last_update: 'before' })).status).toBe(204)
    for (const of of [first, second]) {
      expect(await foreign(of)).toMatchObject({ failure_reason: 'missing_dependency_failure' })
    }
  })
})
