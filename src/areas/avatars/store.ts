import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { UploadedFile } from '../../kernel/endpoint/types.ts'
import type { Picture } from './picture.ts'
import { userAvatar } from './urls.ts'

/** Whose picture it is. */
export type Owner = 'user' | 'project' | 'group' | 'topic'

const tables = { user: 'users', project: 'projects', group: 'namespaces', topic: 'topics' } as const
const keys = { user: 'user_id', project: 'project_id', group: 'namespace_id', topic: 'topic_id' } as const

/** What the parameter `avatar` says; undefined: nothing. */
export type SentAvatar = UploadedFile<Picture> | '' | undefined

/** Puts the picture that was sent in the place of the one before, or takes that away. */
export async function setAvatar(tx: Tx, owner: Owner, id: number, sent: SentAvatar): Promise<void> {
  if (sent === undefined) return
  const key = sql.ref(keys[owner])
  const picture = sent === '' ? undefined : sent.stored
  await sql`
    update ${sql.table(tables[owner])} set avatar = ${picture?.filename ?? null}, updated_at = now()
    where id = ${id}`.execute(tx)
  if (picture === undefined) {
    await sql`delete from avatars where ${key} = ${id}`.execute(tx)
    return
  }
  await sql`
    insert into avatars (${key}, content_type, content, digest)
    values (${id}, ${picture.contentType}, ${picture.content}, ${picture.digest})
    on conflict (${key}) do update
    set content_type = excluded.content_type, content = excluded.content, digest = excluded.digest`.execute(
    tx,
  )
}

export interface StoredPicture {
  readonly content: Buffer
  readonly content_type: string
  readonly digest: string
}

export async function findPicture(db: Reader, owner: Owner, id: number): Promise<StoredPicture | undefined> {
  const { rows } = await sql<StoredPicture>`
    select a.content, a.content_type, a.digest from avatars a where ${sql.ref(`a.${keys[owner]}`)} = ${id}`.execute(
    db,
  )
  return rows[0]
}

/** Of the user who shows this address to everybody. */
export async function avatarByEmail(
  db: Reader,
  email: string,
): Promise<{ own: boolean; avatar: string | null } | undefined> {
  const { rows } = await sql<{ own: boolean; avatar: string | null }>`
    select u.avatar is not null as own, ${userAvatar('u')} as avatar
    from users u where lower(u.public_email) = ${email.toLowerCase()} order by u.id limit 1`.execute(db)
  return rows[0]
}

export async function avatarOfUser(db: Reader, id: number): Promise<string | null> {
  const { rows } = await sql<{ avatar: string | null }>`
    select ${userAvatar('u')} as avatar from users u where u.id = ${id}`.execute(db)
  return rows[0]?.avatar ?? null
}
