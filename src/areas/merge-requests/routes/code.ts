import { endpoint, type ProjectSubject } from '../../../access/index.ts'
import {
  fileDiffs,
  listCommitIds,
  parseOid,
  readCommits,
  streamPatch,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import {
  Answer,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  Page,
  Text,
  Timestamp,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../../kernel/errors/index.ts'
import { Commit, commitEntity, Diff, diffEntity, diffLimits } from '../../repository/index.ts'
import { MergeRequest } from '../entities.ts'
import { readableDetail, readableOne } from '../reading/one.ts'
import { readableVersion, readableVersions, type VersionRow } from '../reading/versions.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { showMergeRequest } from '../show.ts'
import { iid, readingOne, requestPath } from './reading.ts'

const versionFields = {
  id: Id(),
  head_commit_sha: Text(),
  base_commit_sha: Nullable(Text()),
  start_commit_sha: Text(),
  created_at: Timestamp(),
  merge_request_id: Id(),
  state: Text({ description: 'collected, overflow or empty' }),
  real_size: Text({ description: 'Files that differ' }),
  patch_id_sha: Nullable(Text()),
}
const unidiff = { unidiff: Flag({ default: false, description: 'With the names of the files before' }) }

/** A comparison shows no more commits. */
const mostCommits = 10_000

type Heads = Pick<MergeRequestRow, 'head_sha' | 'base_sha' | 'start_sha'>

export function codeEndpoints(services: MergeRequestServices): Endpoint[] {
  const { places, settings, externalUrl } = services
  const urlOf = (project: ProjectSubject): string => `${externalUrl()}/${project.fullPath}`
  const diffsOf = (project: ProjectSubject, heads: Heads, about: Parameters<typeof fileDiffs>[4]) =>
    fileDiffs(places.of(project), from(heads), heads.head_sha as Oid, diffLimits(settings), about)
  return [
    endpoint({
      ...readingOne,
      path: `${requestPath}/commits`,
      summary: 'List the commits of a merge request',
      paged: true,
      params: Fields(iid),
      answers: ListOf(Commit),
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ project, rows, page }) {
        const repository = places.of(project)
        const found = await commitsOf(repository, rows[0]!, { skip: page.offset, limit: page.limit + 1 })
        const shown = found.slice(0, page.limit).map((commit) => commitEntity(commit, urlOf(project)))
        return new Page(shown, { hasMore: found.length > page.limit })
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/diffs`,
      summary: 'List the files that a merge request changes',
      paged: true,
      params: Fields({ ...iid, ...unidiff }),
      answers: ListOf(Diff),
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ project, rows, params, page, request }) {
        const about = { skip: page.offset, count: page.limit, signal: request.signal }
        const { files, total } = await diffsOf(project, rows[0]!, about)
        return new Page(
          files.map((file) => diffEntity(file, params)),
          { total },
        )
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/changes`,
      summary: 'Get a merge request with all files that it changes',
      description: 'Use the list of its diffs, which comes in pages.',
      params: Fields({ ...iid, ...unidiff, access_raw_diffs: Flag({ default: false }) }),
      answers: Fields({ ...MergeRequest.properties, changes: ListOf(Diff), overflow: Flag() }),
      read: ({ params }) => readableDetail(params.merge_request_iid),
      async handle({ actor, project, rows, params, request }) {
        const { files, overflow } = await diffsOf(project, rows[0]!, { signal: request.signal })
        return {
          ...(await showMergeRequest(services, actor, project, rows[0]!)),
          changes: files.map((file) => diffEntity(file, params)),
          overflow,
        }
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/raw_diffs`,
      summary: 'Get what a merge request changes as one patch',
      params: Fields(iid),
      answers: Text(),
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ project, rows, request }) {
        const row = rows[0]!
        const patch = streamPatch(places.of(project), from(row), row.head_sha as Oid, request.signal)
        return new Answer(200, { 'content-type': 'text/plain; charset=utf-8' }, patch)
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/versions`,
      summary: 'List the versions of a merge request, one for each push',
      paged: true,
      params: Fields(iid),
      answers: ListOf(Fields(versionFields)),
      read: ({ params }) => readableVersions(params.merge_request_iid),
      handle: async ({ rows, page: { offset, limit } }) => {
        const { versions } = rows[0]!
        return new Page(versions.slice(offset, offset + limit).map(version), { total: versions.length })
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/versions/:version_id`,
      summary: 'Get a version of a merge request',
      params: Fields({ ...iid, version_id: Id(), ...unidiff }),
      answers: Fields({
        ...versionFields,
        commits: ListOf(Commit),
        diffs: ListOf(Diff),
        commits_count: Int(),
      }),
      read: ({ params }) => readableVersion(params.merge_request_iid, params.version_id),
      async handle({ project, rows, params, request }) {
        const { version: row } = rows[0]!
        if (row === null) throw recordNotFound()
        const [commits, { files }] = await Promise.all([
          commitsOf(places.of(project), row, { limit: mostCommits }),
          diffsOf(project, row, { signal: request.signal }),
        ])
        return {
          ...version(row),
          commits: commits.map((commit) => commitEntity(commit, urlOf(project))),
          commits_count: row.commits_count,
          diffs: files.map((file) => diffEntity(file, params)),
        }
      },
    }),
  ]
}

/** Newest first. */
async function commitsOf(
  repository: Repository,
  { head_sha, start_sha, base_sha }: Heads,
  page: { readonly skip?: number; readonly limit: number },
) {
  const stops = [start_sha, base_sha].flatMap((sha) => (sha === null ? [] : (parseOid(sha) ?? [])))
  const oids = await listCommitIds(repository, { revs: [head_sha as Oid], not: stops, ...page })
  return readCommits(repository, oids)
}

/** What the head is compared with: the commit that it began at. */
function from({ base_sha, start_sha }: Heads): Oid {
  return (base_sha ?? start_sha) as Oid
}

function version(row: VersionRow): Record<string, unknown> {
  return {
    ...row,
    head_commit_sha: row.head_sha,
    base_commit_sha: row.base_sha,
    start_commit_sha: row.start_sha,
    real_size: row.state === 'overflow' ? `${row.real_size - 1}+` : String(row.real_size),
  }
}
