import type { RawBuilder } from 'kysely'
import { userCalled } from '../../access/index.ts'
import { onConstraint, sql, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { KeyRow, KeyWithUserRow } from './entities.ts'
import { taken, type NewKey } from './rules.ts'

const columns = sql`k.id, k.title, k.key, k.usage_type, k.created_at, k.expires_at, k.last_used_at`

/** The user of these keys: the caller, or one by id or username. */
export type Owner = { readonly caller: true } | string | number

function owned(owner: Owner): RawBuilder<unknown> {
  if (typeof owner === 'object') return sql`k.user_id = actor.id`
  return sql`k.user_id = (select u.id from users u where ${userCalled(owner)})`
}

export function list(owner: Owner, input: PageInput): Read<KeyRow> {
  return page({ columns, from: sql`from ssh_keys k where ${owned(owner)}`, order: sql`k.id` }, input)
}

export function one(owner: Owner, id: number): Read<KeyRow> {
  return rows(sql`select ${columns} from ssh_keys k where k.id = ${id} and ${owned(owner)}`)
}

/** Any key with its user; a deploy key has whoever made it, and tells the projects that it reaches. */
function withUser(condition: RawBuilder<unknown>): Read<KeyWithUserRow> {
  return rows(sql`
    select ${columns}, ${basicUserJson('u')} as "user", case when k.kind = 'deploy' then (
      select coalesce(json_agg(json_build_object('id', d.id, 'deploy_key_id', d.deploy_key_id, 'project_id', d.project_id,
        'created_at', d.created_at, 'updated_at', d.created_at, 'can_push', d.can_push) order by d.id), '[]'::json)
      from deploy_key_projects d where d.deploy_key_id = k.id) end as deploy_keys_projects
    from ssh_keys k left join users u on u.id = coalesce(k.user_id, k.creator_id) where ${condition}`)
}

export function any(id: number): Read<KeyWithUserRow> {
  return withUser(sql`k.id = ${id} and k.kind = 'user'`)
}

/** `SHA256:...`, `MD5:...` or the digest alone. Both have an index. */
export function byFingerprint(text: string): Read<KeyWithUserRow> {
  const sha256 = /^SHA256:/i.test(text) ? text.slice(7) : text
  const md5 = text.replace(/^MD5:/i, '').toLowerCase()
  return /^(?:md5:)?[0-9a-f]{2}(?::[0-9a-f]{2}){15}$/i.test(text)
    ? withUser(sql`k.fingerprint = ${md5}`)
    : withUser(sql`k.fingerprint_sha256 = ${sha256.replace(/=+$/, '')}`)
}

export async function create(db: Writer, userId: number, key: NewKey, usageType: string): Promise<KeyRow> {
  const result = await sql<KeyRow>`
    insert into ssh_keys as k (kind, user_id, title, key, fingerprint, fingerprint_sha256, usage_type, expires_at)
    values ('user', ${userId}, ${key.title}, ${key.text}, ${key.fingerprint}, ${key.fingerprintSha256},
      ${usageType}, ${key.expiresAt})
    returning ${columns}`
    .execute(db)
    .catch(onConstraint('ssh_keys_fingerprint', () => taken()))
  return result.rows[0]!
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from ssh_keys k where k.id = ${id} and k.kind = 'user'`.execute(db)
}
