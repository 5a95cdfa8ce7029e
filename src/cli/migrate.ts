import { withDatabase } from './open.ts'

/** Brings the database to the newest version. */
export function migrateDatabase(): Promise<void> {
  return withDatabase(async ({ applied }) => {
    process.stdout.write(
      applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.join(', ')}.\n`,
    )
  })
}
