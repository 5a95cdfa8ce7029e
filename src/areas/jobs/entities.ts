import {
  Fields,
  Flag,
  Float,
  Id,
  Int,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import type { Commit as GitCommit } from '../../git/index.ts'
import {
  PipelineReference,
  pipelineSummary,
  PipelineSummary,
  type PipelineSummaryRow,
} from '../pipelines/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'
import { Commit, commitEntity } from '../repository/index.ts'
import { RunnerManager, runnerManager, RunnerReference, runnerReference } from './runner-entities.ts'
import type { RunnerManagerRow, RunnerRow } from './runner-entities.ts'

const basics = {
  id: Id(),
  status: Text(),
  stage: Text(),
  name: Text(),
  ref: Text(),
  tag: Flag(),
  coverage: Nullable(Float()),
  allow_failure: Flag(),
  created_at: Timestamp(),
  started_at: Nullable(Timestamp()),
  finished_at: Nullable(Timestamp()),
  erased_at: Nullable(Timestamp()),
  duration: Nullable(Float({ description: 'Seconds' })),
  queued_duration: Nullable(Float({ description: 'Seconds' })),
  user: Nullable(BasicUser),
  commit: Nullable(Commit),
  pipeline: PipelineReference,
  failure_reason: Optional(Text({ description: 'Of failed jobs' })),
  web_url: Text(),
  project: Fields({ ci_job_token_scope_enabled: Flag() }),
}

const jobFields = {
  ...basics,
  artifacts_file: Optional(Fields({ filename: Text(), size: Int() })),
  artifacts: ListOf(
    Fields({ file_type: Text(), size: Int(), filename: Text(), file_format: Nullable(Text()) }),
  ),
  runner: Nullable(RunnerReference),
  runner_manager: Nullable(RunnerManager),
  artifacts_expire_at: Nullable(Timestamp()),
  archived: Flag(),
  tag_list: ListOf(Text()),
}

export const Job = Fields(jobFields)

export const JobDetails = Fields({
  ...jobFields,
  has_terminal: Optional(Flag({ description: 'Its runner would let somebody into it' })),
  terminal_path: Optional(Text({ description: 'Of the WebSocket, for who may use it' })),
})

export const Bridge = Fields({ ...basics, downstream_pipeline: Nullable(PipelineSummary) })

export interface ArtifactRow {
  readonly file_type: string
  readonly size: number
  readonly filename: string
  readonly file_format: string
  readonly expire_at: string | null
}

export interface JobRow {
  readonly id: number
  readonly kind: string
  readonly status: string
  readonly stage: string
  readonly name: string
  readonly ref: string
  readonly tag: boolean
  readonly coverage: number | null
  readonly allow_failure: boolean
  readonly created_at: string
  readonly queued_at: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly erased_at: string | null
  readonly failure_reason: string | null
  readonly retried: boolean
  readonly debug_trace: boolean
  readonly run_when: string
  readonly stage_index: number
  readonly resource_group: string | null
  readonly user_id: number | null
  /** Whose rules decide who may run it. */
  readonly run_ref: string
  readonly user: BasicUserRow | null
  readonly pipeline: PipelineSummaryRow
  readonly artifacts: readonly ArtifactRow[]
  readonly runner: RunnerRow | null
  readonly runner_manager: RunnerManagerRow | null
  readonly artifacts_expire_at: string | null
  readonly tag_list: readonly string[]
  /** Of a trigger job. */
  readonly downstream: (PipelineSummaryRow & { readonly project_path: string }) | null
}

export interface JobSurroundings {
  readonly project: { readonly fullPath: string }
  /** Tokens of the project's jobs lead to listed projects only. */
  readonly limitsTokens: boolean
  readonly externalUrl: string
  readonly commits: ReadonlyMap<string, GitCommit>
  readonly now: Date
  readonly isArchived: (pipeline: { readonly created_at: string }) => boolean
}

function seconds(from: string | null, to: number): number | null {
  return from === null ? null : Math.max(0, to - Date.parse(from)) / 1000
}

export function job(
  row: JobRow,
  { project, limitsTokens, externalUrl, commits, now, isArchived }: JobSurroundings,
): Record<string, unknown> {
  const projectUrl = `${externalUrl}/${project.fullPath}`
  const commit = commits.get(row.pipeline.sha)
  const ended = row.finished_at === null ? now.getTime() : Date.parse(row.finished_at)
  const archive = row.artifacts.find(({ file_type }) => file_type === 'archive')
  return {
    ...row,
    duration: seconds(row.started_at, ended),
    queued_duration: seconds(row.queued_at, row.started_at === null ? ended : Date.parse(row.started_at)),
    user: row.user === null ? null : basicUser(row.user, externalUrl),
    commit: commit === undefined ? null : commitEntity(commit, projectUrl),
    pipeline: pipelineSummary(row.pipeline, project, externalUrl),
    failure_reason: row.status === 'failed' ? (row.failure_reason ?? 'unknown_failure') : undefined,
    web_url: `${projectUrl}/-/jobs/${row.id}`,
    project: { ci_job_token_scope_enabled: limitsTokens },
    artifacts_file: archive && { filename: archive.filename, size: archive.size },
    runner: row.runner === null ? null : runnerReference(row.runner, now),
    runner_manager: row.runner_manager === null ? null : runnerManager(row.runner_manager, now),
    archived: isArchived(row.pipeline),
    downstream_pipeline:
      row.downstream === null
        ? null
        : pipelineSummary(row.downstream, { fullPath: row.downstream.project_path }, externalUrl),
  }
}
