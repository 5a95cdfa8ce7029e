import type { RefUpdate } from '../../git/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'

/**
 * Who moved a ref of a project to where it is: for who sees that before the news of it come. Null where nobody did, or
 * so long ago that the journal has forgotten it.
 */
export async function whoMoved(
  db: Reader,
  projectId: number,
  { ref, newOid }: Pick<RefUpdate, 'ref' | 'newOid'>,
): Promise<number | null> {
  const { rows } = await sql<{ user_id: number | null }>`
    select r.user_id from ref_updates r
    where r.project_id = ${projectId} and r.updates @> ${JSON.stringify([{ ref, newOid }])}::jsonb
    order by r.id desc limit 1`.execute(db)
  return rows[0]?.user_id ?? null
}
