import type { RawBuilder } from 'kysely'
import { sql, type Database, type Writer } from '../../kernel/db/index.ts'

/** Major, minor and patch. */
export type Version = readonly [number, number, number]

export const upgradeStatuses = ['invalid', 'not_available', 'available', 'recommended'] as const
export type UpgradeStatus = (typeof upgradeStatuses)[number]

/** Replaces what was known before. */
export async function keep(db: Database, versions: readonly Version[]): Promise<void> {
  const column = (at: 0 | 1 | 2) => sql`${versions.map((version) => version[at])}::int[]`
  await db.transaction(async (tx) => {
    await forget(tx)
    await sql`
      insert into runner_releases (major, minor, patch)
      select * from unnest(${column(0)}, ${column(1)}, ${column(2)}) on conflict do nothing`.execute(tx)
  })
}

export async function forget(db: Writer): Promise<void> {
  await sql`delete from runner_releases`.execute(db)
}

/**
 * How runner `r` stands beside the releases, by the program of it that was heard of last. Null: it told no version, or
 * no release is known. What comes before a release counts as older than that: 17.1.0-rc1, 17.1.0~pre.12.
 */
export function upgradeStatus(): RawBuilder<unknown> {
  return sql`(
    select case
      when v.version is null or not exists (select from runner_releases) then null
      when v.parts is null then 'invalid'
      when exists (
        select from runner_releases n where n.major = v.parts[1]::int and n.minor = v.parts[2]::int
          and n.patch > v.parts[3]::int - (v.parts[4] <> '')::int) then 'recommended'
      when exists (
        select from runner_releases n
        where (n.major, n.minor) > (v.parts[1]::int, v.parts[2]::int)) then 'available'
      else 'not_available' end
    from (
      select m.version, regexp_match(m.version, '^v?([0-9]{1,9})[.]([0-9]{1,9})[.]([0-9]{1,9})([-~]?)') as parts
      from ci_runner_managers m where m.runner_id = r.id
      order by m.contacted_at desc nulls last, m.id desc limit 1) v)`
}
