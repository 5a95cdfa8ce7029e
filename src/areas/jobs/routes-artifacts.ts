import {
  endpoint,
  find,
  instance,
  may,
  project,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { forbidden, notFound, recordNotFound, unauthorized } from '../../kernel/errors/index.ts'
import {
  Answer,
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  Optional,
  Page,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { entriesOf, fileOf } from './archive.ts'
import type { ArchiveRow } from './artifacts-store.ts'
import * as store from './artifacts-store.ts'
import type { JobServices } from './index.ts'
import { removeFilesLater } from './show.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

const TreeEntry = Fields({
  name: Text(),
  path: Text(),
  type: Text({ description: 'directory or file' }),
  size: Optional(Int()),
  mode: Text(),
})

type Stored = ArchiveRow & { digest: string; filename: string; size: number }

export const removeProjectArtifacts = 'ci:remove-project-artifacts'

/** Artifacts as people and jobs fetch them. */
export function artifactEndpoints({ db, blobs, settings }: JobServices): Endpoint[] {
  const keeps = (): boolean => settings.values.keep_latest_artifact
  const download = ({ digest, filename, size }: Stored): Answer =>
    new Answer(
      200,
      {
        'content-type': 'application/zip',
        'content-length': String(size),
        'content-disposition': attachment(filename),
      },
      blobs.read(digest),
    )
  const single = async ({ digest }: Stored, path: string): Promise<Answer> => {
    const file = await fileOf(blobs.path(digest), path)
    if (file === undefined) throw recordNotFound()
    return new Answer(
      200,
      {
        'content-type': 'application/octet-stream',
        'content-length': String(file.size),
        'content-disposition': attachment(path.slice(path.lastIndexOf('/') + 1)),
      },
      file.content,
    )
  }
  const about = {
    method: 'GET',
    on: project,
    may: 'read_job',
    anonymous: true,
    jobToken: true,
    checks,
    answers: Json({ description: 'The bytes' }),
  } as const
  const path = Text({ description: 'Path of the file in the archive' })

  return [
    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/artifacts',
      summary: 'Download the artifacts of a job',
      record: true,
      params: Fields({ job_id: Id() }),
      read: ({ params }) => store.ofJob(params.job_id, keeps()),
      handle: async ({ actor, project, rows }) => download(readable(actor, project, rows[0]!)),
    }),
    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/artifacts/tree',
      summary: 'List the files in the artifacts of a job',
      record: true,
      paged: true,
      params: Fields({
        job_id: Id(),
        path: Text({ default: '', description: 'Folder in the archive; else its top' }),
        recursive: Flag({ default: false }),
      }),
      answers: ListOf(TreeEntry),
      refuses: { 404: 'There are no artifacts, or no such folder in them' },
      read: ({ params }) => store.ofJob(params.job_id, keeps()),
      async handle({ actor, project, rows, params, page }) {
        const { digest } = readable(actor, project, rows[0]!)
        const folder = params.path.replace(/^\/+|\/+$/g, '')
        const entries = await entriesOf(blobs.path(digest), folder, params.recursive)
        if (entries === undefined) throw recordNotFound()
        return new Page(entries.slice(page.offset, page.offset + page.limit), {
          total: entries.length,
          hasMore: entries.length > page.offset + page.limit,
        })
      },
    }),
    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/artifacts/*',
      summary: 'Get a file of the artifacts of a job',
      record: true,
      params: Fields({ job_id: Id(), '*': path }),
      read: ({ params }) => store.ofJob(params.job_id, keeps()),
      handle: ({ actor, project, rows, params }) => single(readable(actor, project, rows[0]!), params['*']),
    }),
    endpoint({
      ...about,
      path: '/projects/:id/jobs/artifacts/:ref_name/download',
      summary: 'Download the artifacts of the latest successful job of a ref',
      record: 'Job',
      params: Fields({ job: Text({ description: 'Name of the job' }) }),
      read: ({ params }) => store.ofRef(params.ref_name, params.job, keeps()),
      handle: async ({ actor, project, rows }) => download(readable(actor, project, rows[0]!)),
    }),
    endpoint({
      ...about,
      path: '/projects/:id/jobs/artifacts/:ref_name/raw/*',
      summary: 'Get a file of the artifacts of the latest successful job of a ref',
      record: 'Job',
      params: Fields({ job: Text({ description: 'Name of the job' }), '*': path }),
      read: ({ params }) => store.ofRef(params.ref_name, params.job, keeps()),
      handle: ({ actor, project, rows, params }) => single(readable(actor, project, rows[0]!), params['*']),
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/jobs/:job_id/artifacts',
      summary: "Delete a job's artifacts",
      on: project,
      may: 'admin_job',
      record: true,
      params: Fields({ job_id: Id() }),
      answers: null,
      read: ({ params }) => store.ofJob(params.job_id, keeps()),
      async handle({ rows }) {
        await db.transaction(async (tx) => {
          await removeFilesLater(tx, { digests: await store.removeOf(tx, rows[0]!.job_id) })
        })
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/projects/:id/artifacts',
      summary: 'Delete the artifacts of all jobs of a project',
      on: project,
      may: 'admin_job',
      answers: Fields({ message: Text() }),
      status: 202,
      async handle({ project }) {
        await enqueue(db.writer, removeProjectArtifacts, { project: project.id })
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      method: 'GET',
      path: '/jobs/:id/artifacts',
      summary: 'Download the artifacts of a job, as a job that needs them',
      on: instance,
      may: 'use_instance',
      jobToken: true,
      params: Fields({ id: Id(), direct_download: Optional(Text()) }),
      answers: Json({ description: 'The bytes' }),
      refuses: { 403: 'The job may not have them', 404: 'There are none, or no more' },
      read: ({ params }) => store.forJob(params.id, keeps()),
      async handle({ actor, rows }) {
        if (actor.job === null) throw unauthorized()
        const row = rows[0]
        if (row === undefined) throw recordNotFound()
        if (row.project_id === actor.job.projectId) return download(stored(row))
        // What a job needs of another project it gets as far as its token leads.
        const of = await find<ProjectSubject>(db.reader, project, actor, String(row.project_id))
        if (of === undefined || !may(actor, 'read_job', of)) throw forbidden()
        return download(readable(actor, of, row))
      },
    }),
  ]
}

function stored(row: ArchiveRow): Stored {
  if (row.digest === null) throw notFound()
  return row as Stored
}

/** The archive, if the job's own rules for it let the caller have it. */
function readable(actor: Actor, project: ProjectSubject, row: ArchiveRow): Stored {
  const access = row.access === 'private' && row.artifact_access === 'all' ? 'developer' : row.artifact_access
  const allowed =
    access === 'all' ||
    (access === 'developer' && may(actor, 'read_developer_artifacts', project)) ||
    (access === 'maintainer' && may(actor, 'read_maintainer_artifacts', project))
  // A job of the project reads what its pipeline made, whatever people may see.
  if (!allowed && actor.job?.projectId !== project.id) throw forbidden()
  return stored(row)
}

/** File names come from users: all but the plainest characters are encoded. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`
}
