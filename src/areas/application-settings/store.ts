import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { RecordTimes } from './entities.ts'

export interface StoredRecord extends RecordTimes {
  /** The newest one. They are made one after the other, so that a larger one is a later one. */
  readonly revision: number
  readonly stored: readonly { readonly name: string; readonly value: unknown }[]
}

/** Null: as under the revision that is known. */
export type RecordSince = Omit<StoredRecord, 'stored'> & { readonly stored: StoredRecord['stored'] | null }

function record(known: number | undefined): RawBuilder<unknown> {
  return sql`
  select l.revision, l.updated_at,
    (select r.created_at from setting_revisions r order by r.id limit 1) as created_at,
    case when l.revision is distinct from ${known ?? null}::bigint then coalesce(
      (select jsonb_agg(jsonb_build_object('name', s.name, 'value', s.value)) from application_settings s), '[]')
    end as stored
  from (
    select coalesce(max(r.id), 0) as revision, max(r.created_at) as updated_at
    from (select r.id, r.created_at from setting_revisions r order by r.id desc limit 1) r) l`
}

/** The stored state, not the snapshot: what was just changed is there. */
export function readRecord(known: number | undefined): Read<RecordSince> {
  return rows(record(known))
}

export async function findRecord(db: Reader): Promise<StoredRecord> {
  const result = await sql<StoredRecord>`${record(undefined)}`.execute(db)
  return result.rows[0]!
}

export interface RevisionRow {
  readonly id: number
  readonly created_at: Date | string
  readonly restores: number | null
  readonly user: { readonly id: number; readonly username: string; readonly name: string } | null
  readonly changes: readonly { readonly name: string; readonly before: unknown; readonly after: unknown }[]
}

const revisionColumns = sql`
  r.id, r.created_at, r.restores,
  case when u.id is not null then jsonb_build_object('id', u.id, 'username', u.username, 'name', u.name) end as user,
  coalesce((
    select jsonb_agg(jsonb_build_object('name', c.name, 'before', c.before, 'after', c.after) order by c.name)
    from setting_changes c where c.revision_id = r.id), '[]') as changes`

/** The revisions, newest first; `setting`: those that changed it. */
export function listRevisions(input: PageInput, setting: string | undefined): Read<RevisionRow> {
  const chosen =
    setting === undefined
      ? sql``
      : sql`where r.id in (select c.revision_id from setting_changes c where c.name = ${setting})`
  return page(
    {
      columns: revisionColumns,
      from: sql`from setting_revisions r left join users u on u.id = r.user_id ${chosen}`,
      order: sql`r.id desc`,
    },
    input,
  )
}

/** `given`: its id in digits, or its full path. */
export async function findGroupId(db: Reader, given: string): Promise<number | undefined> {
  const groups = db.selectFrom('namespaces as n').select('n.id').where('n.kind', '=', 'group')
  const found = await (
    /^\d{1,15}$/.test(given)
      ? groups.where('n.id', '=', Number(given))
      : groups.where(sql`lower(n.full_path)`, '=', given.toLowerCase())
  ).executeTakeFirst()
  return found?.id
}
