import { pino } from 'pino'
import { findBinaries } from '../binaries.ts'
import { openFolder } from '../folder.ts'
import { startEmbeddedPostgres } from '../index.ts'
import { chooseLauncher } from '../process.ts'
import type { OwnerOptions, OwnerReport } from './world.ts'

/** A process of its own that owns a server, to be killed, or to be somebody else. Reports one line of JSON. */
const options = JSON.parse(process.argv[2] ?? '{}') as OwnerOptions

function report(answer: OwnerReport): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

try {
  if (options.packageFolder !== undefined) {
    const folder = await openFolder(options.directory)
    const sources = { packageFolder: options.packageFolder, distribution: [] }
    const binaries = await findBinaries(sources, folder, await chooseLauncher(undefined))
    report({ bin: binaries.bin })
  } else {
    const server = await startEmbeddedPostgres({
      directory: options.directory,
      settings: options.settings ?? {},
      log: pino({ level: 'silent' }),
    })
    process.once('SIGTERM', () => void server.stop())
    report({ pid: server.pid, connection: server.connection })
    if (options.exit === true) setImmediate(() => process.exit())
  }
} catch (error) {
  report({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) })
}
