import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { expectStatus, startWorld, type Json, type World } from '../../test/world/world.ts'
import { CiProjects, until, type CiProject } from '../../test/runner/ci-project.ts'
import { base64, binary, OpenTerminal } from '../../test/world/terminal.ts'
import { archiveOf } from './archives.ts'
import { files, long, waiting } from './pipeline.ts'
import { StockRunner } from './stock-runner.ts'

/** The same pipelines, run by the runner that the service brings along and by the stock one. */
let world: World
let projects: CiProjects
let stock: StockRunner
let ours: Place
let theirs: Place

interface Place {
  readonly ci: CiProject
  readonly kind: 'ours' | 'stock'
}

interface Job extends Json {
  id: number
  name: string
  status: string
}

beforeAll(async () => {
  world = await startWorld({ ROLES: 'web,tasks,runner', RUNNER_CONCURRENCY: '2', SHUTDOWN_TIMEOUT: '3' })
  projects = await CiProjects.open(world)
  ours = { kind: 'ours', ci: await projects.make({}, { shared_runners_enabled: true }) }
  theirs = { kind: 'stock', ci: await projects.make({}) }
  stock = await StockRunner.start(inject('stockRunner'), world, theirs.ci.project)
  for (const { ci } of [ours, theirs]) {
    const path = `/projects/${ci.id}/variables`
    const variables = [
      { key: 'HIDDEN', value: 'hidden-value-1', masked: true },
      { key: 'FILE', value: 'content of a file\n', variable_type: 'file' },
      { key: 'MULTI', value: 'two\nlines' },
    ]
    for (const variable of variables) expectStatus(await world.root.post(path, variable), 201)
  }
}, 600_000)

