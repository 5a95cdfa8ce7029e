import { endpoint, project, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  Fields,
  Id,
  Int,
  ListOf,
  OneOf,
  Optional,
  Page,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { deniedPatterns, immutablePatterns, isDenied, tagRulesOf } from '../container-rules/index.ts'
import { BriefTag, briefTagOf, pathOf, tag, Tag, type TagRow } from './entities.ts'
import {
  repositoriesPath,
  requireDeletable,
  requireRegistry,
  type RegistryRestServices,
} from './routes-repositories.ts'
import { checkPattern, readAge, tooOften } from './selection.ts'
import * as store from './store.ts'
import { taskNames } from './tasks.ts'

const path = `${repositoriesPath}/:repository_id/tags` as const
const repositoryId = { repository_id: Id() }
const refuses = { 404: 'No such tag: `404 Tag Not Found`' }

export function tagEndpoints(services: RegistryRestServices): Endpoint[] {
  const { db, images } = services

  /** Patterns of the tags that a caller may not delete. */
  const protectedFrom = async (actor: Actor, of: ProjectSubject): Promise<string[]> => {
    const rules = await tagRulesOf(db.reader, of.id)
    return [...deniedPatterns(rules, 'delete', { actor, project: of }), ...immutablePatterns(rules)]
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the tags of a container repository',
      description: 'By name, without regard to letter case. Pages by number, or by keyset with `last`.',
      on: project,
      may: 'read_container_image',
      anonymous: true,
      record: true,
      paged: true,
      params: Fields({
        ...repositoryId,
        pagination: OneOf(['legacy', 'keyset'], { default: 'legacy' }),
        last: Optional(Text({ description: 'Keyset pagination: only tags after this one' })),
        sort: OneOf(['asc', 'desc'], { default: 'asc' }),
      }),
      answers: ListOf(BriefTag),
      read: ({ params, page }) => {
        const descending = params.sort === 'desc'
        return params.pagination === 'keyset'
          ? store.tagsAfter(params.repository_id, { descending, last: params.last }, page)
          : store.tags(params.repository_id, { descending }, page)
      },
      async handle({ project, rows, page }) {
        requireRegistry(services, project)
        const { name: image, tags, total } = rows[0]!
        const names = tags.slice(0, page.limit)
        const shown = names.map((name) => briefTagOf(name, pathOf({ name: image }, project), images.host()))
        if (total !== null) return new Page(shown, { total, hasMore: total > page.offset + page.limit })
        const next = tags.length > page.limit ? { last: names.at(-1)! } : undefined
        return new Page(shown, { keyset: true, next })
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:tag_name`,
      summary: 'Get a tag of a container repository',
      on: project,
      may: 'read_container_image',
      anonymous: true,
      record: true,
      params: Fields({ ...repositoryId, tag_name: Text() }),
      answers: Tag,
      refuses,
      read: ({ params }) => store.tagOf(params.repository_id, params.tag_name),
      async handle({ project, rows }) {
        requireRegistry(services, project)
        const row = rows[0]!
        if (row.digest === null) throw notFound('Tag')
        return tag(row as TagRow, pathOf({ name: row.repository_name }, project), images.host())
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:tag_name`,
      summary: 'Delete a tag of a container repository',
      on: project,
      may: 'destroy_container_tag',
      record: true,
      params: Fields({ ...repositoryId, tag_name: Text() }),
      answers: Int(),
      status: 200,
      refuses: { ...refuses, ...whenChanged },
      read: ({ params }) => store.tagOf(params.repository_id, params.tag_name),
      async handle({ actor, project, params, rows, request }) {
        requireRegistry(services, project)
        const row = rows[0]!
        if (row.pushed_at === null) throw notFound('Tag')
        if (isDenied(await protectedFrom(actor, project), params.tag_name)) {
          throw forbidden('cannot delete protected tag(s)')
        }
        requireUnmodified(request, row.pushed_at)
        const gone = await db.transaction((tx) => store.deleteTag(tx, params.repository_id, params.tag_name))
        if (!gone) throw notFound('Tag')
        return 200
      },
    }),

    endpoint({
      method: 'DELETE',
      path,
      summary: 'Delete tags of a container repository in bulk',
      description:
        'Removed later, once an hour at most. `latest` always stays, and so do protected tags; the manifests of removed tags stay until garbage collection.',
      on: project,
      may: 'admin_container_image',
      record: true,
      params: Fields({
        ...repositoryId,
        name_regex: Optional(Text({ deprecated: true, description: 'Old name of `name_regex_delete`' })),
        name_regex_delete: Optional(Text({ description: 'RE2 pattern over whole names: tags that go' })),
        name_regex_keep: Optional(Text({ description: 'RE2 pattern over whole names: tags that stay' })),
        keep_n: Optional(Int({ minimum: 0, description: 'So many of the newest stay' })),
        older_than: Optional(Text({ description: 'Only older ones go: `1h`, `7d`, `1month`' })),
      }),
      rules: { atLeastOneOf: [['name_regex', 'name_regex_delete']] },
      answers: Int(),
      status: 202,
      read: ({ params }) => store.ofId(params.repository_id),
      async handle({ actor, project, params, rows }) {
        requireRegistry(services, project)
        const name = params.name_regex_delete === undefined ? 'name_regex' : 'name_regex_delete'
        const remove = params[name] ?? ''
        checkPattern(name, remove)
        const keep = params.name_regex_keep ?? ''
        checkPattern('name_regex_keep', keep)
        const selection = {
          remove,
          keep,
          keepNewest: params.keep_n ?? 0,
          olderThan: params.older_than === undefined ? 0 : readAge('older_than', params.older_than),
          denied: await protectedFrom(actor, project),
        }
        const { id } = rows[0]!
        await requireDeletable(db, actor, project, rows[0]!)
        await db.transaction(async (tx) => {
          if (!(await store.beginRemoval(tx, id))) throw tooOften()
          await enqueue(tx, taskNames.removeTags, { repository: id, selection })
        })
        return 202
      },
    }),
  ]
}
