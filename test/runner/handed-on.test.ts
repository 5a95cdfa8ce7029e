import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { expectStatus, startWorld, type World } from '../world/world.ts'
import { CiProjects } from './ci-project.ts'

/* What jobs hand on to later ones: artifacts, and variables in reports. */

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

test('artifacts are uploaded once, and fetched by the jobs that need them', async () => {
  const { ci, runner, job } = await projects.running({
    stages: ['build', 'test'],
    build: { stage: 'build', script: ['x'], artifacts: { paths: ['a'] } },
    test: { stage: 'test', script: ['x'] },
  })
  const content = new TextEncoder().encode('this is no zip, which nobody looks at')
  const archive = { artifact_type: 'archive', artifact_format: 'zip', expire_in: '1 day' }
  expect((await job.upload(content, archive)).text).toBe('"201"')
  expect((await job.upload(content, archive)).status).toBe(201)
  expect((await job.upload(new Uint8Array([1, 2]), archive)).body).toEqual({
    message: 'another artifact of the same type already exists',
  })
  expect((await job.upload(content, { ...archive, artifact_type: 'odd' })).body).toEqual({
    error: 'artifact_type does not have a valid value',
  })
  expect((await job.upload(content, { ...archive, artifact_format: 'odd' })).body).toEqual({
    error: 'artifact_format does not have a valid value',
  })
  await job.end('success')
  const shown = (await world.root.get(`/projects/${ci.id}/jobs/${job.id}`)).body
  expect(shown).toMatchObject({
    artifacts_file: { filename: 'artifacts.zip', size: content.length },
    artifacts: [{ file_type: 'archive', file_format: 'zip' }],
  })
  expect(Date.parse(shown.artifacts_expire_at) - Date.now()).toBeGreaterThan(86_000_000)

  const next = await runner.take()
  expect(next.payload['dependencies']).toEqual([
    {
      id: job.id,
      name: 'build',
      token: next.token,
      artifacts_file: { filename: 'artifacts.zip', size: content.length },
    },
  ])
  expect((await next.download(job.id)).text).toBe(new TextDecoder().decode(content))
  const byParameter = await new Client(world.url).get(`/jobs/${job.id}/artifacts?token=${next.token}`)
  expect(byParameter.status).toBe(200)
  expect((await next.download(next.id)).status).toBe(404)
  const elsewhere = await projects.running()
  expect((await elsewhere.job.download(job.id)).status).toBe(403)
})

test('a job fails where artifacts that it would get were deleted, not where there never were any', async () => {
  const build = { stage: 'build', script: ['x'], artifacts: { paths: ['a'] } }
  const { ci, runner, job } = await projects.running({
    stages: ['build', 'test'],
    build,
    empty: build,
    test: { stage: 'test', script: ['x'] },
    untouched: { stage: 'test', script: ['x'], dependencies: ['empty'] },
  })
  const archive = { artifact_type: 'archive', artifact_format: 'zip' }
  expect((await job.upload(new TextEncoder().encode('a'), archive)).status).toBe(201)
  await job.end('success')
  expectStatus(await world.root.delete(`/projects/${ci.id}/jobs/${job.id}/artifacts`), 204)
  await (await runner.take()).end('success')
  expect((await runner.take()).payload['job_info'].name).toBe('untouched')
  const { body } = await world.root.get(`/projects/${ci.id}/jobs?scope[]=failed`)
  expect(body).toMatchObject([{ name: 'test', failure_reason: 'missing_dependency_failure' }])
})

test('variables of a dotenv report reach later jobs', async () => {
  const { runner, job } = await projects.running({
    stages: ['build', 'test'],
    build: { stage: 'build', script: ['x'], artifacts: { reports: { dotenv: 'build.env' } } },
    test: { stage: 'test', script: ['x'] },
  })
  const dotenv = { artifact_type: 'dotenv', artifact_format: 'gzip' }
  expect((await job.upload(new Uint8Array(gzipSync('no assignment')), dotenv)).body).toEqual({
    message: 'Invalid Format',
  })
  expect((await job.upload(new Uint8Array(gzipSync('VERSION=1.2.3\n')), dotenv)).status).toBe(201)
  await job.end('success')
  expect((await runner.take()).variable('VERSION')).toBe('1.2.3')
})

test('a dotenv report is taken as it is written, but for references to what the later job has', async () => {
  const { runner, job } = await projects.running({
    stages: ['build', 'test'],
    build: { stage: 'build', script: ['x'], artifacts: { reports: { dotenv: 'build.env' } } },
    test: { stage: 'test', script: ['x'] },
  })
  const lines = [
    ...['QUOTED="two words"', "SINGLE='x'", 'SPACED = a b '],
    ...['OF_JOB=by $CI_JOB_NAME', 'UNKNOWN=$NOWHERE', 'OF_REPORT=$SPACED!'],
    ...Array.from({ length: 20 }, (_, index) => `LAST=${index}`),
  ]
  const report = new Uint8Array(gzipSync(lines.join('\n')))
  const uploaded = await job.upload(report, { artifact_type: 'dotenv', artifact_format: 'gzip' })
  expect(uploaded.status, uploaded.text).toBe(201)
  await job.end('success')
  const next = await runner.take()
  const keys = ['QUOTED', 'SINGLE', 'SPACED', 'OF_JOB', 'UNKNOWN', 'OF_REPORT', 'LAST']
  expect(keys.map((key) => next.variable(key))).toEqual([
    ...['"two words"', "'x'", 'a b'],
    ...['by test', '$NOWHERE', 'a b!', '19'],
  ])
})
