import { Fields, Float, Int, ListOf, Nullable, Text, Id } from '../../kernel/endpoint/index.ts'
import type { CaseStatus, TestCase } from './junit.ts'
import { countsOf, testDigest, type Counts, type ReadReport, type StoredReport } from './report.ts'
import type { RecentFailures, SummaryRow } from './store.ts'

const counted = {
  total_time: Float({ description: 'Seconds' }),
  total_count: Int(),
  success_count: Int(),
  failed_count: Int(),
  skipped_count: Int(),
  error_count: Int(),
}

const Case = Fields({
  status: Text({ description: 'success, failed, error or skipped' }),
  name: Text(),
  classname: Nullable(Text()),
  file: Nullable(Text()),
  execution_time: Float({ description: 'Seconds' }),
  system_output: Nullable(Text()),
  stack_trace: Nullable(Text()),
  recent_failures: Nullable(
    Fields({ count: Int({ description: 'Failures in the last 14 days' }), base_branch: Text() }),
  ),
  attachment_url: Nullable(Text()),
})

export const TestReport = Fields({
  ...counted,
  test_suites: ListOf(
    Fields({ name: Text(), ...counted, suite_error: Nullable(Text()), test_cases: ListOf(Case) }),
  ),
})

export const TestReportSummary = Fields({
  total: Fields({
    time: Float(),
    count: Int(),
    success: Int(),
    failed: Int(),
    skipped: Int(),
    error: Int(),
    suite_error: Nullable(Text()),
  }),
  test_suites: ListOf(
    Fields({ name: Text(), ...counted, build_ids: ListOf(Id()), suite_error: Nullable(Text()) }),
  ),
})

type Json = Record<string, unknown>

interface Sum extends Counts {
  readonly time: number
}

const nothing: Sum = { time: 0, success: 0, failed: 0, skipped: 0, error: 0 }

function add(one: Sum, other: Sum): Sum {
  return {
    // Whole microseconds, so that sums of tenths stay what they look like.
    time: Math.round((one.time + other.time) * 1e6) / 1e6,
    success: one.success + other.success,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    error: one.error + other.error,
  }
}

const countOf = ({ success, failed, skipped, error }: Counts): number => success + failed + skipped + error

function countedJson(sum: Sum): Json {
  return {
    total_time: sum.time,
    total_count: countOf(sum),
    success_count: sum.success,
    failed_count: sum.failed,
    skipped_count: sum.skipped,
    error_count: sum.error,
  }
}

export interface ReadJobReport {
  readonly of: StoredReport
  readonly report: ReadReport
}

export const countsAsFailure: ReadonlySet<CaseStatus> = new Set(['failed', 'error'])

/** Digests of the tests whose earlier failures are shown. */
export function failedDigests(reports: readonly ReadJobReport[]): string[] {
  return reports.flatMap(({ of, report }) =>
    'error' in report
      ? []
      : report.cases
          .filter(({ status }) => countsAsFailure.has(status))
          .map((one) => testDigest(of.suite, one)),
  )
}

/** `attachment`: address of an artifact of a job. */
export function testReport(
  reports: readonly ReadJobReport[],
  recent: ReadonlyMap<string, RecentFailures>,
  attachment: (jobId: number, path: string) => string,
): Json {
  const caseJson = (suite: string, jobId: number, one: TestCase): Json => ({
    status: one.status,
    name: one.name,
    classname: one.classname,
    file: one.file,
    execution_time: one.time,
    system_output: one.output,
    stack_trace: null,
    recent_failures: countsAsFailure.has(one.status) ? (recent.get(testDigest(suite, one)) ?? null) : null,
    attachment_url: one.attachment === null ? null : attachment(jobId, one.attachment),
  })
  const suites = [...Map.groupBy(reports, ({ of }) => of.suite)].map(([name, parts]) => {
    // One report that cannot be read leaves the whole suite without cases.
    const suiteError = parts.flatMap(({ report }) => ('error' in report ? [report.error] : []))[0] ?? null
    const readable =
      suiteError === null
        ? parts.flatMap(({ of, report }) => ('error' in report ? [] : [{ of, report }]))
        : []
    const sum = readable.reduce(
      (all, { report }) => add(all, { time: report.time, ...countsOf(report.cases) }),
      nothing,
    )
    return {
      sum,
      json: {
        name,
        ...countedJson(sum),
        suite_error: suiteError,
        test_cases: readable.flatMap(({ of, report }) =>
          report.cases.map((one) => caseJson(name, of.job_id, one)),
        ),
      },
    }
  })
  const total = suites.reduce((all, { sum }) => add(all, sum), nothing)
  return { ...countedJson(total), test_suites: suites.map(({ json }) => json) }
}

export function testReportSummary(rows: readonly SummaryRow[]): Json {
  const total = rows.reduce(add, nothing)
  return {
    total: {
      time: total.time,
      count: countOf(total),
      success: total.success,
      failed: total.failed,
      skipped: total.skipped,
      error: total.error,
      suite_error: null,
    },
    test_suites: [...Map.groupBy(rows, ({ suite }) => suite)].map(([name, parts]) => ({
      name,
      ...countedJson(parts.reduce(add, nothing)),
      build_ids: parts.map(({ job_id }) => job_id),
      suite_error: parts.find(({ suite_error }) => suite_error !== null)?.suite_error ?? null,
    })),
  }
}
