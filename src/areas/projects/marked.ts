import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/** Day on which the project or group under this alias was marked for deletion, in UTC, as answers show it. */
export function markedOn(alias: string): RawBuilder<unknown> {
  return sql`(${sql.ref(`${alias}.marked_for_deletion_at`)} at time zone 'utc')::date`
}
