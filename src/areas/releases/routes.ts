import { endpoint, project, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { forbidden, recordNotFound, refused } from '../../kernel/errors/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { mayCreateTag, tagIsProtected } from '../protected-tags/index.ts'
import { collectWhenReleased } from './evidence.ts'
import { linkTypes, Release, releaseLink, ReleaseLink, type ReleaseRow } from './entities.ts'
import type { ReleaseServices } from './index.ts'
import { announce } from './news.ts'
import { checkLink, checkRelease } from './rules.ts'
import { shownReleases } from './show.ts'
import * as store from './store.ts'
import { ensureTag } from './tag.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const path = '/projects/:id/releases'

const include_html_description = Flag({ default: false, description: 'With `description_html`' })

const linkFields = Fields({
  name: Text(),
  url: Text(),
  direct_asset_path: Optional(Text()),
  filepath: Optional(Text({ deprecated: true, description: 'Use `direct_asset_path`' })),
  link_type: OneOf(linkTypes, { default: 'other' }),
})

export function releaseEndpoints(services: ReleaseServices): Endpoint[] {
  const { db, externalUrl } = services
  const shown = (rows: readonly ReleaseRow[], actor: Actor, of: ProjectSubject, html = false) =>
    shownReleases(services, rows, actor, of, { html })
  /** An empty title stands for none: so clients take all away. */
  const milestonesOf = async (of: ProjectSubject, written: readonly string[]): Promise<number[]> => {
    const titles = written.filter((title) => title !== '')
    const { ids, missing } = await store.findMilestones(db.reader, of, titles)
    if (missing.length > 0) throw refused(400, `Milestone(s) not found: ${missing.join(', ')}`)
    return ids
  }
  const one = {
    on: project,
    checks,
    record: true,
    jobToken: true,
    read: ({ params }: { params: { tag_name: string } }) => store.one(params.tag_name),
  } as const
  /** A release is of those who might make its tag. */
  const requireTag = async (actor: Actor, of: ProjectSubject, tag: string): Promise<void> => {
    if (!(await mayCreateTag(db.reader, actor, of, tag))) throw forbidden()
  }
  const urlOf = ({ fullPath }: ProjectSubject): string => `${externalUrl()}/${fullPath}`
  const linkOf = ({ links }: ReleaseRow, id: number) => {
    const found = links.find((link) => link.id === id)
    if (found === undefined) throw recordNotFound()
    return found
  }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the releases of a project',
      on: project,
      may: 'read_release',
      checks,
      anonymous: true,
      jobToken: true,
      paged: true,
      params: Fields({
        order_by: OneOf(['released_at', 'created_at'], { default: 'released_at' }),
        sort: OneOf(['asc', 'desc'], { default: 'desc' }),
        updated_after: Optional(DateTime()),
        updated_before: Optional(DateTime()),
        include_html_description,
      }),
      answers: ListOf(Release),
      read: ({ params, page }) => store.list(params, page),
      handle: ({ actor, project, params, rows }) =>
        shown(rows, actor, project, params.include_html_description),
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:tag_name`,
      summary: 'Get the release of a tag',
      may: 'read_release',
      anonymous: true,
      params: Fields({ include_html_description }),
      answers: Release,
      handle: async ({ actor, project, params, rows }) =>
        (await shown(rows, actor, project, params.include_html_description))[0],
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create a release',
      description: 'The tag is made from `ref` if there is none of this name.',
      on: project,
      may: 'update_release',
      jobToken: true,
      params: Fields({
        tag_name: Text({ blank: false }),
        tag_message: Optional(Text({ description: 'Makes the new tag an annotated one' })),
        name: Optional(Text()),
        description: Optional(Text()),
        ref: Optional(Text({ description: 'Branch, tag or commit that a new tag is to name' })),
        milestones: Optional(ListOf(Text(), { single: true })),
        released_at: Optional(DateTime()),
        assets: Optional(Fields({ links: Optional(ListOf(linkFields)) })),
      }),
      answers: Release,
      refuses: {
        403: 'The tag may not be made, or is protected',
        409: 'There is a release of this tag',
        422: 'There is no such tag, and no ref to make it from',
      },
      async handle({ actor, project, params }) {
        const { tag_name: tag, name = null, description = null, milestones = [] } = params
        const links = (params.assets?.links ?? []).map(checkLink)
        checkRelease({ name, description })
        const planned = await milestonesOf(project, milestones)
        if (!(await mayCreateTag(db.reader, actor, project, tag))) throw refused(403, tagIsProtected)
        if (await store.exists(db.reader, project.id, tag)) throw store.taken()
        const sha = await ensureTag(
          services,
          { actor, project },
          { tag, ref: params.ref, message: params.tag_message },
        )
        const made = await db.transaction(async (tx) => {
          const id = await store.create(tx, {
            projectId: project.id,
            tag,
            name,
            description,
            sha,
            authorId: userOf(actor).id,
            releasedAt: params.released_at ?? null,
          })
          for (const link of links) await store.addLink(tx, id, link)
          await store.setMilestones(tx, id, planned)
          const row = await store.find(tx, id)
          await announce(services, tx, { actor, project }, 'create', row)
          return row
        })
        await collectWhenReleased(db, made)
        return (await shown([await store.find(db.reader, made.id)], actor, project))[0]
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:tag_name`,
      summary: 'Change a release',
      may: 'update_release',
      params: Fields({
        name: Optional(Text()),
        description: Optional(Text()),
        milestones: Optional(ListOf(Text(), { single: true })),
        released_at: Optional(DateTime()),
      }),
      rules: { atLeastOneOf: [['name', 'description', 'milestones', 'released_at']] },
      answers: Release,
      async handle({ actor, project, params: { name, description, milestones, released_at }, rows }) {
        const { id, tag } = rows[0]!
        await requireTag(actor, project, tag)
        checkRelease({ name: name ?? null, description: description ?? null })
        const planned = milestones && (await milestonesOf(project, milestones))
        const changed = await db.transaction(async (tx) => {
          await store.change(tx, id, { name, description, releasedAt: released_at })
          if (planned !== undefined) await store.setMilestones(tx, id, planned)
          const row = await store.find(tx, id)
          await announce(services, tx, { actor, project }, 'update', row)
          return row
        })
        return (await shown([changed], actor, project))[0]
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:tag_name`,
      summary: 'Delete a release; its tag stays',
      may: 'update_release',
      status: 200,
      answers: Release,
      async handle({ actor, project, rows }) {
        await requireTag(actor, project, rows[0]!.tag)
        await db.transaction(async (tx) => {
          await store.remove(tx, rows[0]!.id)
          await announce(services, tx, { actor, project }, 'delete', rows[0]!)
        })
        return (await shown(rows, actor, project))[0]
      },
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:tag_name/assets/links`,
      summary: 'List the links of a release',
      may: 'read_release',
      anonymous: true,
      paged: true,
      answers: ListOf(ReleaseLink),
      async handle({ project, rows, page }) {
        const { links, tag } = rows[0]!
        const part = links.slice(page.offset, page.offset + page.limit)
        return new Page(
          part.map((link) => releaseLink(link, tag, urlOf(project))),
          { total: links.length, hasMore: links.length > page.offset + page.limit },
        )
      },
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:tag_name/assets/links/:link_id`,
      summary: 'Get a link of a release',
      may: 'read_release',
      anonymous: true,
      params: Fields({ link_id: Id() }),
      answers: ReleaseLink,
      handle: async ({ project, rows, params }) =>
        releaseLink(linkOf(rows[0]!, params.link_id), rows[0]!.tag, urlOf(project)),
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/:tag_name/assets/links`,
      summary: 'Add a link to a release',
      may: 'update_release',
      params: linkFields,
      answers: ReleaseLink,
      async handle({ actor, project, rows, params }) {
        const { id, tag } = rows[0]!
        await requireTag(actor, project, tag)
        return releaseLink(await store.addLink(db.writer, id, checkLink(params)), tag, urlOf(project))
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:tag_name/assets/links/:link_id`,
      summary: 'Change a link of a release',
      may: 'update_release',
      params: Fields({
        link_id: Id(),
        name: Optional(Text()),
        url: Optional(Text()),
        direct_asset_path: Optional(Text()),
        filepath: Optional(Text({ deprecated: true, description: 'Use `direct_asset_path`' })),
        link_type: Optional(OneOf(linkTypes, {})),
      }),
      rules: { atLeastOneOf: [['name', 'url']] },
      answers: ReleaseLink,
      async handle({ actor, project, rows, params }) {
        await requireTag(actor, project, rows[0]!.tag)
        const { filepath, ...before } = linkOf(rows[0]!, params.link_id)
        const values = checkLink({
          name: params.name ?? before.name,
          url: params.url ?? before.url,
          direct_asset_path: params.direct_asset_path ?? params.filepath ?? filepath ?? undefined,
          link_type: params.link_type ?? before.link_type,
        })
        return releaseLink(await store.changeLink(db.writer, before.id, values), rows[0]!.tag, urlOf(project))
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:tag_name/assets/links/:link_id`,
      summary: 'Remove a link of a release',
      may: 'update_release',
      params: Fields({ link_id: Id() }),
      status: 200,
      answers: ReleaseLink,
      async handle({ actor, project, rows, params }) {
        await requireTag(actor, project, rows[0]!.tag)
        const found = linkOf(rows[0]!, params.link_id)
        await store.removeLink(db.writer, found.id)
        return releaseLink(found, rows[0]!.tag, urlOf(project))
      },
    }),
  ]
}
