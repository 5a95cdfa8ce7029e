import path from 'node:path'
import type { Blobs } from '../../blobs/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { PipelineProcess, RefProtection } from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { Commits } from './commits.ts'
import { rateLimits } from './rate-limits.ts'
import { actingEndpoints } from './routes-acting.ts'
import { artifactEndpoints } from './routes-artifacts.ts'
import { readingEndpoints } from './routes-reading.ts'
import { runnerEndpoints } from './routes-runner.ts'
import { JobView } from './show.ts'
import { jobSchedules, jobTasks } from './tasks.ts'
import { Traces } from './traces.ts'

export { filesBelow } from './archive.ts'
export { jobResults } from './results.ts'
export { readDotenv } from './artifact-rules.ts'
export { summarizeTests } from './artifacts-store.ts'
export { Commits } from './commits.ts'
export { Job, type JobRow } from './entities.ts'
export { isAvailable } from './kept.ts'
export {
  RunnerManager,
  runnerManager,
  runnerFields,
  runnerReference,
  RunnerReference,
  runnerState,
  runnerTypes,
  type RunnerManagerRow,
  type RunnerRow,
  type RunnerState,
} from './runner-entities.ts'
export { JobView, type ShownProject } from './show.ts'
export { jobJson, ofRunner as jobsOfRunner } from './store.ts'
export { Traces } from './traces.ts'

export interface JobServices {
  readonly db: Database
  readonly plan: Plan
  readonly cipher: Cipher
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly blobs: Blobs
  readonly externalUrl: () => string
  readonly dataDirectory: string
  readonly refProtection: RefProtection
  readonly process: PipelineProcess
}

/** Jobs: what people see of them and do to them, and what their runners tell. */
export function jobs(services: JobServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
  view: JobView
  commits: Commits
  traces: Traces
} {
  const traces = new Traces(path.join(services.dataDirectory, 'traces'))
  const commits = new Commits()
  const view = new JobView({ ...services, commits })
  const limits = rateLimits()
  return {
    endpoints: [
      ...readingEndpoints(services, view, traces),
      ...actingEndpoints(services, view),
      ...artifactEndpoints(services),
      ...runnerEndpoints(services, traces, limits),
    ],
    tasks: jobTasks(services, services.process, traces),
    schedules: jobSchedules,
    view,
    commits,
    traces,
  }
}
