// @module-tag long
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
import { git } from '../git/copies.ts'
import { eventually, MergeProjects } from '../world/merge-project.ts'
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

const get = async (path: string): Promise<Json> => expectStatus(await world.root.get(path), 200)

async function environment(ci: CiProject, name: string): Promise<Json> {
  const found = (await get(`/projects/${ci.id}/environments?name=${encodeURIComponent(name)}`)) as Json[]
  expect(found).toHaveLength(1)
  return get(`/projects/${ci.id}/environments/${found[0]!['id'] as number}`)
}

async function jobNamed(ci: CiProject, pipeline: Json, name: string): Promise<Json> {
  const jobs = await get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs`)
  return (jobs as Json[]).find((job) => job['name'] === name)!
}

const review = {
  deploy: {
    script: ['x'],
    environment: {
      name: 'review/$CI_COMMIT_REF_NAME',
      url: 'https://$CI_COMMIT_REF_SLUG.$HOST.example.com/$DYNAMIC',
      on_stop: 'stop',
      auto_stop_in: '$DAYS day',
    },
    variables: { HOST: 'app', DAYS: '1' },
    artifacts: { reports: { dotenv: 'deploy.env' } },
  },
  stop: {
    script: ['x'],
    when: 'manual',
    environment: { name: 'review/$CI_COMMIT_REF_NAME', action: 'stop' },
  },
}

async function deployed(): Promise<{ ci: CiProject; runner: RawRunner; pipeline: Json; of: Json }> {
  const ci = await projects.make(review)
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  const job = await runner.take()
  const dotenv = new Uint8Array(gzipSync('DYNAMIC=v2\n'))
  expectStatus(await job.upload(dotenv, { artifact_type: 'dotenv', artifact_format: 'gzip' }, '.env.gz'), 201)
  await job.end('success')
  const of = await until(
    () => environment(ci, 'review/main'),
    (found) => found['external_url'] !== null,
  )
  return { ci, runner, pipeline, of }
}

describe('a job that deploys', () => {
  test('makes its environment and a deployment, which follow it', async () => {
    const ci = await projects.make(review)
    const runner = await RawRunner.forProject(world, ci.project)
    const pipeline = await ci.run(world.root)
    const early = await environment(ci, 'review/main')
    expect(early).toMatchObject({
      slug: expect.stringMatching(/^review-main-[0-9a-z]{6}$/) as unknown,
      external_url: null,
      tier: 'development',
      state: 'available',
      auto_stop_at: null,
      last_deployment: null,
    })
    const path = `/projects/${ci.id}/deployments`
    expect(await get(path)).toMatchObject([{ iid: 1, status: 'created', ref: 'main', sha: ci.sha }])

    const job = await runner.take()
    expect(job.variable('CI_ENVIRONMENT_NAME')).toBe('review/main')
    expect(job.variable('CI_ENVIRONMENT_ID')).toBe(String(early['id']))
    expect(job.variable('CI_ENVIRONMENT_SLUG')).toBe(early['slug'])
    // What people wrote is put in by the runner.
    expect(job.variable('CI_ENVIRONMENT_URL')).toBe('https://$CI_COMMIT_REF_SLUG.app.example.com/$DYNAMIC')
    expect(job.variable('CI_ENVIRONMENT_TIER')).toBe('development')
    expect(job.variable('CI_ENVIRONMENT_ACTION')).toBe('start')
    expect(await get(`${path}?status=running`)).toMatchObject([{ iid: 1, deployable: { id: job.id } }])
    const dotenv = new Uint8Array(gzipSync('DYNAMIC=v2\n'))
    await job.upload(dotenv, { artifact_type: 'dotenv', artifact_format: 'gzip' }, '.env.gz')
    await job.end('success')
    const now = await until(
      () => environment(ci, 'review/main'),
      (found) => found['external_url'] !== null,
    )
    expect(now).toMatchObject({
      external_url: 'https://main.app.example.com/v2',
      last_deployment: {
        iid: 1,
        status: 'success',
        user: { username: 'root' },
        environment: { name: 'review/main' },
        deployable: { id: job.id, name: 'deploy', pipeline: { id: pipeline['id'] } },
      },
    })
    const inOneDay = Date.parse(now['auto_stop_at'] as string) - Date.now()
    expect(inOneDay).toBeGreaterThan(86_000_000)
    expect(inOneDay).toBeLessThanOrEqual(86_400_000)
  })

  test('that fails and is run again makes another one', async () => {
    const ci = await projects.make({ deploy: { script: ['x'], environment: 'production' } })
    const runner = await RawRunner.forProject(world, ci.project)
    await ci.run(world.root)
    const job = await runner.take()
    await job.end('failed')
    expectStatus(await world.root.post(`/projects/${ci.id}/jobs/${job.id}/retry`), 201)
    expect(await get(`/projects/${ci.id}/deployments?order_by=iid&sort=desc`)).toMatchObject([
      { iid: 2, status: 'created' },
      { iid: 1, status: 'failed', deployable: { id: job.id } },
    ])
    expect((await environment(ci, 'production'))['tier']).toBe('production')
  })

  test('something older than what is deployed by now fails', async () => {
    const ci = await projects.make({ deploy: { script: ['x'], environment: 'production' } })
    const runner = await RawRunner.forProject(world, ci.project)
    const older = await ci.run(world.root)
    expectStatus(
      await world.root.put(`/projects/${ci.id}`, { auto_cancel_pending_pipelines: 'disabled' }),
      200,
    )
    await ci.push({ a: 'a' }, { options: ['ci.skip'] })
    const newer = await ci.run(world.root)
    const db = world.service.services.db.writer
    // The newer one overtakes the older one.
    const ids = [await jobNamed(ci, older, 'deploy'), await jobNamed(ci, newer, 'deploy')].map(
      ({ id }) => id as number,
    )
    await sql`update ci_jobs set queued_at = queued_at + interval '1 hour' where id = ${ids[0]!}`.execute(db)
    const first = await runner.take()
    expect(first.id).toBe(ids[1])
    await first.end('success')
    expect((await runner.ask()).status).toBe(204)
    expect(await get(`/projects/${ci.id}/jobs/${ids[0]!}`)).toMatchObject({
      status: 'failed',
      failure_reason: 'failed_outdated_deployment_job',
    })
  })
})

describe('stopping', () => {
  const stopPath = (ci: CiProject, of: Json, more = ''): string =>
    `/projects/${ci.id}/environments/${of['id'] as number}/stop${more}`

  test('starts the job that stops it, and is done when that is', async () => {
    const { ci, runner, of } = await deployed()
    const reply = await world.root.post(stopPath(ci, of))
    expect([reply.status, reply.body.state]).toEqual([200, 'stopping'])
    const job = await runner.take()
    expect(job.variable('CI_ENVIRONMENT_ACTION')).toBe('stop')
    expect(job.variable('CI_ENVIRONMENT_URL')).toBe('https://main.app.example.com/v2')
    await job.end('success')
    const stopped = await until(
      () => environment(ci, 'review/main'),
      ({ state }) => state === 'stopped',
    )
    expect(stopped['auto_stop_at']).toBeNull()
  })

  test('by force without that job', async () => {
    const { ci, pipeline, of } = await deployed()
    const reply = await world.root.post(stopPath(ci, of), { force: true })
    expect([reply.status, reply.body.state]).toEqual([200, 'stopped'])
    expect((await jobNamed(ci, pipeline, 'stop'))['status']).toBe('manual')
  })

  test('by itself when its time has come', async () => {
    const { ci, of, runner } = await deployed()
    const { db } = world.service.services
    await sql`update environments set auto_stop_at = now() where id = ${of['id'] as number}`.execute(
      db.writer,
    )
    await sql`select graphile_worker.add_job('environments:stop-due')`.execute(db.writer)
    await until(
      () => environment(ci, 'review/main'),
      ({ state }) => state === 'stopping',
    )
    expect((await runner.take()).payload['job_info']).toMatchObject({ name: 'stop' })
  })

  test('those that nobody has touched for long', async () => {
    const { ci, of } = await deployed()
    const path = `/projects/${ci.id}/environments/stop_stale`
    const early = await world.root.post(path, { before: new Date().toISOString() })
    expect([early.status, early.body]).toEqual([400, { message: '400 Bad request - Invalid Date' }])
    const { db } = world.service.services
    const ago = sql`now() - interval '30 days'`
    await sql`update environments set updated_at = ${ago} where id = ${of['id'] as number}`.execute(db.writer)
    await sql`update deployments set created_at = ${ago} where project_id = ${ci.id}`.execute(db.writer)
    const before = new Date(Date.now() - 10 * 86_400_000).toISOString()
    const reply = await world.root.post(path, { before })
    expect([reply.status, reply.body]).toEqual([
      200,
      { message: 'Successfully requested stop for all stale environments' },
    ])
    await until(
      () => environment(ci, 'review/main'),
      ({ state }) => state === 'stopping',
    )
  })

  test('only who may run the job', async () => {
    const { ci, of } = await deployed()
    const developer = await world.member(ci, 'developer')
    // The job belongs to main, which is protected.
    expect((await developer.post(stopPath(ci, of))).status).toBe(403)
    expect((await developer.post(stopPath(ci, of), { force: true })).status).toBe(200)
  })
})

describe('by hand', () => {
  test('create, read, change and delete', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}/environments`
    const made = expectStatus(
      await world.root.post(path, {
        name: 'prod eu',
        external_url: 'https://eu.example.com',
        description: 'd',
      }),
      201,
    )
    expect(made).toMatchObject({
      name: 'prod eu',
      external_url: 'https://eu.example.com',
      tier: 'production',
      state: 'available',
      auto_stop_setting: 'always',
      description: 'd',
    })
    const one = `${path}/${made['id'] as number}`
    expect(Object.keys(await get(one))).toEqual([
      'id',
      'name',
      'slug',
      'external_url',
      'created_at',
      'updated_at',
      'tier',
      'state',
      'auto_stop_at',
      'auto_stop_setting',
      'description',
      'project',
      'last_deployment',
    ])
    const basic = (
      await get(`/projects?simple=true&id_after=${project.id - 1}&id_before=${project.id + 1}`)
    )[0]
    expect(basic).toMatchObject({ path_with_namespace: project.path_with_namespace })
    for (const shown of [made, await get(one), (await get(path))[0]]) expect(shown['project']).toEqual(basic)
    const changed = await world.root.put(one, {
      external_url: '',
      tier: 'other',
      auto_stop_setting: 'with_action',
    })
    expect(changed.body).toMatchObject({
      external_url: null,
      tier: 'other',
      auto_stop_setting: 'with_action',
      project: basic,
    })
    expect((await world.root.delete(one)).status).toBe(403)
    expect((await world.root.post(`${one}/stop`)).body).toMatchObject({ state: 'stopped', project: basic })
    expect((await world.root.delete(one)).status).toBe(204)
    expect((await world.root.get(one)).body).toEqual({ message: '404 Not found' })
  })

  test('lists by name, beginning and state', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}/environments`
    for (const name of ['Review/a', 'review/b', 'review_c', 'prod']) await world.root.post(path, { name })
    const names = async (query: string): Promise<unknown[]> =>
      ((await get(`${path}?${query}`)) as Json[]).map(({ name }) => name)
    expect(await names('')).toEqual(['Review/a', 'review/b', 'review_c', 'prod'])
    expect(await names('search=review/')).toEqual(['Review/a', 'review/b'])
    expect(await names('search=review_')).toEqual(['review_c'])
    expect(await names('name=prod')).toEqual(['prod'])
    expect(await names('states=stopped')).toEqual([])
    expect((await world.root.get(`${path}?search=re`)).body).toEqual({
      message: '400 Bad request - Search query is less than 3 characters',
    })
    expect((await world.root.get(`${path}?search=rev&name=x`)).body).toEqual({
      error: 'name, search are mutually exclusive',
    })
    expect((await world.root.get(`${path}?states=odd`)).status).toBe(400)
  })

  test.each([
    [
      { name: 'a', external_url: 'javascript:alert(1)' },
      { external_url: ['is blocked: Only allowed schemes are http, https'] },
    ],
    [{ name: 'a', external_url: 'no address' }, { external_url: ['is blocked: URI is invalid'] }],
    [{ name: '' }, { name: ["can't be blank"] }],
    [{ name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [
      { name: '/a' },
      {
        name: [
          "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
        ],
      },
    ],
  ])('refuses %j', async (body, message) => {
    const project = await world.project()
    const reply = await world.root.post(`/projects/${project.id}/environments`, body)
    expect([reply.status, reply.body]).toEqual([400, { message }])
  })

  test('refuses a name twice', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}/environments`
    await world.root.post(path, { name: 'a' })
    const reply = await world.root.post(path, { name: 'a' })
    expect([reply.status, reply.body]).toEqual([400, { message: { name: ['has already been taken'] } }])
  })

  test('review apps that are stopped and old go a week later', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}/environments`
    const made = expectStatus(await world.root.post(path, { name: 'review/old' }), 201)
    await world.root.post(`${path}/${made['id'] as number}/stop`)
    const { db } = world.service.services
    await sql`update environments set created_at = now() - interval '40 days' where project_id = ${project.id}`.execute(
      db.writer,
    )
    expect((await world.root.delete(`${path}/review_apps`)).body).toMatchObject({
      scheduled_entries: [{ id: made['id'], name: 'review/old' }],
      unprocessable_entries: [],
    })
    expect(
      (await world.root.delete(`${path}/review_apps?dry_run=false`)).body.scheduled_entries,
    ).toHaveLength(1)
    expect((await world.root.delete(`${path}/review_apps`)).body.scheduled_entries).toHaveLength(0)
    await sql`update environments set auto_delete_at = now() where project_id = ${project.id}`.execute(
      db.writer,
    )
    await sql`select graphile_worker.add_job('environments:remove-marked')`.execute(db.writer)
    await until(
      () => get(path),
      (list) => (list as Json[]).length === 0,
    )
  })
})

describe('deployments told of', () => {
  test('create, change, delete', async () => {
    const ci = await projects.make({ test: { script: ['x'] } })
    const path = `/projects/${ci.id}/deployments`
    const body = { environment: 'staging', sha: ci.sha, ref: 'main', tag: false, status: 'running' }
    const made = expectStatus(await world.root.post(path, body), 201)
    expect(made).toMatchObject({
      iid: 1,
      status: 'running',
      deployable: null,
      environment: { name: 'staging' },
    })
    const one = `${path}/${made['id'] as number}`
    expect((await world.root.delete(one)).body).toEqual({ message: 'Cannot destroy running deployment' })
    expect((await world.root.put(one, { status: 'success' })).body.status).toBe('success')
    expect((await environment(ci, 'staging'))['last_deployment']).toMatchObject({ id: made['id'] })
    expect((await world.root.delete(one)).body).toEqual({
      message: 'Deployment currently deployed to environment',
    })
    await world.root.post(path, { ...body, status: 'success' })
    expect((await world.root.delete(one)).status).toBe(204)
    expect(await get(`${path}?environment=staging&status=success`)).toMatchObject([{ iid: 2 }])
  })

  test('can be fetched by refs that nobody pushes, which go with them', async () => {
    const ci = await projects.make({ test: { script: ['x'] } })
    const path = `/projects/${ci.id}/deployments`
    const body = { environment: 'staging', sha: ci.sha, ref: 'main', tag: false, status: 'success' }
    const refs = async (): Promise<string[]> =>
      (await git(ci.folder, 'ls-remote', 'origin', 'refs/environments/*'))
        .split('\n')
        .filter((line) => line !== '')
    const ref = (iid: number): string => `${ci.sha}\trefs/environments/staging/deployments/${iid}`
    const first = expectStatus(await world.root.post(path, body), 201)
    await world.root.post(path, { ...body, status: 'failed' })
    await world.root.post(path, body)
    await until(refs, ({ length }) => length === 2)
    expect(await refs()).toEqual([ref(1), ref(3)])
    const pushed = git(ci.folder, 'push', 'origin', 'HEAD:refs/environments/staging/deployments/9')
    await expect(pushed).rejects.toThrow('deny updating a hidden ref')

    expect((await world.root.delete(`${path}/${first['id'] as number}`)).status).toBe(204)
    await until(refs, ({ length }) => length === 1)
    expect(await refs()).toEqual([ref(3)])
    const one = `/projects/${ci.id}/environments/${(await environment(ci, 'staging'))['id'] as number}`
    expectStatus(await world.root.post(`${one}/stop`), 200)
    expect((await world.root.delete(one)).status).toBe(204)
    await until(refs, ({ length }) => length === 0)
  })

  test('tell which merge requests they brought', async () => {
    const at = await new MergeProjects(world).make({ visibility: 'public' })
    const merged = async (name: string, fields: Json = {}): Promise<number> => {
      const made = await at.request({ [`${name}.txt`]: name }, { title: name, ...fields })
      const reply = await eventually(async () => {
        const tried = await at.merge(made['iid'] as number, fields)
        return tried.status === 200 && tried
      })
      expect(reply.body).toMatchObject({ state: 'merged' })
      return made['iid'] as number
    }
    const deploy = async (environment: string, status = 'success'): Promise<number> => {
      const sha = await at.head('main')
      const body = { environment, sha, ref: 'main', tag: false, status }
      return expectStatus(await world.root.post(`${at.base}/deployments`, body), 201)['id'] as number
    }
    const brought = async (id: number, query = ''): Promise<unknown[]> =>
      ((await get(`${at.base}/deployments/${id}/merge_requests?sort=asc${query}`)) as Json[]).map(
        ({ iid }) => iid as unknown,
      )

    const [one, squashed] = [await merged('one'), await merged('two', { squash: true })]
    await at.request({ 'open.txt': 'open' })
    const first = await deploy('production')
    const later = await merged('three')
    const failed = await deploy('production', 'failed')
    const second = await deploy('production')
    const same = await deploy('production')
    expect(await brought(first)).toEqual([one, squashed])
    expect(await brought(failed)).toEqual([])
    expect(await brought(second)).toEqual([later])
    expect(await brought(same)).toEqual([])
    expect(await brought(await deploy('staging'))).toEqual([one, squashed, later])

    expect(await brought(first, '&search=two')).toEqual([squashed])
    expect(await brought(first, '&state=opened')).toEqual([])
    const page = await world.root.get(`${at.base}/deployments/${first}/merge_requests?per_page=1`)
    expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['2', '2'])
    const outside = await world.user()
    expect((await outside.get(`${at.base}/deployments/${first}/merge_requests`)).body).toHaveLength(2)
    expect((await world.root.get(`${at.base}/deployments/99999999/merge_requests`)).body).toEqual({
      message: '404 Not found',
    })
    expectStatus(await world.root.put(at.base, { merge_requests_access_level: 'private' }), 200)
    expect((await outside.get(`${at.base}/deployments/${first}/merge_requests`)).body).toEqual([])
  })

  test('refuses what is not there', async () => {
    const ci = await projects.make({ deploy: { script: ['x'], environment: 'e' } })
    const path = `/projects/${ci.id}/deployments`
    const body = { environment: 'e', sha: ci.sha, ref: 'main', tag: false, status: 'success' }
    const refusal = async (more: Json): Promise<unknown> =>
      (await world.root.post(path, { ...body, ...more })).body
    expect(await refusal({ sha: 'f'.repeat(40) })).toEqual({
      message: { sha: ['The commit does not exist'] },
    })
    expect(await refusal({ sha: '--all' })).toEqual({ message: { sha: ['The commit does not exist'] } })
    expect(await refusal({ ref: 'none' })).toEqual({ message: { ref: ['The branch or tag does not exist'] } })
    expect(await refusal({ status: 'created' })).toEqual({ error: 'status does not have a valid value' })
    await ci.run(world.root)
    const [byJob] = (await get(path)) as Json[]
    const changed = await world.root.put(`${path}/${byJob!['id'] as number}`, { status: 'success' })
    expect([changed.status, changed.body]).toEqual([
      403,
      { message: '403 Forbidden - Deployments created using CI can not be updated using the API' },
    ])
  })
})
