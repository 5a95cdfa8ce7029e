import { endpoint, packageProject, project } from '../../access/index.ts'
import { Fields, Json, OneOf, Optional, type Endpoint } from '../../kernel/endpoint/index.ts'
import { checkLength, takeContent } from './content.ts'
import { fileEntity } from './entities.ts'
import type { Registry } from './formats.ts'
import { fileOf } from './lookup.ts'
import { publish } from './publish.ts'
import { checkNames, type Published } from './rules.ts'

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
export function genericEndpoints({ db, blobs, settings, externalUrl, sendFile }: Registry): Endpoint[] {
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
        checkLength(request, limit)
        const stored = await takeContent(blobs, request.body, limit)
        const { name, version, fileName } = published
        const row = await publish(db, blobs, {
          project,
          actor,
          package: { type: 'generic', name, key: name, version, status: params.status },
          file: { fileName, stored },
        })
        if (params.select === undefined) return { message: '201 Created' }
        const shown = fileEntity(row, { project, externalUrl: externalUrl() })
        const names = [name, version, ...fileName.split('/')].map(encodeURIComponent)
        const url = `${externalUrl()}/api/v4/projects/${project.id}/packages/generic/${names.join('/')}`
        return { ...shown, updated_at: row.created_at, status: 'default', file: { url } }
      },
    }),

    endpoint({
      ...common,
      on: packageProject,
      method: 'GET',
      summary: 'Get a file of a generic package',
      may: 'read_package',
      anonymous: true,
      record: true,
      answers: Json({ description: 'The bytes of the file' }),
      read({ params }) {
        const { name, version, fileName } = publishedAs(params)
        return fileOf({ type: 'generic', key: name, version, fileName })
      },
      handle: ({ rows, request }) => sendFile(rows[0]!, request),
    }),
  ]
}
