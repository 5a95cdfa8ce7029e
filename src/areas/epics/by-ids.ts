import { actorRow, epicVisibleAnywhere, type Actor } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { compileEntity, type Static } from '../../kernel/endpoint/index.ts'
import { epic, Epic, type EpicRow } from './entities.ts'
import { columns, source } from './store.ts'

const entity = compileEntity(Epic)

/** The epics with these ids that the caller sees, as the API shows them. */
export async function epicsByIds(
  { db, externalUrl }: { readonly db: Database; readonly externalUrl: () => string },
  actor: Actor,
  ids: readonly number[],
): Promise<Map<number, Static<typeof Epic>>> {
  const { rows } = await sql<{ row: EpicRow }>`
    select to_json(found) as row from (
      select ${columns()} from ${actorRow(actor)} cross join ${source}
      where e.id = any (${[...ids]}::bigint[]) and ${epicVisibleAnywhere}) found`.execute(db.reader)
  return new Map(
    rows.map(({ row }) => [row.id, entity(epic(row, { externalUrl: externalUrl(), from: row.full_path }))]),
  )
}
