import type { RawBuilder } from 'kysely'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { DeployTokenRow } from './entities.ts'

/** The project or group that a token belongs to. */
export interface Owner {
  readonly kind: 'project' | 'group'
  readonly id: number
}

const columns = sql`
  t.id, t.name, t.username, t.expires_at, t.scopes, t.revoked, coalesce(t.expires_at <= now(), false) as expired`

const usable = sql`(not t.revoked and (t.expires_at is null or t.expires_at > now()))`

const owned = (kind: Owner['kind'], id: RawBuilder<unknown>): RawBuilder<unknown> =>
  kind === 'project' ? sql`t.project_id = ${id}` : sql`t.namespace_id = ${id}`

/** Of the instance all; of a project or group those of the subject. */
export function list(
  kind: Owner['kind'] | 'instance',
  active: boolean | undefined,
  input: PageInput,
): Read<DeployTokenRow> {
  const which = kind === 'instance' ? sql`true` : owned(kind, sql`subject.id`)
  const state = active === undefined ? sql`true` : active ? usable : sql`not ${usable}`
  return page(
    { columns, from: sql`from deploy_tokens t where ${which} and ${state}`, order: sql`t.id` },
    input,
  )
}

export function one(kind: Owner['kind'], id: number): Read<DeployTokenRow> {
  return rows(sql`
    select ${columns} from deploy_tokens t where t.id = ${id} and ${owned(kind, sql`subject.id`)}`)
}

export interface NewToken {
  readonly name: string
  /** Null: one is made of the id. */
  readonly username: string | null
  readonly scopes: readonly string[]
  readonly expiresAt: Date | null
  readonly digest: string
  /** The token, encrypted, where it must be read again. */
  readonly secret: string | null
  readonly creatorId: number
}

const usualUsername = 'gitlab+deploy-token-'

export async function insert(tx: Tx, { kind, id }: Owner, token: NewToken): Promise<DeployTokenRow> {
  const column = sql.raw(kind === 'project' ? 'project_id' : 'namespace_id')
  const { rows: made } = await sql<DeployTokenRow>`
    with next as (select nextval(pg_get_serial_sequence('deploy_tokens', 'id')) as id)
    insert into deploy_tokens as t (id, ${column}, name, username, scopes, expires_at, digest, secret, creator_id)
    overriding system value
    select next.id, ${id}, ${token.name}, coalesce(${token.username}, ${usualUsername} || next.id),
      ${token.scopes}::text[], ${token.expiresAt}, ${token.digest}, ${token.secret}, ${token.creatorId} from next
    returning ${columns}`.execute(tx)
  return made[0]!
}

/** Tells when the token was made; undefined where there is none. */
export async function remove(tx: Tx, { kind, id }: Owner, tokenId: number): Promise<Date | undefined> {
  const { rows: gone } = await sql<{ created_at: Date }>`
    delete from deploy_tokens t where t.id = ${tokenId} and ${owned(kind, sql`${id}`)} returning t.created_at`.execute(
    tx,
  )
  return gone[0]?.created_at
}

export interface JobToken {
  readonly username: string
  readonly secret: string
}

/**
 * The usable token of this name that jobs of the project `subject` get: its own, or the one of the nearest group above;
 * null where there is none.
 */
export function ofJobs(name: string): RawBuilder<JobToken | null> {
  return sql`(
    select json_build_object('username', t.username, 'secret', t.secret) from deploy_tokens t
    where (t.project_id = subject.id or t.namespace_id = any (subject.line)) and t.name = ${name}
      and t.secret is not null and ${usable}
    order by t.project_id is null, array_position(subject.line, t.namespace_id) desc, t.id limit 1)`
}
