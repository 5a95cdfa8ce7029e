import { endpoint, project as projectKind } from '../../../access/index.ts'
import {
  branchName,
  commitStats,
  countCommits,
  listCommits,
  parsePath,
  refsContaining,
  rootPath,
  tagName,
  type TreePath,
} from '../../../git/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Int,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../../kernel/errors/index.ts'
import { CommitDetail, commitDetail, commitEntity, ListedCommit, statsEntity } from '../commit-entity.ts'
import { commitNamed, filterOf, rangeOf, readable } from '../looking.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository/commits'
/** Git counts no further. */
const deepest = 2_000_000_000
const epoch = new Date(0)
/** Refs that contain a commit, of each kind; finding more of them would take long. */
const mostRefs = 1000

export function commitEndpoints(services: RepositoryServices): Endpoint[] {
  const { places } = services
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the commits of a project',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({
        ref_name: Optional(
          Text({
            description: 'Branch, tag, commit, or a range of them (`v1..main`); the default branch otherwise',
          }),
        ),
        since: Optional(DateTime()),
        until: Optional(DateTime()),
        path: Optional(Text({ description: 'Only commits that change this file or folder' })),
        author: Optional(Text({ description: 'A part of `Name <address>`' })),
        all: Flag({ default: false, description: 'Of all branches and tags' }),
        with_stats: Flag({ default: false }),
        first_parent: Flag({ default: false }),
        order: OneOf(['default', 'topo'], { default: 'default' }),
        trailers: Flag({ default: false, description: 'Read the trailers of the messages' }),
      }),
      answers: ListOf(ListedCommit),
      async handle({ project, params, page }) {
        const range = rangeOf(params.ref_name)
        if (range === undefined) throw invalidParameters(['ref_name is invalid'])
        // Unlike other lists this one has no page 0.
        const asked = params as unknown as { page: number; per_page: number }
        const faults = (['page', 'per_page'] as const)
          .filter((name) => asked[name] < 1)
          .map((name) => `${name} does not have a valid value`)
        if (faults.length > 0) throw invalidParameters(faults)
        const repository = await readable(places, project)
        const nothing = page.offset > deepest || (params.until ?? epoch) < epoch
        if (repository === undefined || nothing) return new Page([])
        const found = await listCommits(repository, {
          ...(params.all ? {} : await filterOf(repository, range)),
          all: params.all,
          paths: pathsOf(params.path),
          // Git takes a moment before its own beginning for one in a far future.
          since: params.since !== undefined && params.since > epoch ? params.since : undefined,
          until: params.until,
          author: params.author,
          firstParent: params.first_parent,
          order: params.order,
          skip: page.offset,
          limit: page.limit + 1,
        })
        const commits = found.slice(0, page.limit)
        const stats = params.with_stats
          ? await commitStats(
              repository,
              commits.map(({ oid }) => oid),
            )
          : undefined
        const url = projectUrl(services, project)
        return new Page(
          commits.map((commit) => {
            const sums = stats?.get(commit.oid)
            return {
              ...commitEntity(commit, url, { trailers: params.trailers }),
              stats: sums && statsEntity(sums),
            }
          }),
          { hasMore: found.length > page.limit },
        )
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:sha`,
      summary: 'Get a commit by its id, or by a branch or tag',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({ stats: Flag({ default: true }) }),
      answers: CommitDetail,
      refuses: { 404: 'No such commit' },
      async handle({ project, params }) {
        const { repository, commit } = await commitNamed(places, project, params.sha)
        const sums = params.stats ? (await commitStats(repository, [commit.oid])).get(commit.oid) : undefined
        const place = { id: project.id, url: projectUrl(services, project) }
        return commitDetail(commit, place, sums, await services.lastPipelineOf(project, commit.oid))
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:sha/refs`,
      summary: 'List the branches and tags that contain a commit',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({ type: OneOf(['all', 'branch', 'tag'], { default: 'all' }) }),
      answers: ListOf(Fields({ type: OneOf('branch', 'tag'), name: Text() })),
      refuses: { 404: 'No such commit' },
      async handle({ project, params, page }) {
        const { repository, commit } = await commitNamed(places, project, params.sha)
        const branches =
          params.type === 'tag' ? [] : await refsContaining(repository, commit.oid, 'refs/heads/', mostRefs)
        const tags =
          params.type === 'branch' ? [] : await refsContaining(repository, commit.oid, 'refs/tags/', mostRefs)
        const all = [
          ...branches.map((ref) => ({ type: 'branch', name: branchName(ref) })),
          ...tags.map((ref) => ({ type: 'tag', name: tagName(ref) })),
        ]
        return new Page(all.slice(page.offset, page.offset + page.limit), { total: all.length })
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:sha/sequence`,
      summary: 'Count the commits up to this one',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({ first_parent: Flag({ default: false }) }),
      answers: Fields({ count: Int() }),
      refuses: { 404: 'No such commit' },
      async handle({ project, params }) {
        const { repository, commit } = await commitNamed(places, project, params.sha)
        const filter = { revs: [commit.oid], firstParent: params.first_parent }
        return { count: await countCommits(repository, filter) }
      },
    }),
  ]
}

function pathsOf(text: string | undefined): TreePath[] | undefined {
  if (text === undefined) return undefined
  const parsed = parsePath(text)
  if (parsed === undefined) throw invalidParameters(['path is invalid'])
  return parsed === rootPath ? undefined : [parsed]
}
