import { sql } from 'kysely'
import { actorRow, readsNoteable, type Actor } from '../../../access/index.ts'
import { listedMergeRequest, webUrl } from '../entities.ts'
import { mergeRequestColumns, mergeRequestSource, type MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { surroundings } from '../show.ts'

/** The requests with these ids that the caller may read, as lists show them. */
export async function mergeRequestsByIds(
  services: MergeRequestServices,
  actor: Actor,
  ids: readonly number[],
): Promise<Map<number, Record<string, unknown> & { title: string; web_url: string }>> {
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
  return new Map(
    rows.map(({ row }) => [
      row.id,
      { ...listedMergeRequest(row, about), title: row.title, web_url: webUrl(row, about.externalUrl) },
    ]),
  )
}
