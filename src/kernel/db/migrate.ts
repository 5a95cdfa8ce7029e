import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { sql } from './sql.ts'
import { Migrator, type Migration } from 'kysely/migration'
import { isDatabaseError } from './errors.ts'

/** The migrations in their order, named `0001-what-it-does`. */
export type MigrationList = Readonly<Record<string, Migration>>

const noSuchTable = '42P01'

/** The names of the migrations that the database has had, in their order. */
export async function appliedMigrations<T>(db: Kysely<T>): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select m.name from kysely_migration m`.execute(db)
    return rows.map(({ name }) => name).sort()
  } catch (error) {
    if (isDatabaseError(error) && error.code === noSuchTable) return []
    throw error
  }
}

/** Brings the database to the newest version; several programs may call it at once, one does the work. */
export async function migrate<T>(db: Kysely<T>, migrations: MigrationList): Promise<string[]> {
  // At most starts. The migrator looks at every table first.
  if (isDeepStrictEqual(await appliedMigrations(db), Object.keys(migrations).sort())) return []
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined)
    throw error instanceof Error ? error : new Error('a migration failed', { cause: error })
  return (results ?? []).map((result) => result.migrationName)
}