afterAll(async () => {
  await stock[Symbol.asyncDispose]()
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const root = (): World['root'] => world.root

async function jobsOf({ ci }: Place, pipeline: Json): Promise<Job[]> {
  return (await root().get(`/projects/${ci.id}/pipelines/${pipeline['id']}/jobs?per_page=100`)).body as Job[]
}

async function logOf({ ci }: Place, job: Job): Promise<string> {
  return (await root().get(`/projects/${ci.id}/jobs/${job.id}/trace`)).text
}

async function push(place: Place, contents: Readonly<Record<string, string>>): Promise<Json> {
  await place.ci.push({ ...contents }, { options: ['ci.skip'] })
  return place.ci.run(root())
}

async function ended(place: Place, pipeline: Json): Promise<Json> {
  return until(
    async () => (await root().get(`/projects/${place.ci.id}/pipelines/${pipeline['id']}`)).body as Json,
    ({ status }) => ['success', 'failed', 'canceled'].includes(status as string),
    100_000,
  ).catch(withLog)
}

/** What the stock runner said tells why something did not come. */
function withLog(error: unknown): never {
  throw new Error(`${(error as Error).message}\n${stock.log.slice(-3000)}`)
}

/** What scripts have printed, without the runners' own words around it. */
function printed(log: string): string[] {
  const words =
    /^(before of .*|after with .*|made at .*|kept|version .*|content of .*|two|lines|first|fine|never|no sources .*|nothing made|\[MASKED\]|.*hidden-value.*|now it waits|[0-9a-f]{40}|HEAD)$/
  return (
    log
      .split(/[\r\n]+/)
      // eslint-disable-next-line no-control-regex -- colours, and the times that newer runners write before each line
      .map((line) => line.replaceAll(/\u001b\[[0-9;]*[a-zA-Z]/g, '').replace(/^\d{4}-\S+Z \d\d[OE][+ ]?/, ''))
      .filter((line) => words.test(line))
  )
}

async function outcome(place: Place, pipeline: Json): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const job of (await jobsOf(place, pipeline)).sort((one, other) => one.id - other.id)) {
    found[job.name] = {
      status: job.status,
      reason: job['failure_reason'] as unknown,
      allowed: job['allow_failure'] as unknown,
      printed: printed(await logOf(place, job)).map((line) => line.replace(/^[0-9a-f]{40}$/, 'a commit')),
      archive: await archiveOf(world, place.ci.id, job),
      files: (job['artifacts'] as Json[])
        .map(({ file_type, file_format, filename }) => ({ file_type, file_format, filename }))
        .filter(({ file_type }) => file_type !== 'trace')
        .sort((one, other) => String(one['file_type']).localeCompare(String(other['file_type']))),
    }
  }
  return found
}

test('a pipeline comes to the same end with the same results', async () => {
  const pipelines = await Promise.all([ours, theirs].map((place) => push(place, files)))
  const ends = await Promise.all([ended(ours, pipelines[0]!), ended(theirs, pipelines[1]!)])
  const own = await outcome(ours, pipelines[0]!)
  const other = await outcome(theirs, pipelines[1]!)
  expect(other).toEqual(own)
  expect(ends.map(({ status }) => status as string)).toEqual(['success', 'success'])
  // What both agree in is also what was meant.
  expect(other).toMatchObject({
    build: { status: 'success', printed: ['before of build', 'after with success'] },
    test: {
      status: 'success',
      printed: [
        'before of test',
        expect.stringContaining('made at '),
        'kept',
        'version 1.2.3 and from the file',
        'content of a file',
        '[MASKED]',
        '[MASKED]',
        'two',
        'lines',
      ],
    },
    'exit code': {
      status: 'failed',
      allowed: true,
      reason: 'script_failure',
      printed: ['before of exit code', 'first', 'after with failed'],
    },
    'before fails': { status: 'failed', printed: ['after with failed'] },
    'kept on failure': { status: 'failed', archive: { 'evidence.txt': 'evidence\n' } },
    'failing after': { status: 'success' },
    'missing files': { status: 'success', archive: undefined },
    late: { status: 'skipped' },
    end: { status: 'success' },
  })
  expect(JSON.stringify(other)).not.toContain('hidden-value-1')
})

test('a canceled job stops, and does what comes after', async () => {
  const results = await Promise.all(
    [ours, theirs].map(async (place) => {
      const pipeline = await push(place, long)
      const job = await until(
        async () => (await jobsOf(place, pipeline))[0]!,
        ({ status }) => status === 'running',
        60_000,
      )
      await until(
        () => logOf(place, job),
        (log) => printed(log).includes('now it waits'),
        100_000,
      )
      const canceled = await root().post(`/projects/${place.ci.id}/jobs/${job.id}/cancel`)
      const done = await ended(place, pipeline)
      // The last of the log may come after the end.
      const log = await until(
        () => logOf(place, job),
        (text) => printed(text).includes('after with canceled'),
      )
      return {
        asked: canceled.body.status as string,
        status: done['status'] as string,
        printed: printed(log),
      }
    }),
  )
  expect(results[1]).toEqual({
    asked: 'canceling',
    status: 'canceled',
    printed: ['now it waits', 'after with canceled'],
  })
  expect(results[1]).toEqual(results[0])
}, 240_000)

test('whoever started a job types into it', async () => {
  const settings = { allow_local_requests_from_web_hooks_and_services: true }
  expectStatus(await root().put('/application/settings', settings), 200)
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-typed-'))
  const typed = path.join(folder, 'typed')
  await theirs.ci.push({ ...waiting }, { options: ['ci.skip'] })
  const pipeline = await theirs.ci.run(root(), { variables: [{ key: 'TYPED', value: typed }] })
  const [job] = await jobsOf(theirs, pipeline)
  const shown = await until(
    async () => expectStatus(await root().get(`/projects/${theirs.ci.id}/jobs/${job!.id}`), 200),
    ({ has_terminal }) => has_terminal === true,
    60_000,
  ).catch(withLog)
  for (const protocol of [base64, binary]) {
    const address = `${world.url}${shown['terminal_path'] as string}`
    const terminal = await OpenTerminal.open(address, root().headers, [protocol])
    terminal.type('echo "typed $((40 + 2))"\n')
    await terminal.sees('typed 42')
    if (protocol === binary) {
      terminal.type(`touch ${typed} && echo "touched $((1 + 1))"\n`)
      await terminal.sees('touched 2')
      // The script is over; the runner waits for who is still there.
      await until(
        () => logOf(theirs, job!),
        (log) => log.includes('Terminal is connected'),
        80_000,
      ).catch(withLog)
      expect((await jobsOf(theirs, pipeline))[0]!.status).toBe('running')
    }
    terminal.socket.close()
    await terminal.closed
  }
  expect((await ended(theirs, pipeline))['status']).toBe('success')
  await rm(folder, { recursive: true })
}, 240_000)

test('the service knows the stock runner', async () => {
  const runner = (await root().get(`/runners/${stock.id}`)).body as Json
  expect(runner).toMatchObject({
    status: 'online',
    version: '19.4.0',
    platform: 'linux',
    tag_list: ['stock'],
  })
  expect((await root().get(`/runners/${stock.id}/managers`)).body).toHaveLength(1)
})
