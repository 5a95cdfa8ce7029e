import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { userAvatar } from '../avatars/index.ts'
import { placeColumn, type Place } from '../members/index.ts'
import type { BasicUserRow } from '../users/index.ts'

export interface RequestRow extends BasicUserRow {
  readonly requested_at: Date | string
}

const columns = sql`
  u.id, u.username, u.public_email, u.name, u.state, ${userAvatar('u')} as avatar, r.requested_at`

/** The open requests of the group or project that is the subject, oldest first. */
export function list(kind: Place['kind'], input: PageInput): Read<RequestRow> {
  return page(
    {
      columns,
      from: sql`from access_requests r join users u on u.id = r.user_id where ${placeColumn(kind, 'r')} = subject.id`,
      order: sql`r.id`,
    },
    input,
  )
}

export async function insert(tx: Tx, place: Place, userId: number): Promise<RequestRow> {
  const there = () => invalid({ user_id: ['already exists in source'] })
  const column = sql.raw(place.kind === 'group' ? 'namespace_id' : 'project_id')
  const { rows } = await sql<RequestRow>`
    with r as (
      insert into access_requests (user_id, ${column}) values (${userId}, ${place.id}) returning *)
    select ${columns} from r join users u on u.id = r.user_id`
    .execute(tx)
    .catch(onConstraint('access_requests_group', there))
    .catch(onConstraint('access_requests_project', there))
    .catch(onConstraint('access_requests_namespace_id_fkey', () => notFound('Group')))
    .catch(onConstraint('access_requests_project_id_fkey', () => notFound('Project')))
  return rows[0]!
}

export async function exists(db: Reader, place: Place, userId: number): Promise<boolean> {
  const { rows } = await sql`
    select from access_requests r where r.user_id = ${userId} and ${placeColumn(place.kind, 'r')} = ${place.id}`.execute(
    db,
  )
  return rows.length > 0
}

/** Tells whether there was a request to end. */
export async function remove(tx: Tx, place: Place, userId: number): Promise<boolean> {
  const { rows } = await sql`
    delete from access_requests r
    where r.user_id = ${userId} and ${placeColumn(place.kind, 'r')} = ${place.id} returning 1`.execute(tx)
  return rows.length > 0
}
