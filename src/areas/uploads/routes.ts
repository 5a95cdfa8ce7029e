import { randomBytes } from 'node:crypto'
import { endpoint, userOf } from '../../access/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import {
  Answer,
  Fields,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Text,
  Timestamp,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { readFileForm } from '../../kernel/endpoint/file-form.ts'
import { contentDisposition } from '../repository/index.ts'
import { BasicUser, basicUser } from '../users/index.ts'
import type { UploadServices } from './index.ts'
import { altOf, contentTypeOf, fileName, markdownOf } from './names.ts'
import { subjectOf, type Place } from './places.ts'
import * as store from './store.ts'
import type { UploadRow } from './store.ts'

const mebibyte = 1024 * 1024

const Made = Fields({ id: Id(), alt: Text(), url: Text(), full_path: Text(), markdown: Text() })
const Listed = Fields({
  id: Id(),
  size: Int(),
  filename: Text(),
  created_at: Timestamp(),
  uploaded_by: Nullable(BasicUser),
})

/** The uploads of one place. */
export function uploadEndpoints<Kind extends SubjectKind>(
  { db, blobs, settings, externalUrl }: UploadServices & { readonly blobs: Blobs },
  { kind, on, path, called, reading, writing, keeping, removing }: Place<Kind>,
): Endpoint[] {
  const byId = {
    params: Fields({ upload_id: Id() }),
    read: ({ params }: { params: { upload_id: number } }) => store.one(kind, { uploadId: params.upload_id }),
  }
  const bySecret = {
    params: Fields({ secret: Text(), filename: Text() }),
    read: ({ params }: { params: { secret: string; filename: string } }) => store.one(kind, params),
  }
  const single = { on, record: true } as const
  const refuses = { 404: 'There is no such upload' }
  /** Never as a page or a script: browsers must not run what somebody uploaded. */
  const download = ({ digest, filename, size }: UploadRow): Answer => {
    const type = contentTypeOf(filename)
    const headers = {
      'content-type': type ?? 'application/octet-stream',
      'content-length': String(size),
      'content-disposition': contentDisposition(type === undefined ? 'attachment' : 'inline', filename),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    }
    return new Answer(200, headers, blobs.read(digest))
  }

  return [
    endpoint({
      method: 'POST',
      path,
      summary: `Upload a file to be shown or linked in texts of ${called}`,
      description: 'A multipart form with the field `file`.',
      on,
      may: writing,
      body: 'stream',
      answers: Made,
      refuses: { 413: 'Larger than `max_attachment_size`' },
      async handle(call) {
        const { actor, request } = call
        const limit = settings.values.max_attachment_size * mebibyte
        const { file } = await readFileForm(request, (content) => blobs.put(content, limit))
        const filename = fileName(file.filename)
        const secret = randomBytes(16).toString('hex')
        const place = subjectOf(call)
        const id = await store.add(db, blobs, {
          project_id: place.kind === 'project' ? place.id : null,
          namespace_id: place.kind === 'group' ? place.id : null,
          secret,
          filename,
          digest: file.stored.digest,
          size: file.stored.size,
          uploaded_by_id: userOf(actor).id,
        })
        const url = `/uploads/${secret}/${encodeURIComponent(filename)}`
        return {
          id,
          alt: altOf(filename),
          url,
          full_path: `/-/${kind}/${place.id}${url}`,
          markdown: markdownOf(filename, url),
        }
      },
    }),

    endpoint({
      method: 'GET',
      path,
      summary: `List the uploads of ${called}`,
      on,
      may: keeping,
      paged: true,
      answers: ListOf(Listed),
      read: ({ page }) => store.list(kind, page),
      handle: async ({ rows }) =>
        rows.map((row) => ({
          ...row,
          uploaded_by: row.uploaded_by && basicUser(row.uploaded_by, externalUrl()),
        })),
    }),

    endpoint({
      ...single,
      ...byId,
      method: 'GET',
      path: `${path}/:upload_id`,
      summary: `Get a file uploaded to ${called}, by its id`,
      may: keeping,
      answers: Json({ description: 'The bytes of the file' }),
      refuses,
      handle: async ({ rows }) => download(rows[0]!),
    }),

    endpoint({
      ...single,
      ...bySecret,
      method: 'GET',
      path: `${path}/:secret/:filename`,
      summary: `Get a file uploaded to ${called}, as whoever reads the texts there`,
      may: reading,
      anonymous: true,
      answers: Json({ description: 'The bytes of the file' }),
      refuses,
      handle: async ({ rows }) => download(rows[0]!),
    }),

    endpoint({
      ...single,
      ...byId,
      method: 'DELETE',
      path: `${path}/:upload_id`,
      summary: `Delete a file uploaded to ${called}, by its id`,
      may: removing,
      answers: null,
      refuses,
      handle: ({ rows }) => store.remove(db, rows[0]!.id),
    }),

    endpoint({
      ...single,
      ...bySecret,
      method: 'DELETE',
      path: `${path}/:secret/:filename`,
      summary: `Delete a file uploaded to ${called}`,
      may: removing,
      answers: null,
      refuses,
      handle: ({ rows }) => store.remove(db, rows[0]!.id),
    }),
  ]
}
