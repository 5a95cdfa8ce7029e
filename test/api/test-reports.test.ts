// @module-tag long
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
import { startWorld, type Json, type World } from '../world/world.ts'

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

const report = { junit: 'junit.xml' }

async function upload(job: RawJob, ...files: string[]): Promise<void> {
  const bytes = new Uint8Array(Buffer.concat(files.map((xml) => gzipSync(xml))))
  const reply = await job.upload(bytes, { artifact_type: 'junit', artifact_format: 'gzip' }, 'junit.xml.gz')
  expect(reply.status, reply.text).toBe(201)
}

interface Reports {
  readonly full: () => Promise<Json>
  readonly summary: () => Promise<Json>
}

function reportsOf({ id }: CiProject, pipeline: Json): Reports {
  const get = async (name: string): Promise<Json> => {
    const reply = await world.root.get(`/projects/${id}/pipelines/${pipeline['id'] as number}/${name}`)
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  return { full: () => get('test_report'), summary: () => get('test_report_summary') }
}

const xml = `<?xml version="1.0"?><testsuites time="1.5"><testsuite>
  <testcase classname="calc.spec" name="adds" file="spec/calc.rb" time="0.5"><failure>expected 3, got 4</failure>
    <system-out>[[ATTACHMENT|shots/a b.png]]</system-out></testcase>
  <testcase classname="calc.spec" name="divides" time="1"/></testsuite></testsuites>`

test('a pipeline without reports', async () => {
  const ci = await projects.make({ test: { script: ['x'] } })
  const { full, summary } = reportsOf(ci, await ci.run(world.root))
  const zeros = { total_count: 0, success_count: 0, failed_count: 0, skipped_count: 0, error_count: 0 }
  expect(await full()).toEqual({ total_time: 0, ...zeros, test_suites: [] })
  expect(await summary()).toEqual({
    total: { time: 0, count: 0, success: 0, failed: 0, skipped: 0, error: 0, suite_error: null },
    test_suites: [],
  })
  const missing = await world.root.get(`/projects/${ci.id}/pipelines/99999999/test_report`)
  expect([missing.status, missing.body]).toEqual([404, { message: '404 Not found' }])
})

test('parallel jobs make one suite; what failed on the default branch before is told', async () => {
  const ci = await projects.make({ rspec: { script: ['x'], parallel: 2, artifacts: { reports: report } } })
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  const { full, summary } = reportsOf(ci, pipeline)
  const first = await runner.take()
  await upload(first, xml)
  const second = await runner.take()
  // Two files in one report, as the runner packs them.
  await upload(
    second,
    '<testsuite><testcase name="a" time="2"><skipped/></testcase></testsuite>',
    '<testsuite><testcase name="b" time="1"><error>bang</error></testcase></testsuite>',
  )
  const counts = { total_count: 4, success_count: 1, failed_count: 1, skipped_count: 1, error_count: 1 }
  const counted = await until(summary, (found) => found['total'].count === 4)
  expect(counted).toEqual({
    total: { time: 4.5, count: 4, success: 1, failed: 1, skipped: 1, error: 1, suite_error: null },
    test_suites: [
      { name: 'rspec', total_time: 4.5, ...counts, build_ids: [first.id, second.id], suite_error: null },
    ],
  })
  const told = await full()
  expect(told).toMatchObject({ total_time: 4.5, ...counts })
  expect(told['test_suites']).toEqual([
    {
      name: 'rspec',
      total_time: 4.5,
      ...counts,
      suite_error: null,
      test_cases: [
        {
          status: 'failed',
          name: 'adds',
          classname: 'calc.spec',
          file: 'spec/calc.rb',
          execution_time: 0.5,
          system_output: 'expected 3, got 4\n\nSystem Out:\n\n[[ATTACHMENT|shots/a b.png]]',
          stack_trace: null,
          recent_failures: { count: 1, base_branch: 'main' },
          attachment_url: `${world.url}/api/v4/projects/${ci.id}/jobs/${first.id}/artifacts/shots/a%20b.png`,
        },
        expect.objectContaining({ status: 'success', name: 'divides', recent_failures: null }),
        expect.objectContaining({ status: 'skipped', name: 'a', classname: null, system_output: null }),
        expect.objectContaining({ status: 'error', name: 'b', system_output: 'bang' }),
      ],
    },
  ])

  // A job that is run again takes its report with it.
  await first.end('failed')
  expect((await world.root.post(`/projects/${ci.id}/jobs/${first.id}/retry`)).status).toBe(201)
  expect((await full())['total_count']).toBe(2)
  expect((await summary())['total'].count).toBe(2)
})

test.each([
  [
    'an entity',
    '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&e;"/></testsuite>',
  ],
  ['no XML', 'all is well'],
])('a report with %s is an error of its suite', async (_, broken) => {
  const ci = await projects.make({
    good: { script: ['x'], artifacts: { reports: report } },
    odd: { script: ['x'], artifacts: { reports: report } },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  const { full, summary } = reportsOf(ci, await ci.run(world.root))
  await upload(await runner.take(), xml)
  await upload(await runner.take(), broken)
  const counted = await until(summary, (found) => (found['test_suites'] as Json[]).length === 2)
  const wrong = expect.stringMatching(/^JUnit XML parsing failed: /) as unknown
  expect(counted['total']).toMatchObject({ count: 2, suite_error: null })
  expect(counted['test_suites'][1]).toMatchObject({ name: 'odd', total_count: 0, suite_error: wrong })
  const told = await full()
  expect(told).toMatchObject({ total_count: 2, success_count: 1, failed_count: 1 })
  expect(told['test_suites'][1]).toMatchObject({
    name: 'odd',
    total_count: 0,
    suite_error: wrong,
    test_cases: [],
  })
})

test('a report that is no archive, and one that grows ten thousandfold', async () => {
  const ci = await projects.make({
    bomb: { script: ['x'], artifacts: { reports: report } },
    text: { script: ['x'], artifacts: { reports: report } },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  const { full } = reportsOf(ci, await ci.run(world.root))
  await upload(await runner.take(), `<testsuite>${' '.repeat(110 * 1024 * 1024)}</testsuite>`)
  const plain = await runner.take()
  const query = { artifact_type: 'junit', artifact_format: 'gzip' }
  expect((await plain.upload(new Uint8Array(Buffer.from(xml)), query)).status).toBe(201)
  expect((await full())['test_suites']).toMatchObject([
    { name: 'bomb', suite_error: 'JUnit data parsing failed: size in bytes exceeded the limit of 104857600' },
    { name: 'text', suite_error: 'JUnit data parsing failed: not in gzip format' },
  ])
})
