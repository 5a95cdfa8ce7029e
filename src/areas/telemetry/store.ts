import type { RawBuilder } from 'kysely'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'

/** Something that happened: never with a name or a text that people gave. */
export interface Happening {
  readonly source: string
  readonly id: number
  readonly category: string
  readonly action: string
  readonly projectId: number | null
  readonly userId: number | null
  readonly at: Date
}

/** `select id, category, action, project_id, user_id, at`, of what came after the row of an id. */
type Source = (after: number) => RawBuilder<unknown>

const nothing = sql`null::bigint`

/** Rows that stand for what people did, told as that and as records. */
const records: Readonly<Record<string, Source>> = {
  projects: (after) =>
    sql`select p.id, 'project' as category, 'create' as action, p.id as project_id, p.creator_id as user_id,
      p.created_at as at from projects p where p.id > ${after}`,
  namespaces: (after) =>
    sql`select n.id, 'group' as category, 'create' as action, ${nothing} as project_id, ${nothing} as user_id,
      n.created_at as at from namespaces n where n.id > ${after} and n.kind = 'group'`,
  users: (after) =>
    sql`select u.id, 'user' as category, 'create' as action, ${nothing} as project_id, u.id as user_id,
      u.created_at as at from users u where u.id > ${after} and u.kind = 'human'`,
}

const sources: Readonly<Record<string, Source>> = {
  ...records,
  // Which of its states a thing came to is said in a word of ours; anything else of an event stays here.
  events: (after) =>
    sql`select e.id, e.kind as category, coalesce(e.payload ->> 'action', e.payload ->> 'status', e.kind) as action,
      e.project_id, e.user_id, e.created_at as at from events e
      where e.id > ${after} and e.kind not in ('project', 'group', 'user')`,
  user_sessions: (after) =>
    sql`select s.id, 'user' as category, 'sign_in' as action, ${nothing} as project_id, s.user_id,
      s.created_at as at from user_sessions s where s.id > ${after}`,
}

export function isRecord({ source }: Happening): boolean {
  return Object.hasOwn(records, source)
}

/** What more happened since the last time is lost: nothing waits for the collector. */
const most = 1000

/**
 * What happened since this was last called, by any node; nothing at the first time. A row whose transaction ends after
 * that of a later one may be passed over.
 */
export function takeHappenings(db: Database): Promise<Happening[]> {
  return db.transaction(async (tx) => {
    const { rows: known } = await sql<{ source: string; last_id: number }>`
      select t.source, t.last_id from telemetry_positions t order by t.source for update`.execute(tx)
    const positions = new Map(known.map(({ source, last_id }) => [source, last_id]))
    const found: Happening[] = []
    for (const [source, select] of Object.entries(sources)) {
      const after = positions.get(source)
      const last = after === undefined ? await lastOf(tx, source) : after
      const rows = after === undefined ? [] : await newest(tx, select(after))
      found.push(...rows.map((row) => ({ ...row, source })))
      const now = Math.max(last, ...rows.map(({ id }) => id))
      if (now === after) continue
      await sql`
        insert into telemetry_positions as t (source, last_id) values (${source}, ${now})
        on conflict (source) do update set last_id = greatest(t.last_id, excluded.last_id)`.execute(tx)
    }
    return found
  })
}

async function lastOf(tx: Tx, source: string): Promise<number> {
  const { rows } = await sql<{
    id: number
  }>`select coalesce(max(x.id), 0) as id from ${sql.table(source)} x`.execute(tx)
  return rows[0]!.id
}

async function newest(tx: Tx, source: RawBuilder<unknown>): Promise<Omit<Happening, 'source'>[]> {
  const { rows } = await sql<Omit<Happening, 'source'>>`
    select found.id, found.category, found.action, found.project_id as "projectId", found.user_id as "userId",
      found.at
    from (${source}) found order by found.id desc limit ${most}`.execute(tx)
  return rows.toReversed()
}

/** Nothing is told of the time until this is called for the next time. */
export async function forgetPositions({ writer }: Database): Promise<void> {
  await sql`delete from telemetry_positions`.execute(writer)
}
