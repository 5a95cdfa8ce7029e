import type { RawBuilder } from 'kysely'
import { holdContent, type Blobs } from '../../blobs/index.ts'
import { onConstraint, sql, type Database } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'

export interface UploadRow {
  readonly id: number
  readonly secret: string
  readonly filename: string
  readonly digest: string
  readonly size: number
  readonly created_at: string
  readonly uploaded_by: BasicUserRow | null
}

type Kind = 'project' | 'group'

const columns = sql`
  x.id, x.secret, x.filename, x.digest, x.size, x.created_at, ${basicUserJson('u')} as uploaded_by`
const from = sql`from uploads x left join users u on u.id = x.uploaded_by_id`

function within(kind: Kind): RawBuilder<unknown> {
  return kind === 'project' ? sql`x.project_id = subject.id` : sql`x.namespace_id = subject.id`
}

/** Read together with the caller's access. */
export function list(kind: Kind, input: PageInput): Read<UploadRow> {
  return page({ columns, from: sql`${from} where ${within(kind)}`, order: sql`x.id desc` }, input)
}

export type Named = { readonly uploadId: number } | { readonly secret: string; readonly filename: string }

export function one(kind: Kind, named: Named): Read<UploadRow> {
  const which =
    'uploadId' in named
      ? sql`x.id = ${named.uploadId}`
      : sql`x.secret = ${named.secret} and x.filename = ${named.filename}`
  return rows(sql`select ${columns} ${from} where ${within(kind)} and ${which}`)
}

export interface NewUpload {
  readonly project_id: number | null
  readonly namespace_id: number | null
  readonly secret: string
  readonly filename: string
  readonly digest: string
  readonly size: number
  readonly uploaded_by_id: number
}

/** 404 when the project or group went while its file came in. What nothing refers to is removed later. */
export async function add(db: Database, blobs: Blobs, upload: NewUpload): Promise<number> {
  return db.transaction(async (tx) => {
    await holdContent(tx, blobs, 'uploads', upload.digest)
    const made = await tx
      .insertInto('uploads')
      .values(upload)
      .returning('id')
      .executeTakeFirstOrThrow()
      .catch(onConstraint('uploads_project_id_fkey', () => notFound('Project')))
      .catch(onConstraint('uploads_namespace_id_fkey', () => notFound('Group')))
    return made.id
  })
}

export async function remove(db: Database, id: number): Promise<void> {
  await db.writer.deleteFrom('uploads').where('id', '=', id).execute()
}
