import { anonymous, may, type ProjectSubject } from '../../access/index.ts'
import { pipelineDetailedStatus, reportedPipelineStatus, type Status } from '../../ci/index.ts'
import { Fields, Flag, Id, Int, Nullable, OneOf, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import { BasicUser, basicUser, type BasicUserEntity, type BasicUserRow } from '../users/index.ts'
import { isArchived } from './archived.ts'

const summaryBegin = {
  id: Id(),
  iid: Id({ description: 'Number within the project' }),
  project_id: Id(),
  sha: Text(),
  ref: Text(),
  status: Text(),
  source: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  web_url: Text(),
}

/** A pipeline inside other things, such as a job. */
export const PipelineReference = Fields(summaryBegin)
export const PipelineSummary = Fields({ ...summaryBegin, name: Nullable(Text()) })

const DetailedStatus = Fields({
  icon: Text(),
  text: Text(),
  label: Text(),
  group: Text(),
  tooltip: Text(),
  has_details: Flag(),
  details_path: Text(),
  illustration: Nullable(Text()),
  favicon: Text(),
})

const detailFields = {
  ...summaryBegin,
  before_sha: Text(),
  tag: Flag(),
  yaml_errors: Nullable(Text()),
  user: Nullable(BasicUser),
  started_at: Nullable(Timestamp()),
  finished_at: Nullable(Timestamp()),
  committed_at: Nullable(Timestamp()),
  duration: Nullable(Int({ description: 'Seconds in which a job ran' })),
  queued_duration: Nullable(Int({ description: 'Seconds' })),
  coverage: Nullable(Text({ description: 'Percent, with two decimals' })),
  archived: Flag(),
  detailed_status: DetailedStatus,
}

export const PipelineDetail = Fields({ ...detailFields, name: Nullable(Text()) })
/** What acting on a pipeline answers. */
export const PipelineActed = Fields(detailFields)

export const PipelineVariable = Fields({
  variable_type: OneOf('env_var', 'file'),
  key: Text(),
  value: Text(),
  raw: Flag(),
})

export interface PipelineSummaryRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly sha: string
  readonly ref: string
  readonly status: string
  readonly source: string
  readonly name: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface PipelineRow extends PipelineSummaryRow {
  readonly user_id: number | null
  readonly user: BasicUserRow | null
  readonly before_sha: string
  readonly tag: boolean
  readonly yaml_errors: string | null
  readonly has_warnings: boolean
  readonly coverage: number | null
  readonly duration: number | null
  readonly started_at: string | null
  readonly finished_at: string | null
  /** Whose rules decide who may run it. */
  readonly run_ref: string
}

type Place = { readonly fullPath: string }

/** What shows pipelines. */
export interface PipelineViewer {
  readonly externalUrl: () => string
  readonly settings: Pick<Settings, 'values'>
}

export function pipelineSummary(
  row: PipelineSummaryRow,
  project: Place,
  externalUrl: string,
): PipelineSummaryRow & { web_url: string } {
  return {
    ...row,
    status: reportedPipelineStatus(row.status as Status),
    web_url: `${externalUrl}/${project.fullPath}/-/pipelines/${row.id}`,
  }
}

export function pipelineDetail(
  row: PipelineRow,
  project: ProjectSubject,
  { externalUrl, settings }: PipelineViewer,
): Record<string, unknown> & { user: BasicUserEntity | null } {
  const { favicon, ...look } = pipelineDetailedStatus(row.status as Status, row.has_warnings)
  return {
    ...row,
    ...pipelineSummary(row, project, externalUrl()),
    user: row.user === null ? null : basicUser(row.user, externalUrl()),
    committed_at: null,
    queued_duration: queuedSeconds(row),
    coverage: row.coverage === null ? null : row.coverage.toFixed(2),
    archived: isArchived(row, settings.values),
    detailed_status: {
      ...look,
      // As somebody sees it who is not signed in, whoever asks.
      has_details: may(anonymous, 'read_pipeline', { ...project, role: 0 }),
      details_path: `/${project.fullPath}/-/pipelines/${row.id}`,
      illustration: null,
      favicon: `/assets/ci_favicons/${favicon}.png`,
    },
  }
}

function queuedSeconds({ created_at, started_at, finished_at }: PipelineRow): number | null {
  const end = started_at ?? finished_at
  if (end === null) return null
  const seconds = Math.floor((Date.parse(end) - Date.parse(created_at)) / 1000)
  return seconds > 0 ? seconds : null
}
