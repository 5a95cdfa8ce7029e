import type { GroupSubject } from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { notFound, unprocessable } from '../../kernel/errors/index.ts'
import { lockTree } from '../namespaces/index.ts'

/**
 * Puts a group to rest with all that lies below it, or brings it back. Projects that were archived by themselves stay
 * so, and what lies below a subgroup that is.
 */
export async function setArchived(
  db: Database,
  { id, line }: GroupSubject,
  archived: boolean,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockTree(tx, line[0]!, 'update')
    await check(tx, id, archived)
    await sql`update namespaces set archived = ${archived}, updated_at = now() where id = ${id}`.execute(tx)
    await (archived ? rest : comeBack)(tx, id)
  })
}

async function check(tx: Tx, id: number, archived: boolean): Promise<void> {
  const { rows } = await sql<{ archived: boolean; above: boolean }>`
    select n.archived, exists (
      select from namespaces a where a.id = any (n.traversal_ids) and a.id <> n.id and a.archived) as above
    from namespaces n where n.id = ${id}`.execute(tx)
  const group = rows[0]
  if (group === undefined) throw notFound('Group')
  const verb = archived ? 'archive' : 'unarchive'
  const already = archived ? 'already ' : ''
  if (group.archived === archived && (archived || !group.above)) {
    throw unprocessable(`Group is already ${verb}d!`)
  }
  if (group.above) {
    throw unprocessable(`Cannot ${verb} group since one of the ancestor groups is ${already}archived!`)
  }
}

async function rest(tx: Tx, id: number): Promise<void> {
  await sql`
    update projects p set archived = true, archived_with_group = true
    from namespaces n
    where n.id = p.namespace_id and n.traversal_ids @> array[${id}::bigint] and not p.archived`.execute(tx)
}

async function comeBack(tx: Tx, id: number): Promise<void> {
  await sql`
    update projects p set archived = false, archived_with_group = false
    from namespaces n
    where n.id = p.namespace_id and n.traversal_ids @> array[${id}::bigint] and p.archived_with_group
      and not exists (select from namespaces a where a.id = any (n.traversal_ids) and a.archived)`.execute(tx)
}
