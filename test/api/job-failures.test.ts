// @module-tag long
import { truncate } from 'node:fs/promises'
import nodePath from 'node:path'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
import { during } from '../settings/effects.ts'
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

const oneJob = { test: { script: ['x'], artifacts: { paths: ['out'] } } }
const zipped = { artifact_type: 'archive', artifact_format: 'zip' }

interface Running {
  readonly ci: CiProject
  readonly runner: RawRunner
  readonly job: RawJob
  readonly path: string
}

async function running(config: Json = oneJob): Promise<Running> {
  const ci = await projects.make(config)
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  const job = await runner.take()
  return { ci, runner, job, path: `/projects/${ci.id}/jobs/${job.id}` }
}

const shown = async (path: string): Promise<Json> => expectStatus(await world.root.get(path), 200)

async function runTask(name: string): Promise<void> {
  await sql`select graphile_worker.add_job(${name})`.execute(world.service.services.db.writer)
}

async function ago(job: number, column: string, interval: string): Promise<void> {
  const { db } = world.service.services
  await sql`update ci_jobs set ${sql.ref(column)} = now() - ${interval}::interval where id = ${job}`.execute(
    db.writer,
  )
}

async function zip(fill: (archive: yazl.ZipFile) => void): Promise<Uint8Array<ArrayBuffer>> {
  const archive = new yazl.ZipFile()
  fill(archive)
  archive.end()
  return new Uint8Array(await buffer(archive.outputStream))
}

describe('the log', () => {
  test('is read in parts', async () => {
    const { job, path } = await running()
    await job.say('0123456789')
    const part = async (range: string): Promise<[number, string, string | null]> => {
      const reply = await world.root.get(`${path}/trace`, { range })
      return [reply.status, reply.text, reply.headers.get('content-range')]
    }
    expect(await part('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10'])
    expect(await part('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10'])
    expect(await part('bytes=-2')).toEqual([206, '89', 'bytes 8-9/10'])
    expect(await part('bytes=8-99')).toEqual([206, '89', 'bytes 8-9/10'])
    expect(await part('bytes=10-')).toEqual([416, '{"error":"416 Range Not Satisfiable"}', 'bytes */10'])
    expect(await part('bytes=4-2')).toEqual([200, '0123456789', null])
  })

  test('that grows beyond its limit ends the job', async () => {
    const { job, path } = await running()
    const limit = 100 * 1024 * 1024
    // What is not there yet is told first.
    expect((await job.patch('too much', `${limit}-${limit + 7}`)).status).toBe(416)
    await job.say('much')
    const folder = nodePath.join(world.directory, 'traces', String(Math.floor(job.id / 10_000)))
    await truncate(nodePath.join(folder, `${job.id}.log`), limit)
    const reply = await job.patch('too much', `${limit}-${limit + 7}`)
    expect([reply.status, reply.body, reply.headers.get('job-status')]).toEqual([
      403,
      { error: '403 Forbidden' },
      'failed',
    ])
    expect(await shown(path)).toMatchObject({ status: 'failed', failure_reason: 'trace_size_exceeded' })
  })

  test('that came out another than the runner sent is begun anew, once', async () => {
    const { job, path } = await running()
    await job.say('as it was sent')
    const checksum = `crc32:${crc32('something else').toString(16).padStart(8, '0')}`
    const end = { state: 'success', output: { checksum, bytesize: 14 } }
    expect((await job.put(end)).status).toBe(412)
    expect((await job.patch('something else', '0-13')).status).toBe(202)
    expect((await job.put(end)).status).toBe(200)
    expect((await world.root.get(`${path}/trace`)).text).toBe('something else')
  })

  test('is taken as it is when it differs again', async () => {
    const { job, path } = await running()
    await job.say('a')
    const end = { state: 'success', output: { checksum: 'crc32:00000001', bytesize: 1 } }
    expect((await job.put(end)).status).toBe(412)
    expect((await job.patch('b', '0-0')).status).toBe(202)
    expect((await job.put(end)).status).toBe(200)
    expect((await shown(path))['status']).toBe('success')
  })
})

