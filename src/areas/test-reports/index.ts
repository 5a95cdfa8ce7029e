import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { summarizeTests } from '../jobs/index.ts'
import { countsAsFailure } from './entities.ts'
import { countsOf, readReport, testDigest } from './report.ts'
import { testReportEndpoints } from './routes.ts'
import * as store from './store.ts'

export interface TestReportServices {
  readonly db: Database
  readonly blobs: Blobs
  readonly externalUrl: () => string
}

const forget = 'ci:forget-test-failures'
/** Failures noted of one report. */
const mostFailures = 200

/** What the junit reports of jobs say, as a whole for each pipeline. */
export function testReports(services: TestReportServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
} {
  return {
    endpoints: testReportEndpoints(services),
    tasks: [
      { name: summarizeTests, run: (payload) => summarize(services, (payload as { job: number }).job) },
      { name: forget, run: () => forgetOld(services) },
    ],
    schedules: [{ task: forget, pattern: '17 3 * * *' }],
  }
}

/** A report has come: counts it once, so that no list has to read it. */
async function summarize({ db, blobs }: TestReportServices, jobId: number): Promise<void> {
  const stored = await store.reportOfJob(db.reader, jobId)
  // Erased meanwhile.
  if (stored === undefined) return
  const report = await readReport(blobs, stored)
  const cases = 'error' in report ? [] : report.cases
  const failed = cases.filter(({ status }) => countsAsFailure.has(status)).slice(0, mostFailures)
  await db.transaction(async (tx) => {
    await store.saveSummary(tx, stored, {
      counts: countsOf(cases),
      time: 'error' in report ? 0 : report.time,
      error: 'error' in report ? report.error : null,
    })
    await store.noteFailures(
      tx,
      stored,
      failed.map((one) => testDigest(stored.suite, one)),
    )
  })
}

async function forgetOld({ db }: TestReportServices): Promise<void> {
  while ((await db.transaction((tx) => store.forgetOldFailures(tx))) > 0) continue
}
