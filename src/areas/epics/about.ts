import type { RawBuilder } from 'kysely'
import { group } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { Id } from '../../kernel/endpoint/index.ts'
import * as store from './store.ts'

export const epicsPath = '/groups/:id/epics'
export const epic_iid = Id()

/** What endpoints about the epics of a group have in common. */
export const aboutEpics = { on: group, plan: planOf.epics } as const

/** The same for those about one of them. */
export const aboutEpic = {
  ...aboutEpics,
  record: true,
  read: ({ params }: { params: { epic_iid: number } }) => store.one(params.epic_iid),
} as const

/** Whether the namespace is the group, or in it. */
export async function isIn(db: Reader, namespaceId: RawBuilder<unknown>, groupId: number): Promise<boolean> {
  const { rows } = await sql`
    select from namespaces n where n.id = ${namespaceId} and n.traversal_ids @> array[${groupId}::bigint]`.execute(
    db,
  )
  return rows.length > 0
}
