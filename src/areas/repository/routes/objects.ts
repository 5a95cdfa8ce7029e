import { endpoint, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import {
  blobSize,
  listTree,
  parseOid,
  parsePath,
  type Oid,
  type Repository,
  type TreeEntry,
} from '../../../git/index.ts'
import {
  Fields,
  Flag,
  Int,
  Json,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { archiveFormats, type ArchiveAnswers } from '../archive-answer.ts'
import { jsonWithContent, rawAnswer } from '../blob-answer.ts'
import { pageOf } from '../lists.ts'
import { readable, resolveName } from '../looking.ts'
import type { RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository'

const Entry = Fields({
  id: Text(),
  name: Text(),
  type: OneOf('tree', 'blob', 'commit'),
  path: Text(),
  mode: Text(),
})

const archiveParams = {
  sha: Optional(Text({ description: 'Branch, tag or commit; the default branch otherwise' })),
  path: Optional(Text({ description: 'Only this file or folder' })),
  include_lfs_blobs: Flag({
    default: true,
    description: 'Files in Git LFS with their content, not with what stands for them',
  }),
  exclude_paths: ListOf(Text(), { default: [], commaSeparated: true }),
}

export function objectEndpoints(services: RepositoryServices, archiveAnswer: ArchiveAnswers): Endpoint[] {
  const { places } = services
  return [
    endpoint({
      method: 'GET',
      path: `${path}/tree`,
      summary: 'List files and folders',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      paged: true,
      params: Fields({
        path: Text({ default: '', description: 'Folder; the root otherwise' }),
        ref: Optional(Text({ description: 'Branch, tag or commit; the default branch otherwise' })),
        recursive: Flag({ default: false }),
        pagination: OneOf(['legacy', 'keyset', 'none'], { default: 'legacy' }),
        page_token: Optional(Text({ description: 'Keyset pagination: the last path of the page before' })),
      }),
      answers: ListOf(Entry),
      refuses: { 404: 'No such ref or folder' },
      async handle({ project, params, page }) {
        const folder = parsePath(params.path)
        const repository = await readable(places, project)
        const commit = await resolveName(repository, params.ref)
        if (repository === undefined || commit === undefined) throw notFound('Tree')
        const listed =
          folder === undefined
            ? undefined
            : await listTree(repository, commit, folder, {
                recursive: params.recursive,
                order: 'folders-first',
              })
        if (listed === undefined) throw notFound('invalid revision or path')
        const { entries } = listed
        const show = async (shown: readonly TreeEntry[]) =>
          shown.map(({ oid, ...entry }) => ({ ...entry, id: oid }))
        if (params.pagination === 'none') return new Page(await show(entries), { total: entries.length })
        return pageOf({ items: entries, nameOf: (entry) => entry.path }, page, params, show)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/blobs/:sha`,
      summary: 'Get a blob with its content',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      answers: Fields({ size: Int(), encoding: OneOf('base64'), content: Text(), sha: Text() }),
      refuses: { 404: 'No such blob' },
      async handle({ project, params, request }) {
        const blob = await findBlob(services, project, params.sha)
        const before = { size: blob.size, encoding: 'base64' }
        return jsonWithContent(blob, { before, after: { sha: blob.oid } }, request)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/blobs/:sha/raw`,
      summary: 'Get the content of a blob',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      answers: Json({ description: 'The bytes of the blob' }),
      refuses: { 404: 'No such blob' },
      handle: async ({ project, params, request }) =>
        rawAnswer(await findBlob(services, project, params.sha), request),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/archive`,
      summary: 'Download the files of a commit',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({ ...archiveParams, format: OneOf(archiveFormats, { default: 'tar.gz' }) }),
      answers: Json({ description: 'The archive' }),
      refuses: { 404: 'No such commit or path', 429: 'More than five a minute of a project' },
      handle: ({ actor, project, params, request }) => archiveAnswer({ actor, project }, params, request),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/archive.:format`,
      summary: 'Download the files of a commit, in a format',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({ ...archiveParams, format: OneOf(...archiveFormats) }),
      answers: Json({ description: 'The archive' }),
      refuses: { 404: 'No such commit or path', 429: 'More than five a minute of a project' },
      handle: ({ actor, project, params, request }) => archiveAnswer({ actor, project }, params, request),
    }),
  ]
}

async function findBlob(
  { places }: RepositoryServices,
  project: ProjectSubject,
  sha: string,
): Promise<{ repository: Repository; oid: Oid; size: number }> {
  const repository = await readable(places, project)
  const oid = parseOid(sha.toLowerCase())
  const size = repository && oid && (await blobSize(repository, oid))
  if (repository === undefined || oid === undefined || size === undefined) throw notFound('Blob')
  return { repository, oid, size }
}
