import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
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

const oneJob = { test: { script: ['echo hello'], artifacts: { paths: ['out'] } } }

async function running(
  config: Json = oneJob,
): Promise<{ ci: CiProject; job: RawJob; runner: RawRunner; path: string }> {
  const ci = await projects.make(config)
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  const job = await runner.take()
  return { ci, runner, job, path: `/projects/${ci.id}/jobs/${job.id}` }
}

async function zip(files: Record<string, string>): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), name)
  archive.end()
  return new Uint8Array(await buffer(archive.outputStream))
}

describe('reading', () => {
  test('a job, with its pipeline, commit and runner', async () => {
    const { ci, job, path, runner } = await running()
    await job.end('failed', { failure_reason: 'script_failure' })
    const { body } = await world.root.get(path)
    expect(Object.keys(body as object)).toEqual([
      'id',
      'status',
      'stage',
      'name',
      'ref',
      'tag',
      'coverage',
      'allow_failure',
      'created_at',
      'started_at',
      'finished_at',
      'erased_at',
      'duration',
      'queued_duration',
      'user',
      'commit',
      'pipeline',
      'failure_reason',
      'web_url',
      'project',
      'artifacts',
      'runner',
      'runner_manager',
      'artifacts_expire_at',
      'archived',
      'tag_list',
    ])
    expect(body).toMatchObject({
      id: job.id,
      status: 'failed',
      stage: 'test',
      name: 'test',
      coverage: null,
      user: { username: 'root' },
      commit: { id: ci.sha, title: 'Add configuration', author_name: 'Ada', parent_ids: [] },
      pipeline: { sha: ci.sha, status: 'failed', source: 'api' },
      failure_reason: 'script_failure',
      runner: {
        id: runner.id,
        runner_type: 'project_type',
        online: true,
        status: 'online',
        is_shared: false,
      },
      runner_manager: { system_id: 's_raw', version: '18.2.0' },
      web_url: `${world.url}/${ci.project['path_with_namespace']}/-/jobs/${job.id}`,
    })
    expect(body.pipeline.name).toBeUndefined()
  })

  test('tells whether tokens of jobs lead to listed projects only', async () => {
    const { ci, path } = await running()
    const scoped = async (): Promise<unknown> => ((await world.root.get(path)).body as Json)['project']
    expect(await scoped()).toEqual({ ci_job_token_scope_enabled: false })
    expectStatus(await world.root.put(`/projects/${ci.id}`, { ci_job_token_scope_enabled: true }), 200)
    expect(await scoped()).toEqual({ ci_job_token_scope_enabled: true })
  })

  test('lists by status, by page and by cursor', async () => {
    const ci = await projects.make({
      a: { script: ['x'] },
      b: { script: ['x'], when: 'manual' },
      c: { script: ['x'] },
    })
    await ci.run(world.root)
    const get = (query: string) => world.root.get(`/projects/${ci.id}/jobs${query}`)
    const names = async (query: string): Promise<unknown[]> =>
      ((await get(query)).body as Json[]).map(({ name }) => name)
    expect(await names('')).toEqual(['c', 'b', 'a'])
    expect(await names('?scope=manual')).toEqual(['b'])
    expect(await names('?scope[]=manual&scope[]=pending')).toEqual(['c', 'b', 'a'])
    expect(await names('?per_page=2&page=2')).toEqual(['a'])
    expect((await get('?scope=odd')).body).toEqual({ error: 'scope does not have a valid value' })
    expect((await get('?page=501&per_page=100')).status).toBe(405)

    const first = await get('?pagination=keyset&order_by=id&per_page=2')
    expect((first.body as Json[]).map(({ name }) => name)).toEqual(['c', 'b'])
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1]
    const last = await world.root.get(next!)
    expect((last.body as Json[]).map(({ name }) => name)).toEqual(['a'])
    expect(last.headers.get('link')).toBeNull()
    expect((await get('?pagination=keyset&cursor=odd')).body).toEqual({ error: 'cursor is invalid' })
  })

  test('the log of a job that traces its commands is for developers', async () => {
    const { ci, job, path } = await running()
    const reporter = await world.member(ci, 'reporter')
    expect((await job.patch('set -x\n', '0-6', '?debug_trace=true')).status).toBe(202)
    expect((await reporter.get(`${path}/trace`)).status).toBe(403)
    const log = await world.root.get(`${path}/trace`)
    expect([log.text, log.headers.get('content-type')]).toEqual(['set -x\n', 'text/plain'])
    expect((await job.put({ state: 'running' })).headers.get('x-gitlab-trace-update-interval')).toBe('3')
  })
})

