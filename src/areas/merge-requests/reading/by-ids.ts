import { sql } from '../../../kernel/db/index.ts'
import { actorRow, readsNoteable, type Actor } from '../../../access/index.ts'
import { compileEntity, type Static } from '../../../kernel/endpoint/index.ts'
import { listedMergeRequest, ListedMergeRequest } from '../entities.ts'
import { mergeRequestColumns, mergeRequestSource, type MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { surroundings } from '../show.ts'

const entity = compileEntity(ListedMergeRequest)

/** The requests with these ids that the caller may read, as lists show them. */
export async function mergeRequestsByIds(
  services: MergeRequestServices,
  actor: Actor,
  ids: readonly number[],
): Promise<Map<number, Static<typeof ListedMergeRequest>>> {
  const readable = readsNoteable({
    kind: 'MergeRequest',
    id: sql`m.id`,
    projectId: sql`m.project_id`,
    namespaceId: sql`null::bigint`,
  })
  const { rows } = await sql<{ row: MergeRequestRow }>`
    select to_json(found) as row from (
      select ${mergeRequestColumns} from ${actorRow(actor)} cross join ${mergeRequestSource}
      where m.id = any (${[...ids]}::bigint[]) and ${readable}) found`.execute(services.db.reader)
  const about = surroundings(services)
  return new Map(rows.map(({ row }) => [row.id, entity(listedMergeRequest(row, about))]))
}
