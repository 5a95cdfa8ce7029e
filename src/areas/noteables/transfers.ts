import { sql, type Reader } from '../../kernel/db/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'

/** A project or group that lies below other groups than before. */
export interface MovedPlace {
  readonly projectId: number | null
  readonly namespaceId: number | null
  /** Ids of the groups above, and of a group itself, from the top one down. */
  readonly line: readonly number[]
}

/** Calls `mend` for each project, and each group, that a transfer took along. May come twice for one transfer. */
export function afterTransfers(
  { events, reader }: { readonly events: Events; readonly reader: Reader },
  name: string,
  mend: (place: MovedPlace) => Promise<void>,
): void {
  const mendAll = async (places: readonly MovedPlace[]): Promise<void> => {
    for (const place of places) await mend(place)
  }
  events.subscribe('project_transferred', `${name}:project-transferred`, async ({ projectId }: DomainEvent) =>
    mendAll(await movedProjects(reader, sql`p.id = ${projectId}`)),
  )
  events.subscribe<{ groupId: number }>(
    'group_transferred',
    `${name}:group-transferred`,
    async ({ payload: { groupId } }) => {
      const below = sql`n.traversal_ids @> array[${groupId}::bigint]`
      await mendAll(await movedProjects(reader, below))
      const { rows } = await sql<MovedPlace>`
        select null::bigint as "projectId", n.id as "namespaceId", n.traversal_ids as line
        from namespaces n where ${below} and n.kind = 'group' order by n.id`.execute(reader)
      await mendAll(rows)
    },
  )
}

async function movedProjects(reader: Reader, which: ReturnType<typeof sql>): Promise<MovedPlace[]> {
  const { rows } = await sql<MovedPlace>`
    select p.id as "projectId", null::bigint as "namespaceId",
      case when n.kind = 'group' then n.traversal_ids else '{}'::bigint[] end as line
    from projects p join namespaces n on n.id = p.namespace_id where ${which} order by p.id`.execute(reader)
  return rows
}