describe('acting', () => {
  test('retry makes a new job in the place of the old one', async () => {
    const { job, path, runner } = await running()
    const early = await world.root.post(`${path}/retry`)
    expect([early.status, early.body]).toEqual([403, { message: '403 Forbidden - Job is not retryable' }])
    await job.end('failed')
    const retried = await world.root.post(`${path}/retry`)
    expect([retried.status, retried.body.status, retried.body.name]).toEqual([201, 'pending', 'test'])
    expect(retried.body.id).not.toBe(job.id)
    expect((await world.root.post(`${path}/retry`)).status).toBe(403)
    expect((await runner.take()).id).toBe(retried.body.id)
  })

  test('play starts a manual job, with variables of its own', async () => {
    const ci = await projects.make({ deploy: { script: ['x'], when: 'manual' } })
    const pipeline = await ci.run(world.root)
    expect(pipeline['status']).toBe('skipped')
    const [manual] = (await world.root.get(`/projects/${ci.id}/jobs`)).body as Json[]
    const path = `/projects/${ci.id}/jobs/${manual!['id']}/play`
    const variables = [{ key: 'WHERE', value: 'here' }]
    expect((await world.root.post(path, { job_variables_attributes: [{ value: 'x' }] })).body).toEqual({
      error: 'job_variables_attributes[0][key] is missing',
    })
    const played = await world.root.post(path, { job_variables_attributes: variables })
    expect([played.status, played.body.status]).toEqual([200, 'pending'])
    const again = await world.root.post(path)
    expect([again.status, again.body]).toEqual([400, { message: '400 Bad request - Unplayable Job' }])
    const runner = await RawRunner.forProject(world, ci.project)
    const job = await runner.take()
    expect(job.variable('WHERE')).toBe('here')
    expect(job.variable('CI_JOB_MANUAL')).toBe('true')
  })

  test('cancel: what cannot be canceled stays as it is, force is for maintainers', async () => {
    const { ci, job, path } = await running()
    const developer = await world.member(ci, 'developer')
    expect((await world.root.post(`${path}/cancel`)).body.status).toBe('canceling')
    expect((await developer.post(`${path}/cancel`, { force: true })).status).toBe(403)
    expect((await world.root.post(`${path}/cancel`, { force: true })).body.status).toBe('canceled')
    expect((await world.root.post(`${path}/cancel`)).body.status).toBe('canceled')
    expect((await job.put({ state: 'success' })).status).toBe(403)
  })

  test('erase takes log and artifacts, once, of jobs that have ended', async () => {
    const { job, path } = await running()
    await job.say('secret')
    await job.upload(await zip({ a: 'a' }), { artifact_type: 'archive', artifact_format: 'zip' })
    expect((await world.root.post(`${path}/erase`)).body).toEqual({
      message: '403 Forbidden - Job is not erasable!',
    })
    await job.end('success')
    const erased = await world.root.post(`${path}/erase`)
    expect([erased.status, erased.body.artifacts]).toEqual([201, []])
    expect(erased.body.erased_at).not.toBeNull()
    await until(
      async () => (await world.root.get(`${path}/trace`)).text,
      (text) => text === '',
    )
    expect((await world.root.get(`${path}/artifacts`)).status).toBe(404)
    expect((await world.root.post(`${path}/erase`)).status).toBe(403)
  })

  test('what was skipped has nothing to erase: it may run yet', async () => {
    const ci = await projects.make({
      stages: ['test', 'deploy'],
      bad: { script: ['x'], stage: 'test' },
      skipped: { script: ['x'], stage: 'deploy' },
    })
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    await (await runner.take()).end('failed')
    const [skipped] = (await world.root.get(`/projects/${ci.id}/jobs?scope=skipped`)).body as Json[]
    const answer = await world.root.post(`/projects/${ci.id}/jobs/${skipped!['id'] as number}/erase`)
    expect([answer.status, answer.body]).toEqual([403, { message: '403 Forbidden - Job is not erasable!' }])
  })

  test('an unknown job', async () => {
    const ci = await projects.make(oneJob)
    for (const action of ['cancel', 'retry', 'play', 'erase', 'artifacts/keep']) {
      const reply = await world.root.post(`/projects/${ci.id}/jobs/99999999/${action}`)
      expect([reply.status, reply.body]).toEqual([404, { message: '404 Not found' }])
    }
  })
})

