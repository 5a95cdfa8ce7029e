// @module-tag long
import { expect, test } from 'vitest'
import { startRunner } from './testing/runner.ts'

test('the server may come back with less or more of the log than was sent', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['for i in $(seq 30); do echo "line $i"; sleep 0.05; done'] })
  await job.shows('\nline 2\n')

  // The last piece is lost, as after a crash of the server.
  job.trace = job.trace.subarray(0, -7)
  const end = await job.ended

  expect(end).toMatchObject({ state: 'success', output: { bytesize: job.trace.length } })
  expect(job.pieces.some(({ status }) => status === 416)).toBe(true)
  for (let line = 1; line <= 30; line++) expect(job.log).toContain(`\nline ${line}\n`)
})

test('the server restarts while a job runs', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['for i in $(seq 20); do echo "line $i"; sleep 0.05; done'] })
  await job.shows('\nline 2\n')

  await runner.server.stopListening()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await runner.server.listen()
  const end = await job.ended

  expect(end).toMatchObject({ state: 'success', output: { bytesize: job.trace.length } })
  expect(job.log).toContain('\nline 20\n')
  expect(await runner.server.offer({}).ended).toMatchObject({ state: 'success' })
})

test('the end is repeated until the server has taken it', async () => {
  await using runner = await startRunner()
  const answers = [503, 409, 202, 412]
  runner.server.interfere = ({ method, path }) => {
    const status = method === 'PUT' && /jobs\/\d+$/.test(path) ? answers.shift() : undefined
    return status === undefined ? undefined : { status, headers: { 'x-gitlab-trace-update-interval': '1' } }
  }
  const job = runner.server.offer({})

  expect(await job.ended).toMatchObject({ state: 'success' })
  expect(answers).toEqual([])
  // After 412 the log is sent anew, which this server refuses with what it has.
  expect(job.pieces.at(-1)).toMatchObject({ status: 416 })
})

test('pieces that are too large for something in between become smaller', async () => {
  await using runner = await startRunner()
  runner.server.interfere = ({ method, headers }) =>
    method === 'PATCH' && Number(headers['content-length']) > 20_000 ? { status: 413 } : undefined
  const job = runner.server.offer({ script: ['seq 20000'] })

  expect(await job.ended).toMatchObject({ state: 'success', output: { bytesize: job.trace.length } })
})

test('a runner that is not known asks seldom', async () => {
  await using runner = await startRunner()
  let asked = 0
  runner.server.interfere = ({ path }) => {
    if (!path.endsWith('/jobs/request')) return undefined
    asked++
    return { status: 403 }
  }
  runner.server.offer({})
  await expect.poll(() => asked).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 600))

  expect(asked).toBe(1)
})

test('a server that asks for a pause gets it', async () => {
  await using runner = await startRunner()
  const times: number[] = []
  runner.server.interfere = ({ path }) => {
    if (!path.endsWith('/jobs/request')) return undefined
    times.push(Date.now())
    return times.length === 1 ? { status: 429, headers: { 'retry-after': '1' } } : undefined
  }
  const job = runner.server.offer({})
  await job.ended

  expect(times[1]! - times[0]!).toBeGreaterThan(900)
})

test('the value of the queue goes back, and the request says what the runner can do', async () => {
  await using runner = await startRunner()
  await runner.server.offer({}).ended
  await runner.server.offer({}).ended

  expect(runner.server.requests[0]).toMatchObject({
    token: 'glrt-runnersecret',
    system_id: 's_test',
    info: { executor: 'shell', shell: 'bash', features: { masking: true, cancel_gracefully: true } },
  })
  expect(runner.server.requests.some(({ last_update: value }) => typeof value === 'string')).toBe(true)
})
