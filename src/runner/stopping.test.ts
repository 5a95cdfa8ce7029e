// @module-tag long
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { runRunner } from './index.ts'
import { dies } from './testing/processes.ts'
import { startRunner } from './testing/runner.ts'

const pidsIn = (log: string) => [...log.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid))

test('a cancelled job is gone at once, with all its processes', async () => {
  await using runner = await startRunner()
  const script = ['trap "" TERM; sleep 100 & echo "pid $!"; sleep 101 & echo "pid $!"', 'echo ready; wait']
  const job = runner.server.offer({ script, afterScript: ['echo after'] })
  await job.shows('\nready\n')
  const pids = pidsIn(job.log)

  job.status = 'canceled'
  // Something to say makes the server answer soon.
  for (const pid of pids) expect(await dies(pid)).toBe(true)

  expect(pids).toHaveLength(2)
  await runner.stop()
  expect(job.puts.filter(({ state }) => state !== 'running')).toEqual([])
  expect(job.log).not.toContain('\nafter\n')
}, 20_000)

test('a refusal ends the job like a cancellation', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['echo "pid $$"', 'while sleep 0.1; do echo .; done'] })
  await job.shows('\npid ')

  runner.server.interfere = ({ method }, served) =>
    served === job && method === 'PATCH' ? { status: 403 } : undefined

  expect(await dies(pidsIn(job.log)[0]!)).toBe(true)
  await runner.stop()
  expect(job.puts.filter(({ state }) => state !== 'running')).toEqual([])
})

test('canceling stops the script, and after_script and uploads follow', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    script: ['echo data > kept.txt', 'while sleep 0.1; do echo .; done'],
    afterScript: ['echo "it was $CI_JOB_STATUS"'],
    artifacts: [{ paths: ['kept.txt'], when: 'always', artifact_type: 'archive', artifact_format: 'zip' }],
  })
  await job.shows('\n.\n')

  job.status = 'canceling'
  const end = await job.ended

  expect(end).toMatchObject({ state: 'failed', failure_reason: 'job_canceled' })
  expect(job.log).toContain('\nit was canceled\n')
  expect(job.uploads).toHaveLength(1)
})

test('a job that takes too long', async () => {
  await using runner = await startRunner()
  const features = { failure_reasons: ['unknown_failure', 'job_execution_timeout'] }
  const job = runner.server.offer({
    runner_info: { timeout: 1 },
    script: ['sleep 100'],
    afterScript: ['echo after'],
    features,
  })

  const end = await job.ended

  expect(end).toMatchObject({ state: 'failed', failure_reason: 'job_execution_timeout' })
  expect(job.log).toContain('ERROR: Job failed: execution took longer than 1s')
  expect(job.log).toContain('\nafter\n')
})

test('time limits of the scripts themselves', async () => {
  await using runner = await startRunner()
  const variables = [
    { key: 'RUNNER_SCRIPT_TIMEOUT', value: '300ms' },
    { key: 'RUNNER_AFTER_SCRIPT_TIMEOUT', value: '0.3s' },
  ]
  const job = runner.server.offer({ variables, script: ['sleep 100'], afterScript: ['sleep 100'] })

  const end = await job.ended

  expect(end).toMatchObject({ state: 'failed', failure_reason: 'job_execution_timeout' })
  expect(job.log).toContain('job will continue unaffected: execution took longer than 0.3s')
})

test('a reason the server does not know becomes one it knows', async () => {
  await using runner = await startRunner()
  const features = { failure_reasons: ['unknown_failure'] }
  const job = runner.server.offer({ script: ['exit 2'], features })

  expect(await job.ended).toMatchObject({ failure_reason: 'unknown_failure', exit_code: 2 })
})

test('a background process neither holds the job up nor outlives it', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['sleep 100 & echo "pid $!"'] })
  const begin = Date.now()

  const end = await job.ended

  expect(end).toMatchObject({ state: 'success' })
  expect(Date.now() - begin).toBeLessThan(50_000)
  expect(await dies(pidsIn(job.log)[0]!)).toBe(true)
})

test('at the stop running jobs have a while, then are reported as failed', async () => {
  const runner = await startRunner({ shutdownGrace: 3 })
  await using _ = runner
  const short = runner.server.offer({ script: ['echo ready; sleep 0.3'] })
  const long = runner.server.offer({ script: ['echo ready; sleep 100'], afterScript: ['echo after'] })
  await Promise.all([short.shows('\nready\n'), long.shows('\nready\n')])

  await runner.stop()

  expect(await short.ended).toMatchObject({ state: 'success' })
  expect(await long.ended).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(long.log).toContain('the runner is stopping')
  expect(await readdir(path.join(runner.directory, 'jobs'))).toEqual([])
})

test('the stop does not wait for a held request', async () => {
  const runner = await startRunner()
  await using _ = runner
  await runner.server.offer({}).ended
  const begin = Date.now()

  await runner.stop()

  expect(Date.now() - begin).toBeLessThan(20_000)
})

test('what a crash left is removed, and a folder has one runner', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'runner-test-'))
  await mkdir(path.join(directory, 'jobs/12/builds'), { recursive: true })
  await writeFile(path.join(directory, 'jobs/12/builds/old'), '')
  const runner = await startRunner({ directory })
  await using _ = runner
  await runner.server.offer({}).ended

  const log = pino({ level: 'silent' })
  const rest = { url: runner.server.url, token: 't', systemId: 's', concurrency: 1, log }
  await expect(runRunner({ ...rest, directory, signal: AbortSignal.abort() })).rejects.toThrow(
    'another runner',
  )

  await runner.stop()
  expect(await readdir(path.join(directory, 'jobs'))).toEqual([])
  await rm(directory, { recursive: true })
})
