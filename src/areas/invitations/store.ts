import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { placeColumn, type Held, type Place, type Wish } from '../members/index.ts'

export interface InvitationRow {
  readonly id: number
  readonly invite_email: string
  readonly created_at: Date | string
  readonly access_level: number
  readonly expires_at: string | null
  readonly created_by_name: string | null
  readonly invite_email_success: boolean
}

const columns = sql`
  i.id, i.email as invite_email, i.created_at, i.access_level, i.expires_at,
  (select c.name from users c where c.id = i.created_by_id) as created_by_name,
  not i.undeliverable as invite_email_success`

/** The open invitations of the group or project that is the subject; `query` is a whole address. */
export function list(kind: Place['kind'], query: string | undefined, input: PageInput): Read<InvitationRow> {
  const which = query === undefined || query === '' ? sql`true` : sql`lower(i.email) = lower(${query})`
  return page(
    {
      columns,
      from: sql`from invitations i where ${placeColumn(kind, 'i')} = subject.id and ${which}`,
      order: sql`i.id`,
    },
    input,
  )
}

/** What is known of an address: the user who has it, whether he asked to be let in, and whether it was invited. */
export interface Address {
  readonly user_id: number | null
  readonly asked: boolean
  readonly invited: boolean
}

export async function lookUp(db: Reader, place: Place, email: string): Promise<Address> {
  const { rows } = await sql<Address>`
    select u.id as user_id,
      exists (
        select from access_requests r where r.user_id = u.id and ${placeColumn(place.kind, 'r')} = ${place.id}) as asked,
      exists (
        select from invitations i
        where lower(i.email) = lower(${email}) and ${placeColumn(place.kind, 'i')} = ${place.id}) as invited
    from (select) one left join users u on lower(u.email) = lower(${email})`.execute(db)
  return rows[0]!
}

/** Undefined where the address was invited in this very moment. */
export async function insert(
  tx: Tx,
  place: Place,
  email: string,
  { accessLevel, expiresAt, memberRole, createdById }: Wish & { readonly createdById: number },
): Promise<number | undefined> {
  const column = sql.raw(place.kind === 'group' ? 'namespace_id' : 'project_id')
  const { rows } = await sql<{ id: number }>`
    insert into invitations (email, ${column}, access_level, expires_at, created_by_id, member_role_id)
    values (${email}, ${place.id}, ${accessLevel}, ${expiresAt}::date, ${createdById}, ${memberRole?.id ?? null})
    on conflict do nothing returning id`
    .execute(tx)
    .catch(onConstraint('invitations_namespace_id_fkey', () => notFound('Group')))
    .catch(onConstraint('invitations_project_id_fkey', () => notFound('Project')))
    .catch(onConstraint('invitations_member_role_id_fkey', () => notFound('Member Role')))
  return rows[0]?.id
}

const of = (place: Place, email: string): RawBuilder<boolean> =>
  sql`lower(i.email) = lower(${email}) and ${placeColumn(place.kind, 'i')} = ${place.id}`

interface LockedInvitation extends Held {
  readonly id: number
  readonly expires_at: string | null
  readonly updated_at: Date
}

export async function lock(tx: Tx, place: Place, email: string): Promise<LockedInvitation | undefined> {
  const { rows } = await sql<LockedInvitation>`
    select i.id, i.access_level, i.member_role_id, i.expires_at, i.updated_at from invitations i
    where ${of(place, email)} for update`.execute(tx)
  return rows[0]
}

export async function change(
  tx: Tx,
  id: number,
  { accessLevel, expiresAt, memberRole }: Wish,
): Promise<InvitationRow> {
  const { rows } = await sql<InvitationRow>`
    with i as (
      update invitations set access_level = ${accessLevel}, expires_at = ${expiresAt}::date, updated_at = now(),
        member_role_id = ${memberRole === undefined ? sql.ref('member_role_id') : (memberRole?.id ?? null)}
      where id = ${id} returning *)
    select ${columns} from i`
    .execute(tx)
    .catch(onConstraint('invitations_member_role_id_fkey', () => notFound('Member Role')))
  return rows[0]!
}

/** Its mail did not arrive, and will not. */
export async function markUndeliverable(tx: Tx, id: number): Promise<void> {
  await sql`update invitations i set undeliverable = true where i.id = ${id}`.execute(tx)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('invitations').where('invitations.id', '=', id).execute()
}

/** Forgets invitations that nobody has accepted for so many days. */
export async function removeOld(db: Writer, days: number): Promise<void> {
  await sql`delete from invitations i where i.created_at < now() - make_interval(days => ${days}::int)`.execute(
    db,
  )
}
