import type { Blobs } from '../../blobs/index.ts'
import type { Database, Notifications } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { IdentityTokens } from '../identity-tokens/index.ts'
import type { Commits, JobView, Traces } from '../jobs/index.ts'
import type { AddressServices, PipelineProcess } from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { HandOut } from './hand-out.ts'
import { JobQueue } from './job-queue.ts'
import { identityEndpoints } from './routes-identity.ts'
import { runnerReleases, type ReleaseServices } from './releases.ts'
import { managementEndpoints } from './routes-management.ts'
import type { DeployTokens } from './job-row.ts'
import { placeEndpoints } from './routes-places.ts'
import { registrationEndpoints } from './routes-registration.ts'
import { requestEndpoint } from './routes-request.ts'

export { ensureBuiltInRunner } from './built-in.ts'

export interface RunnerServices extends AddressServices, ReleaseServices {
  readonly db: Database
  readonly notifications: Notifications
  readonly cipher: Cipher
  readonly blobs: Blobs
  readonly places: RepositoryPlaces
  readonly settings: Settings
  readonly log: Logger
  readonly process: PipelineProcess
  readonly commits: Commits
  readonly traces: Traces
  readonly view: JobView
  readonly identity: IdentityTokens
  /** The deploy token that jobs of a project get, if there is one. */
  readonly deployTokens: DeployTokens
}

/** Runners: who they are, whom they serve, and how they get their jobs. */
export function runners(services: RunnerServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const queue = new JobQueue({ ...services, started: (jobs) => services.process.started(jobs) })
  const handOut = new HandOut(services)
  return {
    ...runnerReleases(services),
    endpoints: [
      ...identityEndpoints(services),
      ...registrationEndpoints(services),
      ...managementEndpoints(services, services.view),
      ...placeEndpoints(services),
      requestEndpoint(services, queue, handOut),
    ],
    // Whoever waits is sent away before the server stops, which waits for its requests.
    start: async () => queue,
  }
}
