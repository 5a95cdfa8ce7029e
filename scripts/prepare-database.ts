// Makes data of PostgreSQL with all tables and nobody's rows. New embedded databases begin as its copy.
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beginMaking, database as folder, endMaking } from '../bin/made.js'
import { bringUpToDate } from '../src/app/database.ts'
import { keepData, startEmbeddedPostgres } from '../src/kernel/db/embedded/index.ts'
import { createLogger } from '../src/kernel/log/index.ts'

const root = path.join(import.meta.dirname, '..')

beginMaking(folder)
await using stack = new AsyncDisposableStack()
// Not below the packages: started by root the server is somebody else, who may not enter everywhere.
const place = await mkdtemp(path.join(tmpdir(), 'guildhall-'))
stack.defer(() => rm(place, { recursive: true, force: true }))
await chmod(place, 0o711)
const directory = path.join(place, 'postgres')
{
  const log = createLogger('warn')
  // What does not come to its end is not used; and what was logged is not kept.
  const settings = { fsync: 'off', full_page_writes: 'off', wal_recycle: 'off', min_wal_size: '32MB' }
  await using server = await startEmbeddedPostgres({ directory, log, settings })
  await bringUpToDate(server.connection, log)
}
keepData(directory, folder)
const migrations = await readdir(path.join(root, 'migrations'))
endMaking(folder, [...migrations.map((file) => `migrations/${file}`), 'src/tasks/tasks.ts'])
