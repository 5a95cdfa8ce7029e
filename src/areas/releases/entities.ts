import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Commit as GitCommit } from '../../git/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { milestone, Milestone, type MilestoneRow } from '../milestones/index.ts'
import { Commit, commitEntity } from '../repository/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const

export const ReleaseLink = Fields({
  id: Id(),
  name: Text(),
  url: Text(),
  direct_asset_url: Text(),
  link_type: Text(),
})

const ReleaseMilestone = Fields({
  ...Milestone.properties,
  issue_stats: Fields({ total: Int(), closed: Int() }),
})

export const BasicRelease = Fields({
  name: Text(),
  tag_name: Text(),
  description: Nullable(Text()),
  created_at: Timestamp(),
  released_at: Timestamp(),
  upcoming_release: Flag(),
})

/** Without the code of a project its commits, paths and sources are not shown. */
export const Release = Fields({
  ...BasicRelease.properties,
  description_html: Optional(Text()),
  author: Nullable(BasicUser),
  commit: Optional(Nullable(Commit)),
  milestones: Optional(ListOf(ReleaseMilestone)),
  commit_path: Optional(Text()),
  tag_path: Optional(Text()),
  assets: Fields({
    count: Int(),
    sources: Optional(ListOf(Fields({ format: Text(), url: Text() }))),
    links: ListOf(ReleaseLink),
  }),
  evidences: ListOf(Fields({ sha: Text(), filepath: Text(), collected_at: Timestamp() })),
  _links: Fields({
    self: Text(),
    edit_url: Optional(Text()),
    closed_issues_url: Optional(Text()),
    closed_merge_requests_url: Optional(Text()),
    merged_merge_requests_url: Optional(Text()),
    opened_issues_url: Optional(Text()),
    opened_merge_requests_url: Optional(Text()),
  }),
})

export interface LinkRow {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly filepath: string | null
  readonly link_type: string
}

export interface ReleaseRow {
  readonly id: number
  readonly tag: string
  readonly name: string | null
  readonly description: string | null
  readonly sha: string
  readonly created_at: string
  readonly released_at: string
  readonly author: BasicUserRow | null
  readonly links: readonly LinkRow[]
  readonly milestones: readonly {
    readonly milestone: MilestoneRow
    readonly issues: { readonly total: number; readonly closed: number }
  }[]
  readonly evidences: readonly {
    readonly id: number
    readonly sha: string
    readonly collected_at: string
  }[]
}

export interface ReleaseSurroundings {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly externalUrl: string
  readonly commits: ReadonlyMap<string, GitCommit>
  readonly now: Date
}

const sourceFormats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const

/** Addresses of the code of a tag, of a project at `url`. */
export function sourcesOf(tag: string, url: string): { format: string; url: string }[] {
  const path = url.slice(url.lastIndexOf('/') + 1)
  return sourceFormats.map((format) => ({
    format,
    url: `${url}/-/archive/${encodeURIComponent(tag)}/${path}-${tag.replaceAll('/', '-')}.${format}`,
  }))
}

export function releaseLink(row: LinkRow, tag: string, projectUrl: string): Record<string, unknown> {
  const { filepath } = row
  const direct =
    filepath === null ? row.url : `${projectUrl}/-/releases/${encodeURIComponent(tag)}/downloads${filepath}`
  return { ...row, direct_asset_url: direct }
}

export function basicRelease(row: ReleaseRow, now: Date): Record<string, unknown> {
  return {
    name: row.name ?? row.tag,
    tag_name: row.tag,
    description: row.description,
    created_at: row.created_at,
    released_at: row.released_at,
    upcoming_release: Date.parse(row.released_at) > now.getTime(),
  }
}

export function release(row: ReleaseRow, about: ReleaseSurroundings): Record<string, unknown> {
  const { actor, project, externalUrl, commits, now } = about
  const url = `${externalUrl}/${project.fullPath}`
  const tag = encodeURIComponent(row.tag)
  const code = may(actor, 'read_code', project)
  const commit = commits.get(row.sha)
  const milestones = may(actor, 'read_milestone', project)
    ? row.milestones.map((one) => ({
        ...milestone(one.milestone, externalUrl, now),
        issue_stats: one.issues,
      }))
    : []
  const sources = code ? sourcesOf(row.tag, url) : undefined
  return {
    ...basicRelease(row, now),
    author: row.author === null ? null : basicUser(row.author, externalUrl),
    ...(milestones.length > 0 && { milestones }),
    ...(code && {
      commit: commit === undefined ? null : commitEntity(commit, url),
      commit_path: `/${project.fullPath}/-/commit/${row.sha}`,
      tag_path: `/${project.fullPath}/-/tags/${tag}`,
    }),
    assets: {
      count: row.links.length + (sources?.length ?? 0),
      sources,
      links: row.links.map((link) => releaseLink(link, row.tag, url)),
    },
    evidences: row.evidences.map(({ id, sha, collected_at }) => ({
      sha,
      filepath: `${externalUrl}/api/v4/projects/${project.id}/releases/${tag}/evidences/${id}`,
      collected_at,
    })),
    _links: {
      self: `${url}/-/releases/${tag}`,
      ...(may(actor, 'update_release', project) && { edit_url: `${url}/-/releases/${tag}/edit` }),
      ...plannedUrls(
        actor,
        project,
        (kind, state) => `${url}/-/${kind}?release_tag=${tag}&scope=all&state=${state}`,
      ),
    },
  }
}

/** Where the issues and merge requests of its milestones are listed, as far as the caller reads those of the project. */
function plannedUrls(
  actor: Actor,
  project: ProjectSubject,
  at: (kind: 'issues' | 'merge_requests', state: 'opened' | 'closed' | 'merged') => string,
): Record<string, string> {
  const issues = may(actor, 'read_issue', project)
  const requests = may(actor, 'read_merge_request', project)
  return {
    ...(issues && { closed_issues_url: at('issues', 'closed') }),
    ...(requests && {
      closed_merge_requests_url: at('merge_requests', 'closed'),
      merged_merge_requests_url: at('merge_requests', 'merged'),
    }),
    ...(issues && { opened_issues_url: at('issues', 'opened') }),
    ...(requests && { opened_merge_requests_url: at('merge_requests', 'opened') }),
  }
}
