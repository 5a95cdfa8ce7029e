import type { ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import type { PushEvent, RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { AddressServices } from './addresses.ts'
import { PipelineCreator } from './create-pipeline.ts'
import { Downstream } from './downstream.ts'
import type { JobResults } from './downstream-scene.ts'
import type { Deployments } from './deployments.ts'
import { onPush } from './on-push.ts'
import { PersistentRefs } from './persistent-refs.ts'
import { PipelineProcess } from './process-pipeline.ts'
import type { RefProtection } from './ref-protection.ts'
import type { RemoteFiles } from './remote-files.ts'
import { PipelineRemoval } from './removal.ts'
import { lintEndpoints } from './routes-lint.ts'
import { readingEndpoints } from './routes-reading.ts'
import { writingEndpoints } from './routes-writing.ts'
import { pipelineSweeps, pipelineTasks } from './tasks.ts'

export { isArchived } from './archived.ts'
export { jobsChannel } from './channels.ts'
export { variableWarnings } from './push-options.ts'
export { ciSettings, type CiSettings } from './ci-settings.ts'
export { PipelineCreator } from './create-pipeline.ts'
export type { GivenVariable, PipelineOutcome, PipelineRequest, RefRequest } from './pipeline-request.ts'
export {
  PipelineActed,
  PipelineDetail,
  pipelineDetail,
  PipelineReference,
  PipelineSummary,
  pipelineSummary,
  type PipelineRow,
  type PipelineSummaryRow,
} from './entities.ts'
export type { JobResults } from './downstream-scene.ts'
export type { Deployments } from './deployments.ts'
export { PersistentRefs, pipelineRef } from './persistent-refs.ts'
export { closedRollbacks, isOutdated, isOvertaken } from './forward-deployment.ts'
export { findRef, findRefToRead, tagMessage, type FoundRef } from './find-ref.ts'
export { gather } from './compile-pipeline.ts'
export { runRefusal } from './lint.ts'
export { loadConfig, type ConfigRequest } from './load-config.ts'
export type { MergeRequestFacts, MergeRequestProject, MergeRequestSide } from './merge-request.ts'
export type { MachineJob } from './machine.ts'
export { addressesFor, type Addresses, type AddressServices } from './addresses.ts'
export { predefinedVariables, type PipelineFacts, type ProjectFacts, type Upstream } from './predefined.ts'
export { taskNames, type JobEvent, type PipelineEvent } from './process-news.ts'
export { PipelineProcess } from './process-pipeline.ts'
export type { JobEnd } from './process-store.ts'
export type { PipelineRef, RefProtection } from './ref-protection.ts'
export { checkVariables, danglingSources, skippedAfter } from './rules.ts'
export { RemoteFiles } from './remote-files.ts'
export { processModes, upcomingJobs } from './resource-turn.ts'
export { AlreadyCreated, insertPipeline, type NewPipelineRow } from './create-store.ts'
export { lastPipelineOf } from './commit-pipeline.ts'
export {
  detailColumns as pipelineDetailColumns,
  find as findPipeline,
  latestOf as latestPipeline,
  pushedSha,
  runRef,
  summaryColumns as pipelineSummaryColumns,
} from './store.ts'
export {
  openFacts,
  pipelineSecretContext,
  projectFacts,
  projectFactsJson,
  type FactsRow,
  type StoredVariable,
} from './variable-source.ts'
export { pipelineSources } from './words.ts'

export interface PipelineServices extends AddressServices {
  readonly db: Database
  readonly events: Events
  readonly cipher: Cipher
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly remoteFiles: RemoteFiles
  readonly outbound: Outbound
  readonly plan: Plan
  readonly log: Logger
  readonly refProtection: RefProtection
  readonly results: JobResults
  readonly deployments: Deployments
}

/** Pipelines of projects; `creator` and `process` are for other areas that start or move them. */
export function pipelines(services: PipelineServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
  creator: PipelineCreator
  process: PipelineProcess
} {
  const refs = new PersistentRefs(services)
  const process = new PipelineProcess({ ...services, refs })
  const creator = new PipelineCreator({ ...services, process, refs })
  const removal = new PipelineRemoval(services, process, refs)
  services.events.subscribe<PushEvent>('push', 'pipelines', (event) => onPush(services, creator, event))
  return {
    endpoints: [
      ...readingEndpoints(services),
      ...writingEndpoints(services, creator, process, removal),
      ...lintEndpoints(services),
    ],
    tasks: [
      ...pipelineTasks(services, process, new Downstream({ ...services, process, refs }, creator), refs),
      ...removal.tasks(),
    ],
    schedules: [...pipelineSweeps, ...removal.schedules()],
    creator,
    process,
  }
}
