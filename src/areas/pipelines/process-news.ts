import type { Status } from '../../ci/index.ts'

/** Events of kind `pipeline`, one for each change of status; `job` brings all jobs that one step changed. */
export interface PipelineEvent {
  readonly pipelineId: number
  readonly status: Status
}
export interface JobEvent {
  readonly pipelineId: number
  readonly jobs: readonly { readonly id: number; readonly status: Status }[]
}

export const taskNames = {
  startDelayed: 'ci:start-delayed-job',
  grantResource: 'ci:grant-resource',
  runBridge: 'ci:run-bridge',
  follow: 'ci:follow-pipeline',
  cancel: 'ci:cancel-pipeline',
  cancelRedundant: 'ci:cancel-redundant-pipeline',
  removeFiles: 'ci:remove-job-files',
  findOld: 'ci:find-old-pipelines',
  removeOld: 'ci:remove-old-pipelines',
  writeRef: 'ci:write-pipeline-ref',
  tidyRefs: 'ci:tidy-pipeline-refs',
} as const
