import { sql, type Reader, type Tx } from '../kernel/db/index.ts'

export interface StoredSetting {
  readonly name: string
  readonly value: unknown
}

export interface StoredChange {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
  /** `after` is the default, which needs no row. */
  readonly usual: boolean
}

export const channel = 'settings'

export function readStored(db: Reader): Promise<StoredSetting[]> {
  return db.selectFrom('application_settings as s').select(['s.name', 's.value']).execute()
}

/** One change at a time: what a change is decided by still holds when it is written. Reading goes on meanwhile. */
export async function lock(tx: Tx): Promise<void> {
  await sql`lock table application_settings in share row exclusive mode`.execute(tx)
}

export async function writeChanges(
  tx: Tx,
  changes: readonly StoredChange[],
  { userId, restores }: { readonly userId: number | null; readonly restores?: number },
): Promise<void> {
  const revision = await tx
    .insertInto('setting_revisions')
    .values({ user_id: userId, restores: restores ?? null })
    .returning('id')
    .executeTakeFirstOrThrow()
  const rows = JSON.stringify(changes)
  await sql`
    insert into setting_changes (revision_id, name, before, after)
    select ${revision.id}, c ->> 'name', c -> 'before', c -> 'after'
    from jsonb_array_elements(${rows}::jsonb) c`.execute(tx)
  await sql`
    insert into application_settings as s (name, value)
    select c ->> 'name', c -> 'after' from jsonb_array_elements(${rows}::jsonb) c where not (c -> 'usual')::boolean
    on conflict (name) do update set value = excluded.value, updated_at = now()`.execute(tx)
  await sql`
    delete from application_settings s using jsonb_array_elements(${rows}::jsonb) c
    where s.name = c ->> 'name' and (c -> 'usual')::boolean`.execute(tx)
  await sql`select pg_notify(${channel}, '')`.execute(tx)
}

/**
 * What the settings that changed since a revision were then, as stored; nothing where there is no such revision.
 * The first change of a name after it says what it was.
 */
export async function readStateAt(tx: Tx, revision: number): Promise<StoredSetting[] | undefined> {
  const found = await tx
    .selectFrom('setting_revisions as r')
    .select('r.id')
    .where('r.id', '=', revision)
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { rows } = await sql<StoredSetting>`
    select distinct on (c.name) c.name, c.before as value from setting_changes c
    where c.revision_id > ${revision} order by c.name, c.revision_id`.execute(tx)
  return rows
}

/** What lies among the settings, but is none: flags and limits. */
export async function writeOne(tx: Tx, name: string, value: unknown): Promise<void> {
  await sql`
    insert into application_settings (name, value) values (${name}, ${JSON.stringify(value)})
    on conflict (name) do update set value = excluded.value, updated_at = now()`.execute(tx)
  await sql`select pg_notify(${channel}, '')`.execute(tx)
}

export async function removeOne(tx: Tx, name: string): Promise<void> {
  await tx.deleteFrom('application_settings as s').where('s.name', '=', name).execute()
  await sql`select pg_notify(${channel}, '')`.execute(tx)
}
