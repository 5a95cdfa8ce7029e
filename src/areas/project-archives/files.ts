import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import { keepLargeFile, readLargeFile, type LargeContent } from '../git-lfs/index.ts'
import { addUpload, isFileName, uploadContent } from '../uploads/index.ts'
import { secretHere } from './links.ts'
import type { Taken } from './read-records.ts'
import type { Target } from './target.ts'

/** What is brought as files, not as records: uploads that texts show, and large files beside the code. */
export const fileRelations = ['uploads', 'lfs_objects'] as const
export type FileRelation = (typeof fileRelations)[number]

export interface FileRoom {
  readonly db: Database
  readonly settings: Settings
  readonly cipher: Cipher
  readonly largeContent: LargeContent
  readonly dataDirectory: string
}

/** What the files are called in archives. */
const forms = {
  uploads: /^uploads\/([0-9a-f]{32})\/([^/]+)$/,
  lfs_objects: /^lfs-objects\/([0-9a-f]{64})$/,
} as const

export function isFileOf(relation: FileRelation, name: string): boolean {
  const found = forms[relation].exec(name)
  return found !== null && (found[2] === undefined || isFileName(found[2]))
}

interface StoredFile {
  readonly name: string
  readonly size: number
  readonly open: () => Readable | Promise<Readable>
}

interface FileRow {
  readonly place: number
  readonly name: string
  readonly size: number
  readonly digest: string
}

/** Files that are read, or told of, at one time, and their bytes. */
const mostFiles = 100
const mostBytes = 1024 * 1024 * 1024

async function rowsOf(
  db: Reader,
  relation: FileRelation,
  projectId: number,
  after: number,
): Promise<readonly FileRow[]> {
  // Large files have no number of their own: they are counted.
  const { rows } =
    relation === 'uploads'
      ? await sql<FileRow>`
          select u.id as place, 'uploads/' || u.secret || '/' || u.filename as name, u.size, u.digest
          from uploads u where u.project_id = ${projectId} and u.id > ${after} order by u.id limit ${mostFiles}`.execute(
          db,
        )
      : await sql<FileRow>`
          select ${after}::bigint + row_number() over (order by o.oid) as place, 'lfs-objects/' || o.oid as name, o.size,
            o.oid as digest
          from lfs_links l join lfs_objects o on o.oid = l.oid where l.project_id = ${projectId}
          order by o.oid offset ${after} limit ${mostFiles}`.execute(db)
  return rows
}

/** The next files of a project behind a place; `next`: the place behind which there may be more. */
export async function filesOf(
  { db, dataDirectory, largeContent }: Pick<FileRoom, 'db' | 'dataDirectory' | 'largeContent'>,
  relation: FileRelation,
  projectId: number,
  after: number,
): Promise<{ readonly files: readonly StoredFile[]; readonly next: number | undefined }> {
  const rows = await rowsOf(db.reader, relation, projectId, after)
  const uploads = uploadContent(dataDirectory)
  const files: StoredFile[] = []
  let bytes = 0
  for (const { place, name, size, digest } of rows) {
    files.push({
      name,
      size,
      open: () => (relation === 'uploads' ? uploads.read(digest) : readLargeFile(largeContent, digest)),
    })
    bytes += size
    if (bytes >= mostBytes || files.length === mostFiles) return { files, next: place }
  }
  return { files, next: undefined }
}

/** Takes files that lie at these places; those that there are stay, so it may be done again. */
export async function takeFiles(
  room: FileRoom,
  relation: FileRelation,
  target: Target,
  found: ReadonlyMap<string, string>,
  { failed, counts }: Taken,
): Promise<void> {
  const count = (counts[relation] ??= { fetched: 0, imported: 0 })
  for (const [name, file] of found) {
    const [, id, filename] = forms[relation].exec(name) ?? []
    if (id === undefined) continue
    count.fetched += 1
    const problem =
      filename === undefined
        ? await takeLargeFile(room, target, id, file)
        : await takeUpload(room, target, { secret: id, filename, file })
    if (problem === undefined) count.imported += 1
    else failed.push({ relation_name: relation, line: count.fetched, exception_message: problem })
  }
}

const mebibyte = 1024 * 1024

/** Why it was not taken. */
async function takeUpload(
  { db, settings, cipher, dataDirectory }: FileRoom,
  { projectId, importerId }: Target,
  upload: { readonly secret: string; readonly filename: string; readonly file: string },
): Promise<string | undefined> {
  const secret = secretHere(cipher, projectId, upload.secret)
  const { rows } = await sql`select from uploads u where u.secret = ${secret}`.execute(db.writer)
  if (rows.length > 0) return undefined
  if ((await stat(upload.file)).size > settings.values.max_attachment_size * mebibyte) return 'is too large'
  const blobs = uploadContent(dataDirectory)
  const { digest, size } = await blobs.put(createReadStream(upload.file))
  const { filename } = upload
  await addUpload(db, blobs, {
    ...{ project_id: projectId, namespace_id: null, secret, filename, digest, size },
    uploaded_by_id: importerId,
  })
  return undefined
}

class OtherContent extends Error {}

async function takeLargeFile(
  { db, largeContent }: FileRoom,
  { projectId }: Target,
  oid: string,
  file: string,
): Promise<string | undefined> {
  const { size } = await stat(file)
  const content = createReadStream(file)
  try {
    await keepLargeFile(
      { db, largeContent },
      projectId,
      { oid, size },
      { content, refusal: () => new OtherContent() },
    )
    return undefined
  } catch (error) {
    if (error instanceof OtherContent) return 'is not what its name says'
    throw error
  }
}
