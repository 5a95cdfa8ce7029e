import { endpoint, project } from '../../access/index.ts'
import { Fields, Id, type Check, type Endpoint } from '../../kernel/endpoint/index.ts'
import { failedDigests, testReport, TestReport, testReportSummary, TestReportSummary } from './entities.ts'
import type { TestReportServices } from './index.ts'
import { readReport } from './report.ts'
import * as store from './store.ts'

/** Whether one may read the reports is told before whether the pipeline is there (conventions, 1.6). */
const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

export function testReportEndpoints({ db, blobs, externalUrl }: TestReportServices): Endpoint[] {
  const about = {
    method: 'GET',
    on: project,
    may: 'read_pipeline',
    anonymous: true,
    record: true,
    checks,
    params: Fields({ pipeline_id: Id() }),
  } as const
  return [
    endpoint({
      ...about,
      path: '/projects/:id/pipelines/:pipeline_id/test_report',
      summary: 'Get the test report of a pipeline',
      description:
        'Read from the reports of its latest jobs; one that cannot be read is told as `suite_error`.',
      answers: TestReport,
      read: ({ params }) => store.reportsOf(params.pipeline_id),
      async handle({ project, rows }) {
        const reports = []
        // One after another: each may take much memory while it is read.
        for (const of of rows[0]!.reports) reports.push({ of, report: await readReport(blobs, of) })
        const recent = await store.recentFailures(db.reader, project.id, failedDigests(reports))
        const jobs = `${externalUrl()}/api/v4/projects/${project.id}/jobs`
        return testReport(reports, recent, (jobId, path) => `${jobs}/${jobId}/artifacts/${encodeURI(path)}`)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/pipelines/:pipeline_id/test_report_summary',
      summary: 'Get the summary of the test report of a pipeline',
      answers: TestReportSummary,
      read: ({ params }) => store.summariesOf(params.pipeline_id),
      handle: async ({ rows }) => testReportSummary(rows[0]!.summaries),
    }),
  ]
}
