import { endpoint, may, project as projectKind, userOf, type ProjectSubject } from '../../../access/index.ts'
import {
  branchRef,
  commitFiles,
  listCommits,
  listTags,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import {
  DateTime,
  Fields,
  Json,
  Optional,
  Text,
  type Endpoint,
  type Static,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, unprocessable } from '../../../kernel/errors/index.ts'
import { RateLimit } from '../../../kernel/lib/rate-limit.ts'
import { allRules, branchState, rulesIn } from '../../protected-branches/index.ts'
import { changelogSection, changesOf, isVersion, tagBefore, withSection } from '../changelog.ts'
import { commitChange, openTarget, signatures } from '../committing.ts'
import { readFileAt } from '../file-at.ts'
import { filePathOf } from '../file-content.ts'
import { readable, resolveName } from '../looking.ts'
import type { RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository/changelog'

const asked = {
  version: Text({ blank: false, description: 'The version that the changes came with: `1.2.0`' }),
  from: Optional(Text({ description: 'The commit before the first; that of the version before otherwise' })),
  to: Optional(Text({ description: 'The last commit; the head of the branch otherwise' })),
  date: Optional(DateTime({ description: 'Of the version; now otherwise' })),
  trailer: Text({ default: 'Changelog', description: 'Commits with this trailer are told of' }),
}
const askedFields = Fields(asked)

/** Commits of one version, and bytes of a changelog. */
const mostCommits = 100_000
const largestFile = 5 * 1024 * 1024

export function changelogEndpoints(services: RepositoryServices): Endpoint[] {
  const limit = new RateLimit(5, 60)
  const use = (userId: number | undefined, project: ProjectSubject): void => {
    if (userId !== undefined) limit.use(`${project.id}:${userId}`)
  }
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Make the text of a changelog out of commits',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: askedFields,
      answers: Fields({ notes: Text() }),
      refuses: { 422: 'The range of commits is not to be found', 429: 'Asked more than five times a minute' },
      async handle({ actor, project, params }) {
        use(actor.user?.id, project)
        return { notes: await sectionOf(services, project, params, project.defaultBranch ?? 'HEAD') }
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Add the changes of a version to the changelog of a project',
      on: projectKind,
      may: 'push_code',
      status: 200,
      params: Fields({
        ...asked,
        branch: Optional(Text({ blank: false, description: 'The default branch otherwise' })),
        file: Text({ default: 'CHANGELOG.md' }),
        message: Optional(Text({ description: 'Of the commit' })),
      }),
      answers: Json({ description: 'Nothing' }),
      refuses: { 422: 'The range of commits is not to be found', 429: 'Asked more than five times a minute' },
      read: () => allRules(),
      async handle({ actor, project, params, rows }) {
        use(userOf(actor).id, project)
        const branch = params.branch ?? project.defaultBranch ?? 'main'
        const rules = rulesIn(rows)
        if (!branchState(branch, rules, actor, project, may(actor, 'push_code', project)).mayPush) {
          throw forbidden('You are not allowed to commit a changelog on this branch')
        }
        if (branchRef(branch) === undefined) throw failed(`The branch '${branch}' can not be`)
        const file = filePathOf(params.file, 'file')
        const section = await sectionOf(services, project, params, branch)
        const writer = { actor, project, rules }
        const place = await openTarget(services, writer, { branch })
        const old =
          place.start === undefined
            ? undefined
            : await readFileAt(place.repository, place.start, file, largestFile)
        if (old === 'too-large') throw failed(`${file} is too large`)
        const content = Buffer.from(withSection(old?.toString() ?? '', params.version, section))
        await commitChange(services, writer, place, () =>
          commitFiles(place.repository, {
            branch: place.ref,
            start: place.start,
            actions: [{ action: old === undefined ? 'create' : 'update', path: file, content }],
            message: params.message ?? `Add changelog for version ${params.version}`,
            ...signatures(services, actor),
          }),
        )
        return {}
      },
    }),
  ]
}

function failed(why: string): Error {
  return unprocessable(`Failed to generate the changelog: ${why}`)
}

async function sectionOf(
  { places }: RepositoryServices,
  project: ProjectSubject,
  params: Static<typeof askedFields>,
  branch: string,
): Promise<string> {
  if (!isVersion(params.version)) throw failed(`Version ${params.version} is no semantic version`)
  const repository = await readable(places, project)
  const to = await resolveName(repository, params.to ?? branch)
  if (repository === undefined || to === undefined)
    throw failed(`The commit '${params.to ?? branch}' does not exist`)
  const from = await startOf(repository, project, params)
  const commits = await listCommits(repository, { revs: [to], not: [from], limit: mostCommits })
  const changes = changesOf(commits, params.trailer, ({ oid }) => `${project.fullPath}@${oid}`)
  return changelogSection(params.version, (params.date ?? new Date()).toISOString().slice(0, 10), changes)
}

async function startOf(
  repository: Repository,
  project: ProjectSubject,
  { from, version }: Static<typeof askedFields>,
): Promise<Oid> {
  if (from !== undefined) {
    const found = await resolveName(repository, from)
    if (found === undefined) throw failed(`The commit '${from}' does not exist`)
    return found
  }
  const tags = await listTags(repository, project.refsVersion)
  const tag = tagBefore(
    version,
    tags.map(({ name }) => name),
  )
  const target = tags.find(({ name }) => name === tag)?.target
  if (target === undefined) {
    throw failed('The commit start range is unspecified, and no previous tag could be found to use instead')
  }
  return target
}
