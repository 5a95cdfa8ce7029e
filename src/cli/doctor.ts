import { constants } from 'node:fs'
import { access, rm, statfs, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openDatabase } from '../app/database.ts'
import { prepareStorages } from '../app/storages.ts'
import { checkGit } from '../git/index.ts'
import { readConfig, type Config } from '../kernel/config/index.ts'
import { findRunningPostgres } from '../kernel/db/embedded/index.ts'
import { Database, sql } from '../kernel/db/index.ts'
import { makeFolders } from '../kernel/lib/make-folders.ts'
import { createLogger } from '../kernel/log/index.ts'
import { checkPort, checkSshPort, type Finding } from './ports.ts'
import { explain } from './trouble.ts'

interface Check {
  readonly name: string
  readonly run: (config: Config) => Promise<Finding>
}

const gibibyte = 1024 ** 3

const checks: readonly Check[] = [
  { name: 'runtime', run: async () => ({ fine: `Node ${process.version}` }) },
  {
    name: 'git',
    run: async () => ({ fine: `git ${await checkGit()}` }),
  },
  {
    name: 'folder',
    async run({ dataDirectory }) {
      await makeFolders(dataDirectory, 0o711)
      const probe = path.join(dataDirectory, `doctor-${process.pid}`)
      await writeFile(probe, '', { flag: 'wx' })
      await rm(probe)
      await access(dataDirectory, constants.R_OK | constants.X_OK)
      return { fine: `${dataDirectory} can be written` }
    },
  },
  {
    name: 'disk',
    async run({ dataDirectory }) {
      const { bavail, bsize } = await statfs(dataDirectory)
      const free = (bavail * bsize) / gibibyte
      return free < 1
        ? {
            wrong: `only ${free.toFixed(2)} GiB are free below ${dataDirectory}; free some, or choose another disk with DATA_DIR`,
          }
        : { fine: `${free.toFixed(1)} GiB free` }
    },
  },
  {
    name: 'storages',
    async run({ storages }) {
      await prepareStorages(storages)
      return { fine: `repositories can be made in ${Object.values(storages).join(', ')}` }
    },
  },
  {
    name: 'database',
    async run(config) {
      const log = createLogger('silent')
      await using stack = new AsyncDisposableStack()
      const running =
        config.databaseUrl === undefined
          ? await findRunningPostgres(path.join(config.dataDirectory, 'postgres'))
          : undefined
      const connection = running ?? (await openDatabase(config, log, stack))
      const db = stack.use(new Database({ connection, size: 1, log }))
      const { rows } = await sql<{ version: string; number: number }>`
        select current_setting('server_version') as version, current_setting('server_version_num')::int as number`.execute(
        db.reader,
      )
      const { version, number } = rows[0]!
      if (number < 150_000) return { wrong: `PostgreSQL ${version} is too old; 15 or newer is needed` }
      const kind =
        config.databaseUrl !== undefined
          ? 'external'
          : running === undefined
            ? 'embedded'
            : 'embedded, in use by the service'
      return { fine: `PostgreSQL ${version}, ${kind}` }
    },
  },
  { name: 'port', run: checkPort },
  { name: 'SSH port', run: checkSshPort },
  {
    name: 'permissions',
    async run({ roles }) {
      if (process.getuid?.() === 0) return { fine: 'root: the database and jobs run as users of their own' }
      return roles.has('runner')
        ? {
            fine: 'ordinary user: jobs of the built-in runner run as this user too; start as root to keep them apart',
          }
        : { fine: 'ordinary user' }
    },
  },
]

/** Looks at everything the service needs, and says of each thing whether it is right or how to mend it. */
export async function examine(): Promise<void> {
  const config = readConfig(process.env)
  for (const { name, run } of checks) {
    const finding = await run(config).catch((error: unknown): Finding => {
      const told = explain(error, config)
      return { wrong: told instanceof Error ? told.message : String(told) }
    })
    const line = 'fine' in finding ? `ok     ${name}: ${finding.fine}` : `WRONG  ${name}: ${finding.wrong}`
    process.stdout.write(`${line}\n`)
    if ('wrong' in finding) process.exitCode = 1
  }
}
