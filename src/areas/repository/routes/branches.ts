import { endpoint, project as projectKind, type Actor, type ProjectSubject } from '../../../access/index.ts'
import {
  branchRef,
  commitFiles,
  findCommit,
  listRefs,
  parseFilePath,
  zeroOid,
  type Branch as GitBranch,
  type Oid,
  type RefName,
} from '../../../git/index.ts'
import {
  Answer,
  Fields,
  ListOf,
  OneOf,
  Optional,
  Page,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound, refused } from '../../../kernel/errors/index.ts'
import { allRules, rulesIn, type BranchRule } from '../../protected-branches/index.ts'
import { Branch, branchEntities } from '../branch-entity.ts'
import { commitChange, openTarget, signatures, type Writer } from '../committing.ts'
import { enqueueMergedDeletion } from '../delete-merged.ts'
import { nameFilter, pageOf, pageTokenParams } from '../lists.ts'
import { datesOf, mergedInto, readable, refsOf, resolveName } from '../looking.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository/branches'
const sorts = ['name_asc', 'updated_asc', 'updated_desc'] as const

export function branchEndpoints(services: RepositoryServices): Endpoint[] {
  const { places, door } = services
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the branches of a project',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({
        search: Optional(Text({ description: 'Part of a name; `^x` begins with x, `x$` ends with it' })),
        regex: Optional(Text({ description: 'RE2 pattern that the name must match' })),
        sort: OneOf(sorts, { default: 'name_asc' }),
        ...pageTokenParams,
      }),
      answers: ListOf(Branch),
      read: () => allRules(),
      async handle({ actor, project, params, page, rows }) {
        const filter = nameFilter(params.search, params.regex)
        const repository = await readable(places, project)
        if (repository === undefined) return new Page([], { total: 0 })
        const refs = await listRefs(repository, project.refsVersion)
        const found = filter === undefined ? refs.branches : refs.branches.filter(({ name }) => filter(name))
        const items =
          params.sort === 'name_asc' ? found : byDate(found, await datesOf(repository, refs), params.sort)
        const list = { items, nameOf: ({ name }: GitBranch) => name, byName: params.sort === 'name_asc' }
        const viewer = { actor, project, rules: rulesIn(rows), projectUrl: projectUrl(services, project) }
        return pageOf(list, page, params, async (shown) =>
          branchEntities(repository, shown, await mergedInto(repository, refs), viewer),
        )
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:branch`,
      summary: 'Get a branch',
      description: 'HEAD answers 204 when there is such a branch.',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      answers: Branch,
      refuses: { 400: 'No branch can be called so', 404: 'No such branch' },
      read: () => allRules(),
      async handle({ actor, project, params, rows, request }) {
        const found = await branchNamed(services, project, params.branch)
        return request.method === 'HEAD'
          ? new Answer(204)
          : one(services, { actor, project, rules: rulesIn(rows) }, found)
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create a branch',
      on: projectKind,
      may: 'push_code',
      params: Fields({
        branch: Text({ blank: false }),
        ref: Text({ blank: false, description: 'Branch, tag or commit to start from' }),
      }),
      answers: Branch,
      refuses: { 400: 'The name is no good or taken, the start is unknown, or a rule forbids it' },
      read: () => allRules(),
      async handle({ actor, project, params: { branch, ref: start }, rows }) {
        const ref = /^refs\/(?:heads|remotes)\//.test(branch) ? undefined : branchRef(branch)
        if (ref === undefined) throw refused(400, 'Branch name is invalid')
        const refs = await refsOf(places, project)
        if (refs?.find(ref) !== undefined) throw refused(400, 'Branch already exists')
        const writer = { actor, project, rules: rulesIn(rows) }
        const found = await resolveName(await readable(places, project), start)
        const newOid = found ?? (await begin(services, writer, start))
        if (newOid === undefined) {
          throw refused(400, `Failed to create branch '${branch}': invalid reference name '${start}'`)
        }
        const made = { name: branch, ref, oid: newOid }
        // The default branch itself was asked for, and is there.
        if (found === undefined && branch === start) return one(services, writer, made)
        const { rejected } = await door.update({ actor, project, via: 'web' }, [
          { ref, oldOid: zeroOid, newOid },
        ])
        const [problem] = rejected
        if (problem?.reason === 'refused') throw refused(400, problem.message)
        if (problem?.reason === 'conflict') {
          throw refused(
            400,
            `Failed to create branch '${branch}': Branch name conflicts with existing branch hierarchy.`,
          )
        }
        if (problem !== undefined) throw refused(400, 'Branch already exists')
        return one(services, writer, made)
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:branch`,
      summary: 'Delete a branch',
      on: projectKind,
      may: 'push_code',
      answers: null,
      refuses: { ...whenChanged, 400: 'A rule forbids it', 404: 'No such branch' },
      async handle({ actor, project, params, request }) {
        const { ref, oid } = await branchNamed(services, project, params.branch)
        const commit = await findCommit(places.of(project), oid)
        if (commit !== undefined) requireUnmodified(request, commit.author.date)
        const update = { ref, oldOid: oid, newOid: zeroOid }
        const { rejected } = await door.update({ actor, project, via: 'web' }, [update])
        const [problem] = rejected
        if (problem?.reason === 'refused') throw refused(400, problem.message)
        if (problem !== undefined) throw refused(409, 'The branch was moved at the same time')
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/repository/merged_branches',
      summary: 'Delete all branches that are merged into the default branch',
      description: 'Protected branches stay. The work is done soon after the answer.',
      on: projectKind,
      may: 'push_code',
      status: 202,
      answers: Fields({ message: Text() }),
      async handle({ actor, project }) {
        await enqueueMergedDeletion(services.db.writer, actor, project.id)
        return { message: '202 Accepted' }
      },
    }),
  ]
}

