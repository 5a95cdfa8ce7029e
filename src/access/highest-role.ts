import { sql, type Reader } from '../kernel/db/index.ts'
import { Role } from './levels.ts'

/** Whether a user is more than a guest anywhere: directly, which is where every role comes from. */
export async function isMoreThanGuest(db: Reader, userId: number): Promise<boolean> {
  const { rows } = await sql<{ above: boolean }>`
    select exists (
      select from members m
      where m.user_id = ${userId} and m.access_level > ${Role.guest}
        and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)) as above`.execute(db)
  return rows[0]!.above
}
