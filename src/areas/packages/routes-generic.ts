import { endpoint, project } from '../../access/index.ts'
import { removeUnused, type Blobs } from '../../blobs/index.ts'
import { Answer, Fields, Json, OneOf, Optional, type Endpoint } from '../../kernel/endpoint/index.ts'
import { matchesEtag } from '../../kernel/endpoint/headers.ts'
import { byteRange, contentDisposition } from '../repository/index.ts'
import { takeContent } from './content.ts'
import { fileEntity } from './entities.ts'
import type { PackageServices } from './index.ts'
import { checkNames, tooLargeFile, type Published } from './rules.ts'
import * as store from './store.ts'

const path = '/projects/:id/packages/generic/:package_name/:package_version/:file_name'

interface Named {
  readonly package_name: string
  readonly package_version: string
  readonly file_name: string
}

const publishedAs = (params: Named): Published => ({
  name: params.package_name,
  version: params.package_version,
  fileName: params.file_name,
})

/** Files of any kind, published and fetched under a name and a version. */
export function genericEndpoints({
  db,
  blobs,
  settings,
  externalUrl,
}: PackageServices & { readonly blobs: Blobs }): Endpoint[] {
  const common = { on: project, path, greedy: true, basic: true, deployToken: true, jobToken: true } as const

  return [
    endpoint({
      ...common,
      method: 'PUT',
      summary: 'Publish a file of a generic package',
      description: 'The body is the file. One of the same name takes the place of an earlier one.',
      may: 'create_package',
      body: 'stream',
      params: Fields({
        status: Optional(OneOf(['default', 'hidden'], {})),
        select: Optional(OneOf(['package_file'], { description: 'Answer what was made of it' })),
      }),
      answers: Json({ description: 'A message, or the file' }),
      status: 201,
      refuses: { 400: 'A name is no good, or the file is larger than `generic_packages_max_file_size`' },
      async handle({ actor, project, params, request }) {
        const published = publishedAs(params)
        checkNames(published)
        const limit = settings.limits.generic_packages_max_file_size
        if (limit > 0 && Number(request.headers['content-length'] ?? 0) > limit) throw tooLargeFile()
        const stored = await takeContent(blobs, request.body, limit, tooLargeFile)
        const file = {
          ...published,
          ...stored,
          projectId: project.id,
          status: params.status,
          creatorId: actor.user?.id ?? null,
          pipelineId: actor.job?.pipelineId ?? null,
        }
        try {
          const row = await store.publish(db, blobs, file)
          if (params.select === undefined) return { message: '201 Created' }
          const shown = fileEntity(row, { project, externalUrl: externalUrl() })
          const names = [file.name, file.version, ...file.fileName.split('/')].map(encodeURIComponent)
          const url = `${externalUrl()}/api/v4/projects/${project.id}/packages/generic/${names.join('/')}`
          return { ...shown, updated_at: row.created_at, status: 'default', file: { url } }
        } catch (error) {
          await removeUnused(db, blobs, 'package_files', [stored.digest])
          throw error
        }
      },
    }),

    endpoint({
      ...common,
      method: 'GET',
      summary: 'Get a file of a generic package',
      may: 'read_package',
      anonymous: true,
      record: true,
      answers: Json({ description: 'The bytes of the file' }),
      read: ({ params }) => store.newest(publishedAs(params)),
      async handle({ rows, request }) {
        const { digest, file_name, size, stale, package_id } = rows[0]!
        const etag = `"${digest}"`
        if (matchesEtag(request.headers['if-none-match'], etag)) return new Answer(304, { etag })
        const headers = {
          etag,
          'content-type': 'application/octet-stream',
          'content-disposition': contentDisposition('attachment', file_name.replace(/^.*\//, '')),
          'content-length': String(size),
          'accept-ranges': 'bytes',
          'x-checksum-sha256': digest,
          'x-content-type-options': 'nosniff',
        }
        if (request.method === 'HEAD') return new Answer(200, headers)
        const range = byteRange(request.headers['range'], size)
        if (range === 'unsatisfiable') return new Answer(416, { 'content-range': `bytes */${size}` })
        if (stale) await store.noteDownload(db.writer, package_id)
        if (range === undefined) return new Answer(200, headers, blobs.read(digest))
        const partial = {
          'content-length': String(range.end - range.start + 1),
          'content-range': `bytes ${range.start}-${range.end}/${size}`,
        }
        return new Answer(206, { ...headers, ...partial }, blobs.read(digest, range))
      },
    }),
  ]
}
