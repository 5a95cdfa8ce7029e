import { endpoint, instance, isAdministrator, project, userOf, type Actor } from '../../access/index.ts'
import { Answer, Either, Fields, Id, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import {
  forbidden,
  invalid,
  invalidParameters,
  notFound,
  refused,
  tooLarge,
} from '../../kernel/errors/index.ts'
import { storedSize } from '../../git/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { createProject } from '../projects/index.ts'
import { contentDisposition } from '../repository/index.ts'
import { ExportStatus, exportStatus, ImportStatus, importStatus } from './entities.ts'
import { tooLargeToExport } from './export-project.ts'
import { remoteProblem } from './fetch-archive.ts'
import { readArchiveForm } from './archive-form.ts'
import { noteExport } from './note-export.ts'
import { sealUpload, Upload } from './send-archive.ts'
import type { ArchiveRoom } from './services.ts'
import * as store from './store.ts'

export const exportTask = 'projects:export'
export const importTask = 'projects:import'

const mebibyte = 1024 * 1024
/** The name by which settings call imports of archives. */
const source = 'export_file'

const place = {
  path: Optional(Text({ description: 'Of the new project' })),
  name: Optional(Text({ description: 'By default the path' })),
  namespace_id: Optional(Id({ description: "Where to; by default the caller's own namespace" })),
  namespace_path: Optional(Text()),
  namespace: Optional(Either(Id(), Text({ description: 'Id or path', deprecated: true }))),
}

interface Place {
  readonly path?: string | undefined
  readonly name?: string | undefined
  readonly namespace_id?: number | undefined
  readonly namespace_path?: string | undefined
  readonly namespace?: number | string | undefined
}

export function archiveEndpoints(room: ArchiveRoom): Endpoint[] {
  const { db, settings, blobs, places, externalUrl } = room
  const about = { on: project, may: 'admin_project' } as const
  const checkEnabled = (): void => {
    if (!settings.values.project_export_enabled) throw notFound()
  }
  const checkSource = (): void => {
    if (!settings.values.import_sources.includes(source)) throw forbidden()
  }

  /** A project that will be filled. */
  const begin = async (
    actor: Actor,
    { path, name, ...wanted }: Place,
    from: { readonly digest: string } | { readonly url: string },
  ) => {
    if (path === undefined || path === '') throw invalidParameters(['path is missing'])
    const named = wanted.namespace_id ?? wanted.namespace_path ?? wanted.namespace
    const namespaceId = named === undefined ? undefined : await store.findNamespace(db.reader, named)
    if (named !== undefined && namespaceId === undefined) throw refused(400, 'Namespace is not valid')
    const user = userOf(actor)
    if (await store.isTaken(db.reader, namespaceId ?? null, user.id, path)) {
      throw refused(400, 'Path has already been taken')
    }
    const { id } = await createProject(
      { db, places, settings: settings.values },
      { actor, user },
      { name: name ?? path, path, namespace_id: namespaceId, visibility: 'private' },
    )
    const correlationId = requestContext()?.id ?? ''
    await db.transaction(async (tx) => {
      await store.addImport(tx, id, { userId: user.id, correlationId, source: from })
      await enqueue(tx, importTask, { project: id })
    })
    return importStatus(await store.readStatus(db.writer, id))
  }

  return [
    endpoint({
      ...about,
      method: 'POST',
      path: '/projects/:id/export',
      whileArchived: true,
      summary: 'Write a project to an archive',
      description:
        'Branches and tags, the wiki, labels, milestones, issues with their discussions, and protected branches. Secrets and members stay behind.',
      params: Fields({
        description: Optional(Text({ maxLength: 2000, description: 'In the place of that of the project' })),
        upload: Optional(Upload),
      }),
      status: 202,
      answers: Fields({ message: Text() }),
      refuses: {
        400: 'The project is too large, or the archive may not be sent there',
        404: 'The instance exports nothing',
        429: 'Too many',
      },
      async handle({ actor, project: subject, params, request }) {
        checkEnabled()
        const { description = null, upload: sentTo } = params
        const refusal = sentTo && (await room.outbound.refusal(sentTo.url))
        if (refusal !== undefined) throw invalid({ url: [`is blocked: ${refusal}`] })
        const limit = settings.values.max_export_size * mebibyte
        if (limit > 0 && (await storedSize(places.of(subject))) > limit) throw refused(400, tooLargeToExport)
        await db.transaction(async (tx) => {
          await store.beginExport(tx, subject.id, {
            userId: userOf(actor).id,
            description,
            upload: sentTo === undefined ? null : sealUpload(room, sentTo),
          })
          await enqueue(tx, exportTask, { project: subject.id }, { key: `${exportTask} ${subject.id}` })
          await noteExport(tx, settings, { actor, subject, address: request.ip }, 'created')
        })
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/projects/:id/export',
      summary: 'Tell how far the archive of a project is',
      answers: ExportStatus,
      refuses: { 404: 'The instance exports nothing' },
      async handle({ project: { id } }) {
        checkEnabled()
        return exportStatus(await store.readStatus(db.reader, id), externalUrl())
      },
    }),

    endpoint({
      ...about,
      method: 'GET',
      path: '/projects/:id/export/download',
      summary: 'Download the archive of a project',
      answers: null,
      refuses: { 404: 'There is none yet', 429: 'Too many' },
      async handle({ actor, project: subject, request }) {
        checkEnabled()
        const { id, path } = subject
        const found = await store.findExport(db.reader, id)
        if (found?.digest == null) throw refused(404, 'The project export file is not available yet')
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
      may: 'create_project',
      method: 'POST',
      path: '/projects/import',
      summary: 'Make a project of an archive',
      description:
        'Sent as `multipart/form-data` with the archive as `file`. What people wrote becomes theirs again when an administrator imports, else it is the importer’s and tells whose it was.',
      body: 'stream',
      params: Fields(place),
      status: 201,
      answers: ImportStatus,
      refuses: {
        400: 'Nothing usable was sent, or the path is taken',
        403: 'The instance takes no archives',
        413: 'The archive is too large',
        429: 'Too many',
      },
      async handle({ actor, params, request }) {
        checkSource()
        const limit = settings.values.max_import_size * mebibyte
        const form = await readArchiveForm(request, (content) =>
          blobs.put(content, limit === 0 ? undefined : limit, tooLarge),
        )
        const { digest } = form
        const sent = {
          path: form.text('path'),
          name: form.text('name'),
          namespace_path: form.text('namespace_path'),
          namespace: form.text('namespace'),
          namespace_id: form.id('namespace_id'),
        }
        return begin(actor, { ...params, ...given(sent) }, { digest })
      },
    }),

    endpoint({
      on: instance,
      may: 'create_project',
      method: 'POST',
      path: '/projects/remote-import',
      summary: 'Make a project of an archive that lies elsewhere',
      params: Fields({ ...place, url: Text({ description: 'Of the archive' }) }),
      status: 201,
      answers: ImportStatus,
      refuses: { 400: 'The address or the place is no good', 403: 'The instance takes no archives' },
      async handle({ actor, params: { url, ...wanted } }) {
        checkSource()
        const problem = await remoteProblem(room, url)
        if (problem !== undefined) throw refused(400, `Url ${problem}`)
        return begin(actor, wanted, { url })
      },
    }),

    endpoint({
      on: project,
      may: 'read_project',
      method: 'GET',
      path: '/projects/:id/import',
      summary: 'Tell how far the import of a project is',
      answers: ImportStatus,
      async handle({ actor, project: { id, role } }) {
        const row = await store.readStatus(db.reader, id)
        // What went wrong is for those who can do something about it.
        const inside = role > 0 || isAdministrator(actor)
        return importStatus(inside ? row : { ...row, import_error: null, failed: [], correlation_id: null })
      },
    }),
  ]
}

/** What the form has counts more than the query, where it says anything. */
function given<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Values>
}
