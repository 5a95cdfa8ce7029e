import { sql } from '../../../kernel/db/index.ts'
import { holderOfPrivate, privateAddress } from '../../../access/index.ts'
import type { MergeRequestServices } from '../services.ts'
import type { ComputedVersion } from './compute.ts'

/** A version with the users who made its commits. */
export type NewVersion = ComputedVersion & { readonly committerIds: readonly number[] }

/** Whose addresses stand in the commits; those that nobody has shown to be his are nobody's. */
export async function withCommitters(
  house: Pick<MergeRequestServices, 'db' | 'settings' | 'externalUrl'>,
  version: ComputedVersion,
): Promise<NewVersion> {
  const emails = [...new Set(version.committers.map((email) => email.toLowerCase()))]
  const ids = emails.flatMap((email) => holderOfPrivate(house, email) ?? [])
  const { rows } = await sql<{ id: number }>`
    select u.id from users u where lower(u.email) = any (${emails}::text[]) and u.confirmed_at is not null
    union
    select u.id from users u
    where lower(u.commit_email) = any (${emails}::text[]) and u.commit_email <> ${privateAddress}
    union
    select u.id from users u where u.id = any (${ids}::bigint[])
    order by id`.execute(house.db.reader)
  return { ...version, committerIds: rows.map(({ id }) => id) }
}
