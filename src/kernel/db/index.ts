export { sql } from './sql.ts'
export { plannedByValues } from './client.ts'
export {
  Database,
  type DatabaseOptions,
  type Prepared,
  type Reader,
  type Statements,
  type Tx,
  type Writer,
} from './database.ts'
export type { GatheredWrites, Written } from './gathered-writes.ts'
export { isDatabaseError, onConstraint } from './errors.ts'
export { chosenIid, nextIid, type Numbered, type NumberedPlace } from './iids.ts'
export { Notifications, unheld } from './listen.ts'
export { SharedCounts, type Count } from './shared-counts.ts'
export { appliedMigrations, migrate, type MigrationList } from './migrate.ts'
export type { DB } from './schema.ts'
