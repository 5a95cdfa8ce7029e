import { endpoint, project as projectKind, userOf, type ProjectSubject } from '../../../access/index.ts'
import {
  annotateTag,
  findCommit,
  listRefs,
  tagRef,
  zeroOid,
  type Oid,
  type RefName,
  type TagRef,
  type UpdateOutcome,
} from '../../../git/index.ts'
import {
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
import { allTagRules, tagRulesIn, type TagRule } from '../../protected-tags/index.ts'
import { compareVersions, nameFilter, pageOf, pageTokenParams } from '../lists.ts'
import { datesOf, readable, refsOf, resolveName } from '../looking.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'
import { Tag, tagEntities } from '../tag-entity.ts'

const path = '/projects/:id/repository/tags'

export function tagEndpoints(services: RepositoryServices): Endpoint[] {
  const { places, door } = services
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the tags of a project',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({
        order_by: OneOf(['updated', 'name', 'version'], { default: 'updated' }),
        sort: OneOf(['asc', 'desc'], { default: 'desc' }),
        search: Optional(Text({ description: 'Part of a name; `^x` begins with x, `x$` ends with it' })),
        ...pageTokenParams,
      }),
      answers: ListOf(Tag),
      read: () => allTagRules(),
      async handle({ project, params, page, rows }) {
        const filter = nameFilter(params.search, undefined)
        const repository = await readable(places, project)
        if (repository === undefined) return new Page([], { total: 0 })
        const refs = await listRefs(repository, project.refsVersion)
        const found = filter === undefined ? refs.tags : refs.tags.filter(({ name }) => filter(name))
        const dates = params.order_by === 'updated' ? await datesOf(repository, refs) : undefined
        const items = ordered(found, params, dates)
        return pageOf({ items, nameOf: ({ name }) => name }, page, params, (shown) =>
          tagEntities(repository, shown, viewOf(services, project, rows)),
        )
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:tag_name`,
      summary: 'Get a tag',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      answers: Tag,
      refuses: { 404: 'No such tag' },
      read: () => allTagRules(),
      async handle({ project, params, rows }) {
        const ref = tagRef(params.tag_name)
        const refs = await refsOf(places, project)
        const tag = refs?.tags.find((known) => known.ref === ref)
        if (tag === undefined) throw notFound('Tag')
        return (await tagEntities(places.of(project), [tag], viewOf(services, project, rows)))[0]
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create a tag',
      on: projectKind,
      may: 'push_code',
      params: Fields({
        tag_name: Text(),
        ref: Text({ description: 'Branch, tag or commit that it is to name' }),
        message: Optional(Text({ description: 'Makes an annotated tag' })),
      }),
      answers: Tag,
      refuses: { 400: 'The name is no good or taken, the target is unknown, or a rule forbids it' },
      read: () => allTagRules(),
      async handle({ actor, project, params: { tag_name: name, ref: start, message }, rows }) {
        const ref = /^refs\//.test(name) ? undefined : tagRef(name)
        if (ref === undefined) throw refused(400, 'Tag name invalid')
        if ((await refsOf(places, project))?.find(ref) !== undefined)
          throw refused(400, `Tag ${name} already exists`)
        if (start.trim() === '') throw refused(400, 'Target is empty')
        const repository = await readable(places, project)
        const target = await resolveName(repository, start)
        if (repository === undefined || target === undefined) throw refused(400, `Target ${start} is invalid`)
        const mover = { actor, project, via: 'web' } as const
        const annotated = message !== undefined && message.trim() !== ''
        let oid: Oid = target
        if (annotated) {
          const { name: who, email } = userOf(actor)
          const tagger = { name: who, email, date: new Date(), offset: 0 }
          await using change = await annotateTag(repository, { tag: ref, target, tagger, message })
          oid = change.oid
          mustBeApplied(await door.update(mover, change.updates, change), name)
        } else {
          mustBeApplied(await door.update(mover, [{ ref, oldOid: zeroOid, newOid: target }]), name)
        }
        const tag = { name, oid, annotated, target }
        return (await tagEntities(repository, [tag], viewOf(services, project, rows)))[0]
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:tag_name`,
      summary: 'Delete a tag',
      on: projectKind,
      may: 'push_code',
      answers: null,
      refuses: { ...whenChanged, 400: 'A rule forbids it', 404: 'No such tag' },
      async handle({ actor, project, params, request }) {
        const ref = tagRef(params.tag_name)
        const oldOid = ref && (await valueOf(services, project, ref))
        if (ref === undefined || oldOid === undefined) throw refused(404, 'No such tag')
        const commit = await findCommit(places.of(project), oldOid)
        if (commit !== undefined) requireUnmodified(request, commit.author.date)
        const update = { ref, oldOid, newOid: zeroOid }
        const { rejected } = await door.update({ actor, project, via: 'web' }, [update])
        const [problem] = rejected
        if (problem?.reason === 'refused') throw refused(400, problem.message)
        if (problem !== undefined) throw refused(409, 'The tag was moved at the same time')
      },
    }),
  ]
}

/** How tags are shown: with the address of their project, and whether they are protected. */
function viewOf(
  services: RepositoryServices,
  project: ProjectSubject,
  found: Parameters<typeof tagRulesIn>[0],
): { projectUrl: string; rules: TagRule[] } {
  return { projectUrl: projectUrl(services, project), rules: tagRulesIn(found) }
}

async function valueOf(
  { places }: RepositoryServices,
  project: ProjectSubject,
  ref: RefName,
): Promise<Oid | undefined> {
  return (await refsOf(places, project))?.find(ref)?.oid
}

function mustBeApplied({ rejected }: UpdateOutcome, name: string): void {
  const [problem] = rejected
  if (problem === undefined) return
  if (problem.reason === 'refused') throw refused(400, problem.message)
  if (problem.reason === 'conflict') throw refused(400, 'Tag name invalid')
  throw refused(400, `Tag ${name} already exists`)
}

function ordered(
  tags: readonly TagRef[],
  { order_by, sort }: { order_by: string; sort: string },
  dates: ReadonlyMap<Oid, number> | undefined,
): TagRef[] {
  const compare =
    dates !== undefined
      ? (a: TagRef, b: TagRef) => (dates.get(a.target) ?? 0) - (dates.get(b.target) ?? 0)
      : order_by === 'version'
        ? (a: TagRef, b: TagRef) => compareVersions(a.name, b.name)
        : (a: TagRef, b: TagRef) => (a.name < b.name ? -1 : 1)
  const sorted = tags.toSorted(compare)
  return sort === 'desc' ? sorted.reverse() : sorted
}
