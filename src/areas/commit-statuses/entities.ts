import { Fields, Flag, Float, Id, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'

export const CommitStatus = Fields({
  id: Id(),
  sha: Text(),
  ref: Text(),
  status: Text(),
  name: Text(),
  target_url: Nullable(Text()),
  description: Nullable(Text()),
  created_at: Timestamp(),
  started_at: Nullable(Timestamp()),
  finished_at: Nullable(Timestamp()),
  allow_failure: Flag(),
  coverage: Nullable(Float()),
  pipeline_id: Id(),
  author: Nullable(BasicUser),
})

export interface StatusRow {
  readonly id: number
  readonly kind: string
  readonly sha: string
  readonly ref: string
  readonly status: string
  readonly name: string
  readonly target_url: string | null
  readonly description: string | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly allow_failure: boolean
  readonly coverage: number | null
  readonly pipeline_id: number
  readonly author: BasicUserRow | null
}

/** `projectUrl`: address of the project's page, where our own jobs have theirs. */
export function commitStatus(row: StatusRow, projectUrl: string, externalUrl: string): unknown {
  return {
    ...row,
    target_url: row.kind === 'build' ? `${projectUrl}/-/jobs/${row.id}` : row.target_url,
    author: row.author === null ? null : basicUser(row.author, externalUrl),
  }
}
