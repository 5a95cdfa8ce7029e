import type { Kysely } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'

/** The migrations in their order, named `0001-what-it-does`. */
export type MigrationList = Readonly<Record<string, Migration>>

/** Brings the database to the newest version; several programs may call it at once, one does the work. */
export async function migrate<T>(db: Kysely<T>, migrations: MigrationList): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined)
    throw error instanceof Error ? error : new Error('a migration failed', { cause: error })
  return (results ?? []).map((result) => result.migrationName)
}