interface Seen {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly rules: readonly BranchRule[]
}

/**
 * The first commit of an empty repository, where a branch is to start from its default branch; undefined where nothing
 * begins. That is how clients make the first branch of a new project.
 */
async function begin(services: RepositoryServices, writer: Writer, start: string): Promise<Oid | undefined> {
  const { repositoryEmpty, defaultBranch } = writer.project
  if (!repositoryEmpty || start !== defaultBranch) return undefined
  const place = await openTarget(services, writer, { branch: start })
  const { oid } = await commitChange(services, writer, place, () =>
    commitFiles(place.repository, {
      branch: place.ref,
      actions: [{ action: 'create', path: parseFilePath('README.md')!, content: Buffer.alloc(0) }],
      message: 'Add README.md',
      ...signatures(services, writer.actor),
    }),
  )
  return oid
}

/** One branch as the caller sees it. */
export async function one(services: RepositoryServices, seen: Seen, branch: FoundBranch): Promise<unknown> {
  const { project } = seen
  const repository = services.places.of(project)
  const refs = await listRefs(repository, project.refsVersion)
  const merged = branch.oid === refs.headOid ? new Set<RefName>() : await mergedInto(repository, refs)
  const viewer = { ...seen, projectUrl: projectUrl(services, project) }
  return (await branchEntities(repository, [branch], merged, viewer))[0]
}

interface FoundBranch {
  readonly name: string
  readonly ref: RefName
  readonly oid: Oid
}

/** The branch of this name, or the refusal. */
export async function branchNamed(
  { places }: RepositoryServices,
  project: ProjectSubject,
  name: string,
): Promise<FoundBranch> {
  const ref = branchRef(name)
  if (ref === undefined) throw refused(400, 'The branch refname is invalid')
  const found = (await refsOf(places, project))?.find(ref)
  if (found === undefined) throw notFound('Branch')
  return { name, ref, oid: found.oid }
}

function byDate(
  branches: readonly GitBranch[],
  dates: ReadonlyMap<Oid, number>,
  sort: 'updated_asc' | 'updated_desc',
): GitBranch[] {
  const sign = sort === 'updated_asc' ? 1 : -1
  return branches.toSorted((a, b) => sign * ((dates.get(a.oid) ?? 0) - (dates.get(b.oid) ?? 0)))
}
