import { endpoint, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import {
  fileDiffs,
  listCommits,
  mergeBase,
  readCommits,
  zeroOid,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import {
  forbidden,
  invalidParameters,
  notFound,
  refused,
  type ApiError,
} from '../../../kernel/errors/index.ts'
import { Commit, commitEntity } from '../commit-entity.ts'
import { Diff, diffEntity, diffLimits } from '../diff-entity.ts'
import { commitNamed, readable, resolveName } from '../looking.ts'
import { borrowCommit, relativeNamed } from '../networks.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository'
/** A comparison shows no more commits. */
const mostCommits = 10_000
const mostRefs = 50

export function diffEndpoints(services: RepositoryServices): Endpoint[] {
  const { places, settings } = services
  return [
    endpoint({
      method: 'GET',
      path: `${path}/commits/:sha/diff`,
      summary: 'Get what a commit changed against its first parent',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({
        unidiff: Flag({ default: false, description: 'With the names of the files before' }),
      }),
      answers: ListOf(Diff),
      refuses: { 404: 'No such commit' },
      async handle({ project, params, page, request }) {
        const { repository, commit } = await commitNamed(places, project, params.sha)
        const { files, total } = await fileDiffs(
          repository,
          commit.parents[0] ?? zeroOid,
          commit.oid,
          diffLimits(settings),
          { skip: page.offset, count: page.limit, signal: request.signal },
        )
        return new Page(
          files.map((file) => diffEntity(file, params)),
          { total },
        )
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/compare`,
      summary: 'Compare two branches, tags or commits',
      description: 'What `to` has beyond their last common commit; with `straight` beyond `from` itself.',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({
        from: Text({ blank: false }),
        to: Text({ blank: false }),
        from_project_id: Optional(Either(Id(), Text())),
        straight: Flag({ default: false }),
        unidiff: Flag({ default: false, description: 'With the names of the files before' }),
      }),
      answers: Fields({
        commit: Nullable(Commit),
        commits: ListOf(Commit),
        diffs: ListOf(Diff),
        compare_timeout: Flag(),
        compare_same_ref: Flag(),
        web_url: Text(),
      }),
      refuses: { 400: 'The other project is no fork of this one', 404: 'One of the two does not exist' },
      async handle({ actor, project, params, request }) {
        const fork = await relativeNamed(services, actor, project, params.from_project_id, noFork(project))
        const own = await readable(places, project)
        const from = await resolveName(fork === undefined ? own : await readable(places, fork), params.from)
        const to = await resolveName(own, params.to)
        if (own === undefined || from === undefined || to === undefined) throw notFound('Ref')
        await using borrowed = fork && (await borrowCommit(services, fork, project, from))
        const repository = borrowed?.repository ?? own
        const base = params.straight ? from : ((await mergeBase(repository, [from, to])) ?? from)
        const newest = await listCommits(repository, { revs: [to], not: [from], limit: mostCommits })
        const { files, overflow } = await fileDiffs(repository, base, to, diffLimits(settings), {
          signal: request.signal,
        })
        const url = projectUrl(services, project)
        const commits = newest.toReversed().map((commit) => commitEntity(commit, url))
        const dots = params.straight ? '..' : '...'
        return {
          commit: commits.at(-1) ?? null,
          commits,
          diffs: files.map((file) => diffEntity(file, params)),
          compare_timeout: overflow,
          compare_same_ref: params.from === params.to,
          web_url: `${url}/-/compare/${encoded(params.from)}${dots}${encoded(params.to)}`,
        }
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/merge_base`,
      summary: 'Get the last common commit of branches, tags or commits',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({ refs: ListOf(Text(), { commaSeparated: true }) }),
      answers: Commit,
      refuses: { 400: 'Fewer than two refs, or an unknown one', 404: 'They have nothing in common' },
      async handle({ project, params }) {
        const names = [...new Set(params.refs)]
        if (params.refs.length < 2) throw refused(400, 'Provide at least 2 refs')
        if (names.length > mostRefs) throw invalidParameters(['refs is too long'])
        const repository = await readable(places, project)
        const oids = await resolveAll(repository, names)
        const found = repository && (await mergeBase(repository, oids))
        const [commit] =
          found === undefined || repository === undefined ? [] : await readCommits(repository, [found])
        if (commit === undefined) throw notFound('Merge Base')
        return commitEntity(commit, projectUrl(services, project))
      },
    }),
  ]
}

async function resolveAll(repository: Repository | undefined, names: readonly string[]): Promise<Oid[]> {
  const oids: Oid[] = []
  for (const name of names) {
    const oid = await resolveName(repository, name)
    if (oid === undefined) throw refused(400, `Could not find ref: ${name}`)
    oids.push(oid)
  }
  return oids
}

/** Of a project that cannot be compared with. */
function noFork(own: ProjectSubject) {
  return (other: ProjectSubject, related: boolean): ApiError =>
    related
      ? forbidden("You don't have access to this fork's parent project")
      : refused(400, `Target project id:${other.id} is not a fork of project id:${own.id}`)
}

function encoded(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/')
}
