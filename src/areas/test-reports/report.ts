import { createHash } from 'node:crypto'
import type { Blobs } from '../../blobs/index.ts'
import { gzipMembers } from './gzip-members.ts'
import { JunitReader, ReportError, type CaseStatus, type ParsedReport, type TestCase } from './junit.ts'

/** A junit report of a job, as it is stored. */
export interface StoredReport {
  readonly job_id: number
  /** The group of the job: parallel jobs make one suite. */
  readonly suite: string
  readonly digest: string
  readonly size: number
}

/** What came of a report: its cases, or why it cannot be read. */
export type ReadReport = ParsedReport | { readonly error: string }

export type Counts = Readonly<Record<CaseStatus, number>>

/** Reads a stored report. A broken one is no failure of ours: it says so. */
export async function readReport(blobs: Blobs, { digest, size }: StoredReport): Promise<ReadReport> {
  const reader = new JunitReader()
  try {
    for await (const file of gzipMembers((range) => blobs.read(digest, range), size)) await reader.read(file)
  } catch (error) {
    if (error instanceof ReportError) return { error: error.message }
    // The archive itself is cut off or no archive.
    if (isBrokenArchive(error)) return { error: `JUnit data parsing failed: ${error.message}` }
    throw error
  }
  return reader.result
}

function isBrokenArchive(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return error.message === 'not in gzip format' || (code?.startsWith('Z_') ?? false)
}

export function countsOf(cases: readonly TestCase[]): Counts {
  const counts = { success: 0, failed: 0, skipped: 0, error: 0 }
  for (const { status } of cases) counts[status] += 1
  return counts
}

/** Names a test across pipelines. */
export function testDigest(suite: string, { classname, name }: TestCase): string {
  return createHash('sha256')
    .update(JSON.stringify([suite, classname, name]))
    .digest('base64url')
}
