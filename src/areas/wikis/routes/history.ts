import { endpoint } from '../../../access/index.ts'
import {
  Answer,
  Fields,
  Json,
  ListOf,
  Optional,
  Page,
  Text,
  type Endpoint,
  type SubjectKind,
} from '../../../kernel/endpoint/index.ts'
import { notFound, unprocessable } from '../../../kernel/errors/index.ts'
import { diffBlobs, findEntry, GitError, parsePath, streamBlob } from '../../../git/index.ts'
import { contentDisposition } from '../../repository/index.ts'
import { Diff, FoundBlob, Version, versionEntity, WikiPage, writtenEntity } from '../entities.ts'
import { restore } from '../history.ts'
import { ownerOf, type Place } from '../owners.ts'
import { pageAsOf, versionsOf } from '../renames.ts'
import { asOf, present, type WikiRoom } from '../services.ts'
import { foundPage } from '../search.ts'
import * as store from '../store.ts'
import { checks } from './pages.ts'

const pageMissing = 'No such page: `404 Wiki Page Not Found`'
const slug = Text({ description: 'Blanks and hyphens are one; slashes may come as they are' })

/** Types that a browser shows; everything else is only ever saved, or shown inside of a page. */
const shownTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
}

/**
 * What the pages were, where a text stands in them, and the files beside them. `wikis/:slug` takes everything that
 * follows it, so these have paths of their own.
 */
export function historyEndpoints<Kind extends SubjectKind>(
  room: WikiRoom,
  { kind, on, path, called, plan, reading, writing, subject }: Place<Kind>,
): Endpoint[] {
  const { indexes } = room
  const read = () => store.ofSubject(kind)
  const at = { on, checks, ...plan }
  const refuses = { 404: pageMissing }

  return [
    endpoint({
      ...at,
      method: 'GET',
      path: `${path}/wiki_versions/:slug`,
      greedy: true,
      summary: `List the versions of a wiki page of ${called}`,
      description: 'Newest first, back through its earlier names and formats.',
      may: reading,
      anonymous: true,
      paged: true,
      params: Fields({ slug }),
      answers: ListOf(Version),
      refuses,
      read,
      async handle({ rows, params, page: { offset, perPage } }) {
        const where = await present(room, rows[0])
        const page = where && (await indexes.find(where.repository, where.commit, params.slug))
        if (where === undefined || page === undefined) throw notFound('Wiki Page')
        const versions = await versionsOf(where, page, { skip: offset, limit: perPage + 1 })
        return new Page(versions.slice(0, perPage).map(versionEntity), { hasMore: versions.length > perPage })
      },
    }),

    endpoint({
      ...at,
      method: 'POST',
      path: `${path}/wiki_versions/:slug`,
      greedy: true,
      summary: `Restore a version of a wiki page of ${called}`,
      description: 'The old content becomes the newest version. A page deleted since is there again.',
      may: writing,
      params: Fields({
        slug,
        version: Text({ description: 'Commit of the wiki as of which the page is taken' }),
      }),
      answers: WikiPage,
      refuses: { ...refuses, 422: 'Git refused the commit' },
      read,
      async handle({ actor, rows, params }) {
        const wiki = rows[0]
        if (wiki === undefined) throw notFound('Wiki Page')
        const version = await asOf(room, wiki, params.version)
        return writtenEntity(await restore(room, wiki, actor, params.slug, version))
      },
    }),

    endpoint({
      ...at,
      method: 'GET',
      path: `${path}/wiki_diffs/:slug`,
      greedy: true,
      summary: `Compare two versions of a wiki page of ${called}`,
      description: 'Also with what the page was before it was renamed.',
      may: reading,
      anonymous: true,
      params: Fields({
        slug,
        from: Text({ description: 'Commit of the wiki with the old content' }),
        to: Optional(Text({ description: 'Commit with the new content; the present one unless given' })),
      }),
      answers: Diff,
      refuses: { ...refuses, 422: 'The difference is too large to be shown' },
      read,
      async handle({ rows, params }) {
        const before = await asOf(room, rows[0], params.from)
        const here = await present(room, rows[0])
        const after = params.to === undefined ? here : await asOf(room, rows[0], params.to)
        const old = await pageAsOf(indexes, before, here, params.slug)
        const now = after && (await pageAsOf(indexes, after, here, params.slug))
        if (old === undefined || now === undefined || after === undefined) throw notFound('Wiki Page')
        const diff = await diffBlobs(after.repository, old.oid, now.oid).catch((error: unknown) => {
          if (error instanceof GitError && error.failure === 'too-large')
            throw unprocessable('The difference is too large to be shown')
          throw error
        })
        return {
          old_version: before.commit,
          new_version: after.commit,
          old_path: old.path,
          new_path: now.path,
          diff,
        }
      },
    }),

    endpoint({
      ...at,
      method: 'GET',
      path: `${path}/wiki_blobs`,
      summary: `Search the wiki pages of ${called}`,
      description: 'Finds the text as it stands, whatever its case, in the pages and in their titles.',
      may: reading,
      anonymous: true,
      paged: true,
      params: Fields({ search: Text({ blank: false, maxLength: 4096 }) }),
      answers: ListOf(FoundBlob),
      read,
      async handle(call) {
        const { rows, params, request, page } = call
        const where = await present(room, rows[0])
        if (where === undefined) return new Page([], { total: 0 })
        return foundPage(indexes, where, ownerOf(subject(call)), params.search, page, request.signal)
      },
    }),

    endpoint({
      ...at,
      method: 'GET',
      path: `${path}/wiki_attachments/:path`,
      greedy: true,
      summary: `Get a file of the wiki of ${called}`,
      description:
        'Attachments and other files, as they were stored. Nothing in them is ever run by a browser.',
      may: reading,
      anonymous: true,
      params: Fields({ path: Text(), version: Optional(Text()) }),
      answers: Json({ description: 'The bytes' }),
      refuses: { 404: 'No such file' },
      read,
      async handle({ rows, params, request }) {
        const where =
          params.version === undefined
            ? await present(room, rows[0])
            : await asOf(room, rows[0], params.version)
        const file = parsePath(params.path)
        if (where === undefined || file === undefined || file === '') throw notFound('File')
        const entry = await findEntry(where.repository, where.commit, file)
        if (entry?.type !== 'blob' || entry.mode === '120000') throw notFound('File')
        const blob = await streamBlob(where.repository, entry.oid, request.signal)
        if (blob === undefined) throw notFound('File')
        const extension = entry.name.slice(entry.name.lastIndexOf('.') + 1).toLowerCase()
        const shown = shownTypes[extension]
        // An SVG may be drawn inside of a page, where its scripts do not run; by itself it is only saved.
        const type = shown ?? (extension === 'svg' ? 'image/svg+xml' : 'application/octet-stream')
        return new Answer(
          200,
          {
            'content-type': type,
            'content-length': String(blob.size),
            'content-disposition': contentDisposition(
              shown === undefined ? 'attachment' : 'inline',
              entry.name,
            ),
            'x-content-type-options': 'nosniff',
            'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          },
          blob.content,
        )
      },
    }),
  ]
}
