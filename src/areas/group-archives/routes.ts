import { endpoint, group, instance, userOf } from '../../access/index.ts'
import {
  Answer,
  Fields,
  Id,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { invalidParameters, refused, tooLarge } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { createGroup } from '../groups/index.ts'
import { noteExport, readArchiveForm } from '../project-archives/index.ts'
import { contentDisposition } from '../repository/index.ts'
import type { GroupArchiveRoom } from './services.ts'
import * as store from './store.ts'

export const exportTask = 'groups:export'
export const importTask = 'groups:import'

const mebibyte = 1024 * 1024
const Accepted = Fields({ message: Text() })
const accepted = { message: '202 Accepted' }

export function groupArchiveEndpoints(room: GroupArchiveRoom): Endpoint[] {
  const { db, settings, blobs } = room
  const about = { on: group, may: 'admin_group' } as const
  return [
    endpoint({
      ...about,
      method: 'POST',
      path: '/groups/:id/export',
      whileArchived: true,
      summary: 'Write a group to an archive',
      description:
        'With its subgroups, labels, milestones and epics. Projects, members and secrets stay behind.',
      status: 202,
      answers: Accepted,
      refuses: { 429: 'Too many' },
      async handle({ actor, group: subject, request }) {
        const { id } = subject
        await db.transaction(async (tx) => {
          await store.beginExport(tx, id, userOf(actor).id)
          await enqueue(tx, exportTask, { group: id }, { key: `${exportTask} ${id}` })
          await noteExport(tx, settings, { actor, subject, address: request.ip }, 'created')
        })
        return accepted
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/export/download',
      summary: 'Download the archive of a group',
      answers: null,
      refuses: { 404: 'There is none yet', 429: 'Too many' },
      read: () => store.readExport(),
      async handle({ actor, group: subject, rows: [found], request }) {
        if (found?.digest == null) throw refused(404, '404 Not found or has expired')
        const { path } = subject
        await db.transaction((tx) =>
          noteExport(tx, settings, { actor, subject, address: request.ip }, 'file_download_started'),
        )
        return new Answer(
          200,
          {
            'content-type': 'application/gzip',
            'content-length': String(found.size),
            'content-disposition': contentDisposition('attachment', `${path}_export.tar.gz`),
            'x-content-type-options': 'nosniff',
          },
          blobs.read(found.digest),
        )
      },
    }),

    endpoint({
      on: instance,
      // Who may make a group where is decided once it is known where.
      may: 'read_instance',
      method: 'POST',
      path: '/groups/import',
      summary: 'Make a group of an archive',
      description: 'Sent as `multipart/form-data` with the archive as `file`.',
      body: 'stream',
      params: Fields({
        name: Optional(Text()),
        path: Optional(Text()),
        parent_id: Optional(Id({ description: 'The group to make it in; by default it is a top-level one' })),
      }),
      status: 202,
      answers: Accepted,
      refuses: {
        400: 'Nothing usable was sent, or the path is taken',
        403: 'The caller may make no group there',
        404: 'There is no such group to make it in',
        413: 'The archive is too large',
        429: 'Too many',
      },
      async handle({ actor, params, request }) {
        const limit = settings.values.max_import_size * mebibyte
        const form = await readArchiveForm(request, (content) =>
          blobs.put(content, limit === 0 ? undefined : limit, tooLarge),
        )
        const name = form.text('name') ?? params.name
        const path = form.text('path') ?? params.path
        const missing = Object.entries({ name, path }).filter(([, value]) => value === undefined)
        if (name === undefined || path === undefined) {
          throw invalidParameters(missing.map(([field]) => `${field} is missing`))
        }
        const parent_id = form.id('parent_id') ?? params.parent_id
        const context = { db, settings: settings.values }
        const wanted = { name, path, parent_id, visibility: 'private' } as const
        const id = await createGroup(context, actor, wanted)
        await db.transaction(async (tx) => {
          await store.addImport(tx, id, userOf(actor).id, form.digest)
          await enqueue(tx, importTask, { group: id })
        })
        return accepted
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/groups/:id/import',
      summary: 'Tell how far the import of a group is',
      answers: Fields({
        id: Id(),
        import_status: Text({ description: '`none`, `queued`, `started`, `finished` or `failed`' }),
        import_error: Nullable(Text()),
        failed_relations: ListOf(
          Json({ description: 'Records that could not be taken: file, line and reason' }),
        ),
      }),
      read: () => store.readImport(),
      handle: async ({ group: { id }, rows: [row] }) => ({
        id,
        import_status: row?.status ?? 'none',
        import_error: row?.error ?? null,
        failed_relations: row?.failed ?? [],
      }),
    }),
  ]
}
