import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'

/** The mark that projects and groups bear until their day of deletion has come, or until they are restored. */
export interface DeletionMark {
  readonly isSet: (db: Reader, id: number) => Promise<boolean>
  /** What is marked already keeps its day. */
  readonly set: (tx: Tx, id: number, userId: number | null) => Promise<void>
  /** Tells whether it was marked. */
  readonly lift: (tx: Tx, id: number) => Promise<boolean>
  /** A condition on the table under its alias. */
  readonly overdue: (days: number) => RawBuilder<unknown>
}

export function deletionMarkOf(table: 'projects' | 'namespaces', alias: string): DeletionMark {
  const rows = sql.table(table)
  return {
    async isSet(db, id) {
      const { rows: found } = await sql`
        select from ${rows} where id = ${id} and marked_for_deletion_at is not null`.execute(db)
      return found.length > 0
    },
    async set(tx, id, userId) {
      await sql`
        update ${rows} set marked_for_deletion_at = now(), deleting_user_id = ${userId}
        where id = ${id} and marked_for_deletion_at is null`.execute(tx)
    },
    async lift(tx, id) {
      const { rows: changed } = await sql`
        update ${rows} set marked_for_deletion_at = null, deleting_user_id = null
        where id = ${id} and marked_for_deletion_at is not null returning 1`.execute(tx)
      return changed.length > 0
    },
    overdue: (days) =>
      sql`${sql.ref(`${alias}.marked_for_deletion_at`)} < now() - make_interval(days => ${days})`,
  }
}

export const projectMark = deletionMarkOf('projects', 'p')
