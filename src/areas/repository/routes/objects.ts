import { PassThrough } from 'node:stream'
import { endpoint, project as projectKind, type Actor, type ProjectSubject } from '../../../access/index.ts'
import {
  archive,
  blobSize,
  canBzip2,
  findEntry,
  listTree,
  parseOid,
  parsePath,
  resolve,
  type ArchiveFormat,
  type Oid,
  type Repository,
  type TreeEntry,
  type TreePath,
} from '../../../git/index.ts'
import {
  Answer,
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
  type RequestFacts,
} from '../../../kernel/endpoint/index.ts'
import { ApiError, forbidden, invalidParameters, notFound } from '../../../kernel/errors/index.ts'
import { RateLimit } from '../../../kernel/lib/rate-limit.ts'
import { jsonWithContent, rawAnswer } from '../blob-answer.ts'
import { contentDisposition } from '../header-text.ts'
import { pageOf } from '../lists.ts'
import { readable, resolveName, revOf } from '../looking.ts'
import type { RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository'

const Entry = Fields({
  id: Text(),
  name: Text(),
  type: OneOf('tree', 'blob', 'commit'),
  path: Text(),
  mode: Text(),
})

const formats = ['tar.gz', 'tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2', 'tar', 'zip'] as const
type Format = (typeof formats)[number]

const archiveParams = {
  sha: Optional(Text({ description: 'Branch, tag or commit; the default branch otherwise' })),
  path: Optional(Text({ description: 'Only this file or folder' })),
  include_lfs_blobs: Flag({
    default: true,
    description: 'Files in Git LFS with their content, not with what stands for them',
  }),
  exclude_paths: ListOf(Text(), { default: [], commaSeparated: true }),
}

/** Archives of one project that somebody may ask for in a minute. */
const mostArchives = 5
const tooManyArchives = (): ApiError =>
  new ApiError(429, {
    message: { error: 'This archive has been requested too many times. Try again later.' },
  })

export function objectEndpoints(services: RepositoryServices): Endpoint[] {
  const { places } = services
  const limit = new RateLimit(mostArchives, 60)
  const admitDownload = async (actor: Actor, project: ProjectSubject): Promise<void> => {
    const { user } = actor
    if (user !== null) limit.use(`${project.id}:${user.id}`, undefined, tooManyArchives)
    if (await services.noteDownload(actor, project.id)) throw forbidden()
  }
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
      params: Fields({ ...archiveParams, format: OneOf(formats, { default: 'tar.gz' }) }),
      answers: Json({ description: 'The archive' }),
      refuses: { 404: 'No such commit or path', 429: 'More than five a minute of a project' },
      handle: ({ actor, project, params, request }) =>
        archiveAnswer(services, project, params, request, () => admitDownload(actor, project)),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/archive.:format`,
      summary: 'Download the files of a commit, in a format',
      on: projectKind,
      may: 'read_code',
      anonymous: true,
      params: Fields({ ...archiveParams, format: OneOf(...formats) }),
      answers: Json({ description: 'The archive' }),
      refuses: { 404: 'No such commit or path', 429: 'More than five a minute of a project' },
      handle: ({ actor, project, params, request }) =>
        archiveAnswer(services, project, params, request, () => admitDownload(actor, project)),
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

interface Wanted {
  readonly sha?: string | undefined
  readonly path?: string | undefined
  readonly exclude_paths: readonly string[]
  readonly include_lfs_blobs: boolean
  readonly format: Format
}

const containers: Readonly<Record<Format, ArchiveFormat>> = {
  'tar.gz': 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  tar: 'tar',
  zip: 'zip',
}

const types: Readonly<Record<ArchiveFormat, string>> = {
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  tar: 'application/x-tar',
  zip: 'application/zip',
}

/** Git writes the archive while it is sent. */
async function archiveAnswer(
  { places, largeFiles, log }: RepositoryServices,
  project: ProjectSubject,
  wanted: Wanted,
  request: RequestFacts,
  admit: () => Promise<void>,
): Promise<Answer> {
  const format = containers[wanted.format]
  const only = parsePath(wanted.path ?? '')
  const exclude = wanted.exclude_paths.map(parsePath)
  if (only === undefined) throw invalidParameters(['path is invalid'])
  if (exclude.some((excluded) => excluded === undefined || excluded === '')) {
    throw invalidParameters(['exclude_paths is invalid'])
  }
  const repository = await readable(places, project)
  const rev = revOf(wanted.sha)
  const commit = repository && rev && (await resolve(repository, rev))
  if (repository === undefined || commit === undefined) throw notFound('File')
  if (only !== '' && (await findEntry(repository, commit, only)) === undefined) throw notFound('File')
  if (format === 'tar.bz2' && !(await canBzip2())) throw notFound('File')

  const ref = (wanted.sha ?? project.defaultBranch ?? 'HEAD').replaceAll('/', '-')
  const name = [project.path, ref, commit, ...(only === '' ? [] : [only.replaceAll('/', '-')])].join('-')
  const headers = {
    'content-type': types[format],
    'content-disposition': contentDisposition('attachment', `${name}.${wanted.format}`),
  }
  if (request.method === 'HEAD') return new Answer(200, headers)
  await admit()
  const whole = wanted.include_lfs_blobs && (await largeFiles.mayHold(project.id))
  const output = new PassThrough()
  archive(repository, commit, output, {
    format,
    prefix: name as TreePath,
    path: only,
    exclude: exclude as TreePath[],
    largeFiles: whole
      ? {
          smallerThan: largeFiles.smallerThan,
          contentOf: (file) => largeFiles.find(project.id, file),
        }
      : undefined,
    signal: request.signal,
  }).catch((error: unknown) => {
    // Half an archive must not look like a whole one.
    output.destroy()
    if (!request.signal.aborted) log.warn({ err: error, project: project.id }, 'an archive broke off')
  })
  return new Answer(200, headers, output)
}
