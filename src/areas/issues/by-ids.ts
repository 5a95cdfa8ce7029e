import { actorRow, issueVisibleAnywhere, type Actor } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { compileEntity, type Static } from '../../kernel/endpoint/index.ts'
import { issue, Issue, issueView, type IssueRow, type ViewServices } from './entities.ts'
import { issueColumns, issueSource } from './rows.ts'

const entity = compileEntity(Issue)

/** The issues with these ids that the caller sees, as the API shows them. */
export async function issuesByIds(
  services: ViewServices & { readonly db: Database },
  actor: Actor,
  ids: readonly number[],
): Promise<Map<number, Static<typeof Issue>>> {
  const { rows } = await sql<{ row: IssueRow }>`
    select to_json(found) as row from (
      select ${issueColumns()} from ${actorRow(actor)} cross join ${issueSource}
      where i.id = any (${[...ids]}::bigint[]) and ${issueVisibleAnywhere}) found`.execute(services.db.reader)
  return new Map(rows.map(({ row }) => [row.id, entity(issue(row, issueView(services)))]))
}
