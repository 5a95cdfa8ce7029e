import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Events, Level } from './levels.ts'

/** Where a setting of somebody is in force; neither: wherever nothing else is said. */
export interface Place {
  readonly projectId?: number
  readonly namespaceId?: number
}

export interface SettingRow {
  readonly level: Level
  readonly events: Events
  readonly notification_email: string | null
}

export async function find(db: Reader | Tx, userId: number, place: Place): Promise<SettingRow | undefined> {
  const { rows } = await sql<SettingRow>`
    select s.level, s.events, s.notification_email from notification_settings s
    where s.user_id = ${userId} and s.project_id is not distinct from ${place.projectId ?? null}::bigint
      and s.namespace_id is not distinct from ${place.namespaceId ?? null}::bigint`.execute(db)
  return rows[0]
}

export async function write(tx: Tx, userId: number, place: Place, row: SettingRow): Promise<void> {
  await sql`
    insert into notification_settings (user_id, project_id, namespace_id, level, events, notification_email)
    values (${userId}, ${place.projectId ?? null}, ${place.namespaceId ?? null}, ${row.level},
      ${JSON.stringify(row.events)}::jsonb, ${row.notification_email})
    on conflict on constraint notification_settings_place do update set level = excluded.level,
      events = excluded.events, notification_email = excluded.notification_email`.execute(tx)
}
