import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from './error.ts'

/** What PostgreSQL writes into its `postmaster.pid` (see its miscadmin.h). */
export interface PidFile {
  /** NaN in a file that a full disk or a power cut left empty. */
  pid: number
  /** ready, starting, stopping; empty until the server has written that line. */
  status: string
}

export function pidFilePath(data: string): string {
  return join(data, 'postmaster.pid')
}

export async function readPidFile(data: string): Promise<PidFile | undefined> {
  try {
    const lines = (await readFile(pidFilePath(data), 'utf8')).split('\n')
    // A negative number is a single-user server's.
    return { pid: Math.abs(Number.parseInt(lines[0] ?? '', 10)), status: (lines[7] ?? '').trim() }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
