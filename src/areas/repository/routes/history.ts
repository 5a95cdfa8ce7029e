import { endpoint, project as projectKind } from '../../../access/index.ts'
import { blame, contributors, lineCount, type Commit } from '../../../git/index.ts'
import {
  Answer,
  Fields,
  Int,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  Timestamp,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { invalidParameters, notFound } from '../../../kernel/errors/index.ts'
import { readable, resolveName } from '../looking.ts'
import type { RepositoryServices } from '../services.ts'
import { factHeaders, findFile } from './files.ts'

const Contributor = Fields({
  name: Text(),
  email: Text(),
  commits: Int(),
  additions: Int(),
  deletions: Int(),
})

const BlamePart = Fields({
  commit: Fields({
    id: Text(),
    parent_ids: ListOf(Text()),
    message: Text(),
    authored_date: Timestamp(),
    author_name: Text(),
    author_email: Text(),
    committed_date: Timestamp(),
    committer_name: Text(),
    committer_email: Text(),
  }),
  lines: ListOf(Text()),
})

export function historyEndpoints(services: RepositoryServices): Endpoint[] {
  const { places } = services
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/contributors',
      summary: 'List who wrote the commits of a project',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({
        ref: Optional(Text({ description: 'Branch, tag or commit; the default branch otherwise' })),
        order_by: OneOf(['commits', 'email', 'name'], { default: 'commits' }),
        sort: OneOf(['asc', 'desc'], { default: 'asc' }),
      }),
      answers: ListOf(Contributor),
      refuses: { 404: 'No such ref' },
      async handle({ project, params, page }) {
        const repository = await readable(places, project)
        const commit = await resolveName(repository, params.ref)
        if (repository === undefined || commit === undefined) {
          if (params.ref === undefined) return new Page([], { total: 0 })
          throw notFound('Ref')
        }
        const key = params.order_by
        const found = (await contributors(repository, commit)).toSorted((a, b) =>
          key === 'commits' ? a.commits - b.commits : a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0,
        )
        if (params.sort === 'desc') found.reverse()
        return new Page(
          // Counting lines would mean to read all of history.
          found
            .slice(page.offset, page.offset + page.limit)
            .map((one) => ({ ...one, additions: 0, deletions: 0 })),
          { total: found.length },
        )
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/files/:file_path/blame',
      summary: 'Get the lines of a file with the commits that they come from',
      description: 'HEAD answers what is known of the file in the headers `X-Gitlab-*`.',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      scopes: ['read_repository'],
      params: Fields({
        ref: Text({ blank: false, description: 'Branch, tag or commit' }),
        range: Optional(
          Fields(
            { start: Int({ minimum: 1 }), end: Int({ minimum: 1 }) },
            { description: 'Lines, from 1 on' },
          ),
        ),
      }),
      answers: ListOf(BlamePart),
      refuses: { 404: 'No such commit or file' },
      async handle({ project, params: { file_path, ref, range }, request }) {
        if (range !== undefined && range.start > range.end) {
          throw invalidParameters(['range[start] must be less than or equal to range[end]'])
        }
        const { repository, oid, facts, path, commit } = await findFile(
          services,
          project,
          file_path,
          ref,
          request,
        )
        const headers = { ...factHeaders(facts), 'content-type': 'application/json' }
        if (request.method === 'HEAD') return new Answer(200, headers)
        // Git refuses a range that begins after the end of the file.
        const isBeyond = range !== undefined && range.start > (await lineCount(repository, oid))
        const parts = isBeyond ? [] : await blame(repository, commit, path, range)
        const shown = parts.map((part) => ({ commit: blamedCommit(part.commit), lines: part.lines }))
        return new Answer(200, headers, JSON.stringify(shown))
      },
    }),
  ]
}

function blamedCommit({ oid, parents, message, author, committer }: Commit): Record<string, unknown> {
  return {
    id: oid,
    parent_ids: parents,
    message,
    authored_date: author.date,
    author_name: author.name,
    author_email: author.email,
    committed_date: committer.date,
    committer_name: committer.name,
    committer_email: committer.email,
  }
}
