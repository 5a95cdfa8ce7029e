import { parseTrailers, type Commit as GitCommit, type DiffStat } from '../../git/index.ts'
import {
  Fields,
  Hash,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import type { CommitPipeline } from './services.ts'

const commitFields = {
  id: Text(),
  short_id: Text(),
  title: Text(),
  message: Text(),
  author_name: Text(),
  author_email: Text(),
  authored_date: Timestamp(),
  committer_name: Text(),
  committer_email: Text(),
  committed_date: Timestamp(),
  created_at: Timestamp(),
  parent_ids: ListOf(Text()),
  web_url: Text(),
  trailers: Hash(Text()),
  extended_trailers: Hash(ListOf(Text())),
}

const Stats = Fields({ additions: Int(), deletions: Int(), total: Int() })

export const Commit = Fields(commitFields)
export const ListedCommit = Fields({ ...commitFields, stats: Optional(Stats) })
export const CommitDetail = Fields({
  ...commitFields,
  stats: Optional(Stats),
  status: Nullable(Text()),
  project_id: Id(),
  last_pipeline: Json({ description: 'The last pipeline of this commit, or null' }),
})

/** `projectUrl`: address of the project's page, without a slash at the end. */
export function commitEntity(
  commit: GitCommit,
  projectUrl: string,
  { trailers = true }: { trailers?: boolean } = {},
): Record<string, unknown> {
  const found = trailers ? parseTrailers(commit.message) : []
  return {
    id: commit.oid,
    short_id: commit.oid.slice(0, 8),
    title: commit.title,
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: commit.author.date,
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: commit.committer.date,
    created_at: commit.committer.date,
    parent_ids: commit.parents,
    web_url: `${projectUrl}/-/commit/${commit.oid}`,
    trailers: Object.fromEntries(found.map(({ key, value }) => [key, value])),
    extended_trailers: Object.fromEntries(
      [...Map.groupBy(found, ({ key }) => key)].map(([key, all]) => [key, all.map(({ value }) => value)]),
    ),
  }
}

export function statsEntity({ additions, deletions }: DiffStat): Record<string, number> {
  return { additions, deletions, total: additions + deletions }
}

/** One commit in full. `ci`: what the pipelines say of it. */
export function commitDetail(
  commit: GitCommit,
  project: { readonly id: number; readonly url: string },
  stats: DiffStat | undefined,
  ci: CommitPipeline | undefined,
): Record<string, unknown> {
  return {
    ...commitEntity(commit, project.url),
    stats: stats && statsEntity(stats),
    status: ci?.status ?? null,
    project_id: project.id,
    last_pipeline: ci?.pipeline ?? null,
  }
}
