import { endpoint, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import type { Oid, Repository } from '../../git/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Int,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { readable, resolveName, type RepositoryPlaces } from '../repository/index.ts'
import { basicUser, BasicUser } from '../users/index.ts'
import { codeOwnersAt } from './file.ts'
import { ownersOfPaths } from './owned.ts'
import type { ProblemCode } from './parse.ts'

export interface CodeOwnerServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
}

const path = '/projects/:id/repository/code_owners'
const ref = { ref: Optional(Text({ description: 'Branch, tag or commit; the default branch otherwise' })) }
const refuses = { 404: 'No such ref, or no file of code owners there' }

const words: Readonly<Record<ProblemCode, string>> = {
  invalid_section_format: 'The heading of a section has no closing bracket.',
  missing_section_name: 'The section has no name.',
  invalid_approval_requirement: 'The number of approvals is no number from 1 on; 1 is asked for.',
  invalid_section_owner_format: 'An owner of the section is no user, group, role or address.',
  missing_entry_owner: 'The pattern has no owners.',
  invalid_entry_owner_format: 'An owner is no user, group, role or address.',
}

const OwnersOfLine = Fields({
  section: Text(),
  pattern: Text(),
  line: Int(),
  optional: Flag(),
  approvals_required: Int(),
  paths: ListOf(Text()),
  owners: ListOf(BasicUser),
})

export function codeOwnerEndpoints(services: CodeOwnerServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: `${path}/errors`,
      summary: 'List what is wrong in the file of code owners',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      plan: planOf.code_owners,
      params: Fields(ref),
      answers: Fields({
        path: Text(),
        commit_id: Text(),
        errors: ListOf(
          Fields({
            code: OneOf(...(Object.keys(words) as [ProblemCode, ...ProblemCode[]])),
            line: Int(),
            source: Text(),
            message: Text(),
          }),
        ),
      }),
      refuses,
      async handle({ project, params }) {
        const { repository, commit } = await placeOf(services, project, params.ref)
        const file = await codeOwnersAt(repository, commit)
        if (file === undefined) throw notFound('File')
        const errors = file.problems.map((problem) => ({ ...problem, message: words[problem.code] }))
        return { path: file.path, commit_id: commit, errors }
      },
    }),

    endpoint({
      method: 'GET',
      path,
      summary: 'Tell who owns files, by the lines of the file of code owners that count for them',
      on: projectKind,
      may: 'push_code',
      plan: planOf.code_owners,
      paged: true,
      params: Fields({ ...ref, paths: ListOf(Text(), { commaSeparated: true }) }),
      answers: ListOf(OwnersOfLine),
      refuses,
      async handle({ project, params, page }) {
        const { repository, commit } = await placeOf(services, project, params.ref)
        const { db, externalUrl } = services
        const owned = await ownersOfPaths(
          { db: db.reader, repository },
          project.id,
          commit,
          async () => params.paths,
        )
        if (owned === undefined) throw notFound('File')
        const shown = owned.slice(page.offset, page.offset + page.limit)
        const lines = shown.map(({ approvalsRequired, owners, ...line }) => ({
          ...line,
          approvals_required: approvalsRequired,
          owners: owners.map((user) => basicUser(user, externalUrl())),
        }))
        return new Page(lines, { total: owned.length })
      },
    }),
  ]
}

async function placeOf(
  { places }: CodeOwnerServices,
  project: ProjectSubject,
  name: string | undefined,
): Promise<{ repository: Repository; commit: Oid }> {
  const repository = await readable(places, project)
  const commit = await resolveName(repository, name)
  if (repository === undefined || commit === undefined) throw notFound('Commit')
  return { repository, commit }
}