describe('the sweep', () => {
  const status = async (path: string, wanted: string): Promise<Json> =>
    until(
      () => shown(path),
      (job) => job['status'] === wanted,
    )

  test('ends a job whose runner died, whose time is over, or that is stuck being canceled', async () => {
    const [dead, late, canceling, fine] = [await running(), await running(), await running(), await running()]
    for (const { job } of [dead, canceling]) await ago(job.id, 'started_at', '2 hours')
    await ago(dead.job.id, 'started_at', '70 minutes')
    const { db } = world.service.services
    await sql`update ci_jobs set timeout = 86400 where id in (${dead.job.id}, ${canceling.job.id})`.execute(
      db.writer,
    )
    await ago(late.job.id, 'started_at', '3 hours')
    expect((await world.root.post(`${canceling.path}/cancel`)).body.status).toBe('canceling')
    await runTask('ci:sweep-stuck-jobs')
    expect(await status(dead.path, 'failed')).toMatchObject({ failure_reason: 'stuck_or_timeout_failure' })
    expect(await status(late.path, 'failed')).toMatchObject({
      failure_reason: 'job_execution_server_timeout',
    })
    await status(canceling.path, 'canceled')
    expect((await shown(fine.path))['status']).toBe('running')
    const late403 = await dead.job.put({ state: 'success' })
    expect([late403.status, late403.headers.get('job-status')]).toEqual([403, 'failed'])
  })

  test('ends what waits for a day, or for an hour where no runner could take it', async () => {
    const config = { test: { script: ['x'] } }
    const waiting = async (fields?: Json): Promise<{ id: number; path: string }> => {
      const ci = await projects.make(config)
      const runner = fields === undefined ? undefined : await RawRunner.forProject(world, ci.project, fields)
      await runner?.ask()
      await ci.run(world.root)
      const [job] = (await world.root.get(`/projects/${ci.id}/jobs`)).body as Json[]
      const id = job!['id'] as number
      return { id, path: `/projects/${ci.id}/jobs/${id}` }
    }
    const [alone, unfit, served, old] = [
      await waiting(),
      await waiting({ tag_list: ['other'], run_untagged: false }),
      await waiting({}),
      await waiting({}),
    ]
    for (const { id } of [alone, unfit, served]) await ago(id, 'queued_at', '2 hours')
    await ago(old.id, 'queued_at', '25 hours')
    await runTask('ci:sweep-stuck-jobs')
    for (const { path } of [alone, unfit, old]) {
      expect(await status(path, 'failed')).toMatchObject({ failure_reason: 'stuck_or_timeout_failure' })
    }
    expect((await shown(served.path))['status']).toBe('pending')
  })

  test('ends a delayed job whose time was missed', async () => {
    const ci = await projects.make({ later: { script: ['x'], when: 'delayed', start_in: '1 week' } })
    await ci.run(world.root)
    const [job] = (await world.root.get(`/projects/${ci.id}/jobs`)).body as Json[]
    expect(job!['status']).toBe('scheduled')
    const id = job!['id'] as number
    await ago(id, 'scheduled_at', '2 hours')
    await runTask('ci:sweep-stuck-jobs')
    const path = `/projects/${ci.id}/jobs/${id}`
    expect(await status(path, 'failed')).toMatchObject({ failure_reason: 'stale_schedule' })
  })
})

describe('retry', () => {
  test.each([
    [{ max: 1, exit_codes: [137] }, { failure_reason: 'script_failure', exit_code: 137 }, true],
    [{ max: 1, exit_codes: [137] }, { failure_reason: 'script_failure', exit_code: 1 }, false],
    [{ max: 1, when: ['script_failure'] }, { failure_reason: 'script_failure' }, true],
    [{ max: 1, when: ['script_failure'] }, { failure_reason: 'runner_system_failure' }, false],
    [2, { failure_reason: 'unknown_failure' }, true],
    [0, { failure_reason: 'unknown_failure' }, false],
  ])('%j after %j: %s', async (retry, end, again) => {
    const { job, runner } = await running({ test: { script: ['x'], retry } })
    await job.end('failed', end)
    expect((await runner.ask()).status).toBe(again ? 201 : 204)
  })
})

