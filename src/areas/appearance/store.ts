import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Picture, StoredPicture } from '../avatars/index.ts'

export const pictureKinds = ['logo', 'header_logo', 'favicon'] as const
export type PictureKind = (typeof pictureKinds)[number]

/** Null takes the picture away. */
export async function setPicture(tx: Tx, kind: PictureKind, picture: Picture | null): Promise<void> {
  if (picture === null) {
    await sql`delete from appearance_pictures p where p.kind = ${kind}`.execute(tx)
    return
  }
  await sql`
    insert into appearance_pictures (kind, content_type, content, digest)
    values (${kind}, ${picture.contentType}, ${picture.content}, ${picture.digest})
    on conflict (kind) do update
    set content_type = excluded.content_type, content = excluded.content, digest = excluded.digest`.execute(
    tx,
  )
}

export async function findPicture(db: Reader, kind: PictureKind): Promise<StoredPicture | undefined> {
  const { rows } = await sql<StoredPicture>`
    select p.content, p.content_type, p.digest from appearance_pictures p where p.kind = ${kind}`.execute(db)
  return rows[0]
}
