import { sql, type Tx } from '../../kernel/db/index.ts'

const spread = 1000

/**
 * Puts an issue right behind another one, or right before it. The project's other issues stay where they are unless
 * there is no place left between two: then those that follow are moved on, as few as it takes.
 */
export async function place(
  tx: Tx,
  projectId: number,
  issueId: number,
  { after, before }: { readonly after: number | undefined; readonly before: number | undefined },
): Promise<void> {
  // One at a time: two that are put in one place would have one position.
  await sql`select pg_advisory_xact_lock(hashtextextended('positions of ' || ${projectId}::bigint, 0))`.execute(
    tx,
  )
  const lower =
    after === undefined ? await neighbour(tx, projectId, issueId, before!, 'before') : await of(tx, after)
  let upper =
    after === undefined ? await of(tx, before!) : await neighbour(tx, projectId, issueId, after, 'after')
  if (lower !== null && upper !== null && upper - lower < 2) {
    await moveOn(tx, projectId, lower)
    upper =
      after === undefined ? await of(tx, before!) : await neighbour(tx, projectId, issueId, after, 'after')
  }
  const step = 2 ** 20
  const position =
    lower === null
      ? (upper ?? step) - step
      : upper === null
        ? lower + step
        : lower + Math.floor((upper - lower) / 2)
  await sql`update issues i set relative_position = ${position}, updated_at = now() where i.id = ${issueId}`.execute(
    tx,
  )
}

async function of(tx: Tx, id: number): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select i.relative_position as position from issues i where i.id = ${id}`.execute(tx)
  return rows[0]!.position
}

/** The position of the one next to an issue, the moved one apart; null at the end. */
async function neighbour(
  tx: Tx,
  projectId: number,
  movedId: number,
  id: number,
  side: 'before' | 'after',
): Promise<number | null> {
  const [compared, direction] = side === 'after' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
  const { rows } = await sql<{ position: number }>`
    select i.relative_position as position from issues i
    where i.project_id = ${projectId} and i.id <> ${movedId}
      and i.relative_position ${compared} (select o.relative_position from issues o where o.id = ${id})
    order by i.relative_position ${direction} limit 1`.execute(tx)
  return rows[0]?.position ?? null
}

/** Spreads the issues behind a position over the room up to where there is some. */
async function moveOn(tx: Tx, projectId: number, position: number): Promise<void> {
  await sql`
    with crowd as (
      select i.id, row_number() over (order by i.relative_position, i.id) as place
      from issues i where i.project_id = ${projectId} and i.relative_position > ${position}
      order by i.relative_position, i.id limit ${spread}
    ), room as (
      select coalesce((
          select min(i.relative_position) from issues i
          where i.project_id = ${projectId} and i.relative_position > (
            select max(o.relative_position) from issues o join crowd c on c.id = o.id)),
        ${position}::bigint + (1 << 20) * (${spread}::bigint + 1)) - ${position}::bigint as size
    )
    update issues i set relative_position = ${position}::bigint + room.size * crowd.place / (${spread} + 1)
    from crowd, room where i.id = crowd.id`.execute(tx)
}
