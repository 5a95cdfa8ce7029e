import type { Logger } from 'pino'

/** Range of numeric ids jobs run as; every running job has its own. */
export interface JobUserRange {
  firstUid: number
  /** How many ids may be tried; at least `concurrency`. */
  count?: number
}

export interface RunnerOptions {
  /** Base URL of the instance, without `/api/v4`. */
  url: string
  /** The runner's authentication token (`glrt-…`). */
  token: string
  systemId: string
  /** Jobs that may run at the same time. */
  concurrency: number
  /** Holds jobs and caches; nobody else may write there. */
  directory: string
  log: Logger
  /** Aborted: no new jobs; running ones get `shutdownGrace`. */
  signal: AbortSignal
  /** Seconds running jobs may still take after `signal`; 10 by default. */
  shutdownGrace?: number
  /** Used only when the process is root. `same` runs jobs as the runner's own user. */
  user?: JobUserRange | 'same'
  /** Bytes of log kept for one job; 4 MiB by default. */
  outputLimit?: number
  /** Seconds between SIGTERM and SIGKILL when a job is stopped; 5 by default. */
  killGrace?: number
  /** Seconds between two questions for a job when the server does not hold them; 3 by default. */
  checkInterval?: number
  /** `PATH` of the jobs. */
  path?: string
  version?: string
  /** `bwrap`: namespaces of their own for jobs, where it is installed; `none` by default. */
  isolation?: 'bwrap' | 'none'
}

export type Settings = Required<Omit<RunnerOptions, 'user'>> & { user: Required<JobUserRange> | undefined }

export function settingsOf(options: RunnerOptions): Settings {
  return {
    shutdownGrace: 10,
    outputLimit: 4 * 1024 * 1024,
    killGrace: 5,
    checkInterval: 3,
    path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    version: '0.1.0',
    isolation: 'none',
    ...options,
    user: userRange(options.user),
  }
}

function userRange(user: RunnerOptions['user']) {
  if (user === 'same' || process.getuid?.() !== 0) return undefined
  const { firstUid, count = 1000 } = user ?? { firstUid: 61_000 }
  // Ids below belong to the system's own users; a job's leftovers are killed by id.
  if (firstUid < 1000)
    throw new RangeError('Jobs must not run as a system user: firstUid must be 1000 or more')
  return { firstUid, count }
}