describe('artifacts', () => {
  async function withArchive(
    config: Json = oneJob,
  ): Promise<Awaited<ReturnType<typeof running>> & { bytes: Uint8Array }> {
    const made = await running(config)
    const bytes = await zip({ 'out/a.txt': 'content of a', 'out/b/c.txt': 'content of c' })
    const query = { artifact_type: 'archive', artifact_format: 'zip' }
    expect((await made.job.upload(bytes, query, 'my archive.zip')).status).toBe(201)
    await made.job.end('success')
    return { ...made, bytes }
  }

  test('the archive, a file of it, and those of the newest success on a ref', async () => {
    const { ci, path, bytes } = await withArchive()
    const all = await fetch(`${world.url}/api/v4${path}/artifacts`, { headers: world.root.headers })
    expect(all.headers.get('content-disposition')).toContain('filename="my_archive.zip"')
    expect(new Uint8Array(await all.arrayBuffer())).toEqual(bytes)
    expect((await world.root.get(`${path}/artifacts/out/b/c.txt`)).text).toBe('content of c')
    expect((await world.root.get(`${path}/artifacts/out/none.txt`)).status).toBe(404)
    const latest = `/projects/${ci.id}/jobs/artifacts/main`
    expect((await world.root.get(`${latest}/download?job=test`)).status).toBe(200)
    expect((await world.root.get(`${latest}/raw/out/a.txt?job=test`)).text).toBe('content of a')
    expect((await world.root.get(`${latest}/download?job=none`)).body).toEqual({
      message: '404 Job Not Found',
    })
    expect((await world.root.get(`${latest}/download`)).body).toEqual({ error: 'job is missing' })
  })

  test('the files in it, of a folder or all', async () => {
    const { path } = await withArchive()
    const tree = async (query = ''): Promise<unknown> =>
      (await world.root.get(`${path}/artifacts/tree${query}`)).body
    expect(await tree()).toEqual([{ name: 'out', path: 'out', type: 'directory', mode: '040755' }])
    const a = { name: 'a.txt', path: 'out/a.txt', type: 'file', size: 12 }
    const b = { name: 'b', path: 'out/b', type: 'directory' }
    expect(await tree('?path=out')).toMatchObject([a, b])
    expect(await tree('?path=/out/&recursive=true')).toMatchObject([a, b, { path: 'out/b/c.txt', size: 12 }])
    expect(await tree('?recursive=true&per_page=1&page=3')).toMatchObject([b])
    expect((await world.root.get(`${path}/artifacts/tree?path=none`)).status).toBe(404)
  })

  test('keep, delete one, delete all', async () => {
    const { ci, path } = await withArchive()
    expect((await world.root.get(path)).body.artifacts_expire_at).not.toBeNull()
    const kept = await world.root.post(`${path}/artifacts/keep`)
    expect([kept.status, kept.body.artifacts_expire_at]).toEqual([200, null])
    const developer = await world.member(ci, 'developer')
    expect((await developer.delete(`${path}/artifacts`)).status).toBe(403)
    expect((await world.root.delete(`${path}/artifacts`)).status).toBe(204)
    expect((await world.root.get(`${path}/artifacts`)).status).toBe(404)

    const other = await withArchive()
    expectStatus(await world.root.put(`/projects/${other.ci.id}`, { keep_latest_artifact: false }), 200)
    const all = await world.root.delete(`/projects/${other.ci.id}/artifacts`)
    expect([all.status, all.body]).toEqual([202, { message: '202 Accepted' }])
    await until(
      async () => (await world.root.get(`${other.path}/artifacts`)).status,
      (status) => status === 404,
    )
    const { artifacts_expire_at: expired } = (await world.root.get(other.path)).body as Json
    expect(Date.parse(expired as string)).toBeLessThanOrEqual(Date.now())
  })

  test('a job may keep its artifacts to some', async () => {
    const { ci, path } = await withArchive({
      test: { script: ['x'], artifacts: { paths: ['out'], access: 'maintainer' } },
    })
    const developer = await world.member(ci, 'developer')
    expect((await developer.get(`${path}/artifacts`)).status).toBe(403)
    expect((await world.root.get(`${path}/artifacts`)).status).toBe(200)
  })

  test('too large ones are refused', async () => {
    const { job } = await running()
    const asked = await job.authorize({ filesize: 200 * 1024 * 1024 })
    expect([asked.status, asked.body]).toEqual([413, { message: 'file size has reached maximum size limit' }])
  })
})
