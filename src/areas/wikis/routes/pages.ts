import { endpoint } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Check,
  type Endpoint,
  type SubjectKind,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { attach } from '../attachments.ts'
import {
  AttachmentAnswer,
  ListedPage,
  namesOf,
  bodyOf,
  PageDetail,
  pageEntity,
  versionEntity,
  WikiPage,
  writtenEntity,
} from '../entities.ts'
import type { LastVersions } from '../history.ts'
import { ownerOf, type Place } from '../owners.ts'
import { renderPage } from '../render.ts'
import { readContent, readContents } from '../pages/content.ts'
import { pageFormats } from '../pages/files.ts'
import { pageAsOf } from '../renames.ts'
import { asOf, present, writable, type WikiRoom } from '../services.ts'
import * as store from '../store.ts'
import { createPage, deletePage, editPage, mustBeAsIn } from '../write.ts'

/** Whether there is such a page is told to those only who may read; before it, whether there is such a place. */
export const checks: readonly Check[] = ['credentials', 'params', 'subject', 'may']

const pageMissing = 'No such page: `404 Wiki Page Not Found`'
const slug = Text({ description: 'Blanks and hyphens are one; slashes may come as they are' })
const front_matter = Optional(Fields({ title: Optional(Text()) }))
const format = Optional(OneOf(pageFormats, {}))

/** The pages of one kind of place: rules and store are the same for both. */
export function pageEndpoints<Kind extends SubjectKind>(
  room: WikiRoom,
  lastVersions: LastVersions,
  { kind, on, path, called, plan, reading, writing, keeping, subject }: Place<Kind>,
): Endpoint[] {
  const { indexes } = room
  const read = () => store.ofSubject(kind)
  const at = { on, checks, ...plan }

  return [
    endpoint({
      ...at,
      method: 'GET',
      path: `${path}/wikis`,
      summary: `List the wiki pages of ${called}`,
      may: reading,
      anonymous: true,
      paged: true,
      params: Fields({ with_content: Optional(Flag()) }),
      answers: ListOf(ListedPage),
      read,
      async handle({ rows, params, page: { offset, perPage } }) {
        const where = await present(room, rows[0])
        if (where === undefined) return new Page([], { total: 0 })
        const { pages } = await indexes.of(where.repository, where.commit)
        const shown = pages.slice(offset, offset + perPage)
        const contents =
          params.with_content === true ? await readContents(where.repository, shown) : undefined
        return new Page(
          shown.map((page, index) => ({ ...namesOf(page), ...(contents && bodyOf(contents[index]!)) })),
          { total: pages.length, hasMore: offset + perPage < pages.length },
        )
      },
    }),

    endpoint({
      ...at,
      method: 'POST',
      path: `${path}/wikis`,
      summary: `Create a wiki page in ${called}`,
      may: writing,
      params: Fields({
        title: Text({ description: 'A slash puts the page into a folder' }),
        content: Text(),
        format,
        front_matter,
      }),
      answers: WikiPage,
      refuses: { 422: 'Git refused the commit' },
      read,
      async handle(call) {
        const { actor, params, rows } = call
        const wiki = await writable(room, ownerOf(subject(call)), rows[0])
        const written = await createPage(room, wiki, actor, {
          title: params.title,
          content: params.content,
          format: params.format ?? 'markdown',
          shownTitle: params.front_matter?.title,
        })
        return writtenEntity(written)
      },
    }),

    endpoint({
      ...at,
      method: 'GET',
      path: `${path}/wikis/:slug`,
      greedy: true,
      summary: `Get a wiki page of ${called}`,
      may: reading,
      anonymous: true,
      params: Fields({
        slug,
        render_html: Optional(Flag({ description: 'The content comes as HTML' })),
        version: Optional(Text({ description: 'Commit of the wiki as of which the page is shown' })),
      }),
      answers: PageDetail,
      refuses: { 404: pageMissing },
      read,
      async handle(call) {
        const { actor, rows, params } = call
        const { version } = params
        const here = await present(room, rows[0])
        const where = version === undefined || version === '' ? here : await asOf(room, rows[0], version)
        const page = where && (await pageAsOf(indexes, where, here, params.slug))
        if (where === undefined || page === undefined) throw notFound('Wiki Page')
        const [content, last] = await Promise.all([
          readContent(where.repository, page),
          lastVersions.of(where, page),
        ])
        const entity = {
          ...pageEntity(page, content),
          last_version: last === undefined ? null : versionEntity(last),
        }
        if (params.render_html !== true) return entity
        const html = await renderPage(room, subject(call), actor, where, page, content, version)
        return { ...entity, content: html }
      },
    }),

    endpoint({
      ...at,
      method: 'PUT',
      path: `${path}/wikis/:slug`,
      greedy: true,
      summary: `Change a wiki page of ${called}`,
      description:
        'What is not given stays. A title without a slash leaves the page in its folder; the old address of a ' +
        'renamed page is kept in the repository. With `version` an edit is refused if somebody changed the page since.',
      may: writing,
      params: Fields({
        slug,
        content: Optional(Text()),
        title: Optional(Text()),
        format,
        front_matter,
        version: Optional(Text({ description: 'Commit of the wiki as of which the editor saw the page' })),
      }),
      rules: { atLeastOneOf: [['content', 'title', 'format']] },
      answers: WikiPage,
      refuses: {
        404: pageMissing,
        409: 'The page is not as it was in `version`',
        422: 'Git refused the commit',
      },
      read,
      async handle({ actor, params, rows }) {
        const wiki = rows[0]
        if (wiki === undefined) throw notFound('Wiki Page')
        const { version, front_matter: matter, slug: wanted, ...edit } = params
        const seen =
          version === undefined || version === '' ? undefined : (await asOf(room, wiki, version)).commit
        const written = await editPage(room, wiki, actor, wanted, {
          ...edit,
          shownTitle: matter?.title,
          unchanged: seen === undefined ? undefined : mustBeAsIn(indexes, seen),
        })
        return writtenEntity(written)
      },
    }),

    endpoint({
      ...at,
      method: 'DELETE',
      path: `${path}/wikis/:slug`,
      greedy: true,
      summary: `Delete a wiki page of ${called}`,
      may: keeping,
      params: Fields({ slug }),
      answers: null,
      refuses: { 404: pageMissing, 422: 'Git refused the commit' },
      read,
      async handle({ actor, params, rows }) {
        if (rows[0] === undefined) throw notFound('Wiki Page')
        await deletePage(room, rows[0], actor, params.slug)
      },
    }),

    endpoint({
      ...at,
      method: 'POST',
      path: `${path}/wikis/attachments`,
      summary: `Upload an attachment to the wiki of ${called}`,
      description:
        'A multipart form with the field `file` and, if it goes to another branch than the default one, `branch`.',
      may: writing,
      body: 'stream',
      answers: AttachmentAnswer,
      refuses: { 413: 'The file is larger than `max_attachment_size`', 422: 'Git refused the commit' },
      read,
      async handle(call) {
        const { actor, rows, request } = call
        const wiki = await writable(room, ownerOf(subject(call)), rows[0])
        const largest = () => room.settings.values.max_attachment_size * 1024 * 1024
        return attach({ ...room, largest }, wiki, actor, request)
      },
    }),
  ]
}
