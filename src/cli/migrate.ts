import { Command } from 'commander'
import { withDatabase } from './open.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to the newest version (serve does so by itself)')
    .action(() =>
      withDatabase(async (_db, _config, applied) => {
        process.stdout.write(
          applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.join(', ')}.\n`,
        )
      }),
    )
}