describe('artifacts', () => {
  async function archive({ ci, runner }: Omit<Running, 'job' | 'path'>, content: string): Promise<string> {
    await ci.run(world.root)
    const job = await runner.take()
    const bytes = await zip((made) => made.addBuffer(Buffer.from(content), 'out/a'))
    expectStatus(await job.upload(bytes, { ...zipped, expire_in: '1 hour' }), 201)
    await job.end('success')
    return `/projects/${ci.id}/jobs/${job.id}`
  }

  test('expire, but for those of the latest success of the ref', async () => {
    const ci = await projects.make(oneJob)
    const runner = await RawRunner.forProject(world, ci.project)
    const older = await archive({ ci, runner }, 'older')
    const newer = await archive({ ci, runner }, 'newer')
    const { db } = world.service.services
    const expire = () =>
      sql`update ci_job_artifacts set expire_at = now() - interval '1 minute' where project_id = ${ci.id}`.execute(
        db.writer,
      )
    await expire()
    expect((await world.root.get(`${older}/artifacts`)).status).toBe(404)
    expect((await world.root.get(`${newer}/artifacts/out/a`)).text).toBe('newer')
    await runTask('ci:expire-artifacts')
    await until(
      () => shown(older),
      (job) => (job['artifacts'] as Json[]).length === 0,
    )
    expect((await world.root.get(`${newer}/artifacts/out/a`)).text).toBe('newer')
    // What the instance says goes before what the project says.
    const status = async () => (await world.root.get(`${newer}/artifacts`)).status
    await expire()
    expect(await status()).toBe(200)
    await during(world, { keep_latest_artifact: false }, async () => expect(await status()).toBe(404))
    expect(await status()).toBe(200)
    expectStatus(await world.root.put(`/projects/${ci.id}`, { keep_latest_artifact: false }), 200)
    await expire()
    expect(await status()).toBe(404)
    await runTask('ci:expire-artifacts')
    await until(
      () => shown(newer),
      (job) => (job['artifacts'] as Json[]).length === 0,
    )
    expect((await world.root.post(`${newer}/artifacts/keep`)).status).toBe(404)
  })

  test('of a project, all at once, but for those of the latest success', async () => {
    const ci = await projects.make(oneJob)
    const runner = await RawRunner.forProject(world, ci.project)
    const older = await archive({ ci, runner }, 'older')
    const newer = await archive({ ci, runner }, 'newer')
    expect((await world.root.delete(`/projects/${ci.id}/artifacts`)).status).toBe(202)
    await until(
      () => shown(older),
      (job) => (job['artifacts'] as Json[]).length === 0,
    )
    expect((await world.root.get(`${newer}/artifacts`)).status).toBe(200)
  })

  test('an archive with a way out of it, or links, gives nothing of these', async () => {
    const { job, path } = await running()
    const bytes = await zip((made) => {
      made.addBuffer(Buffer.from('plain'), 'plain.txt')
      made.addBuffer(Buffer.from('/etc/passwd'), 'link', { mode: 0o120777 })
      made.addEmptyDirectory('folder/')
      made.addBuffer(Buffer.from('out'), 'AA/evil.txt')
    })
    // yazl writes no such name itself.
    const evil = Buffer.from(
      Buffer.from(bytes).toString('latin1').replaceAll('AA/evil.txt', '../evil.txt'),
      'latin1',
    )
    expectStatus(await job.upload(new Uint8Array(evil), zipped), 201)
    await job.end('success')
    const get = (file: string) => world.root.get(`${path}/artifacts/${file}`)
    expect((await get('plain.txt')).text).toBe('plain')
    for (const file of ['link', 'folder%2F', '..%2Fevil.txt', 'none']) {
      const reply = await get(file)
      expect([file, reply.status, reply.body]).toEqual([file, 404, { message: '404 Not found' }])
    }
  })

  test('a file that grows ten thousandfold is streamed as it is read', async () => {
    const { job, path } = await running()
    const size = 60 * 1024 * 1024
    const bytes = await zip((made) => made.addBuffer(Buffer.alloc(size), 'zeros'))
    expect(bytes.length).toBeLessThan(size / 900)
    expectStatus(await job.upload(bytes, zipped), 201)
    await job.end('success')
    const reply = await fetch(`${world.url}/api/v4${path}/artifacts/zeros`, { headers: world.root.headers })
    expect([reply.status, reply.headers.get('content-length')]).toEqual([200, String(size)])
    let read = 0
    for await (const piece of reply.body!) read += (piece as Uint8Array).length
    expect(read).toBe(size)
  })

  test('that are no archive have no files', async () => {
    const { job, path } = await running()
    expectStatus(await job.upload(new Uint8Array(Buffer.from('no archive at all')), zipped), 201)
    await job.end('success')
    expect((await world.root.get(`${path}/artifacts/x`)).status).toBe(404)
  })

  test('may be as large as the project says', async () => {
    const { ci, job } = await running()
    expectStatus(await world.root.put(`/projects/${ci.id}`, { max_artifacts_size: 1 }), 200)
    const refused = await job.authorize({ filesize: 2 * 1024 * 1024 })
    expect([refused.status, refused.body]).toEqual([
      413,
      { message: 'file size has reached maximum size limit' },
    ])
    const large = await job.upload(new Uint8Array(2 * 1024 * 1024), zipped)
    expect(large.status).toBe(413)
  })

  test('may be as large as the nearest group says, and otherwise the instance', async () => {
    const [top, below] = [await world.group(), await world.group()]
    expectStatus(await world.root.put(`/groups/${top.id}`, { max_artifacts_size: 7 }), 200)
    const inner = await world.group({ parent_id: top.id })
    expectStatus(await world.root.put(`/groups/${inner.id}`, { max_artifacts_size: 3 }), 200)
    const jobIn = async (namespace_id: number): Promise<RawJob> => {
      const ci = await projects.make(oneJob, { namespace_id })
      const runner = await RawRunner.forProject(world, ci.project)
      await ci.run(world.root)
      return runner.take()
    }
    const [free, limited] = [await jobIn(below.id), await jobIn(inner.id)]
    const takes = async (job: RawJob) => (await job.authorize({ filesize: 2 * 1024 * 1024 })).status
    await during(world, { max_artifacts_size: 1 }, async () => {
      expect([await takes(free), await takes(limited)]).toEqual([413, 200])
    })
    expect(await takes(free)).toBe(200)
    expect((await limited.authorize({ filesize: 4 * 1024 * 1024 })).status).toBe(413)
    expect((await free.authorize({ filesize: 4 * 1024 * 1024 })).status).toBe(200)
  })
})
