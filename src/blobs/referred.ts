import { sql, type Database, type Tx } from '../kernel/db/index.ts'
import { unavailable } from '../kernel/errors/index.ts'
import type { Blobs } from './blobs.ts'

/** Tables whose rows name content by its `digest`. What the rows of one name lies in a folder of its own. */
export type ReferringTable =
  'ci_job_artifacts' | 'package_files' | 'relation_export_batches' | 'site_deployments' | 'uploads'

/**
 * In the transaction that writes a row which names this content: until that ends nobody removes it. 503 where it was
 * removed in this moment, with the last row that had the same content; who asks again brings it again.
 */
export async function holdContent(
  tx: Tx,
  blobs: Blobs,
  table: ReferringTable,
  digest: string,
): Promise<void> {
  await lock(tx, table, digest)
  if (!(await blobs.has(digest))) throw unavailable()
}

/** Removes content that no row of the table names any more. */
export async function removeUnused(
  db: Database,
  blobs: Blobs,
  table: ReferringTable,
  digests: readonly string[],
): Promise<void> {
  for (const digest of new Set(digests)) {
    await db.transaction(async (tx) => {
      await lock(tx, table, digest)
      const { rows } = await sql`
        select from ${sql.table(table)} x where x.digest = ${digest} limit 1`.execute(tx)
      if (rows.length === 0) await blobs.remove(digest)
    })
  }
}

/** Whoever refers to content, or removes it, does so alone. */
async function lock(tx: Tx, table: ReferringTable, digest: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${table} ${digest}`}, 0))`.execute(tx)
}
