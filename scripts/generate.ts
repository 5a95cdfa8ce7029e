import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { format, resolveConfig } from 'prettier'
import { abilitiesPage } from './generate/abilities.ts'
import { configurationPage } from './generate/configuration.ts'
import { endpointsPage } from './generate/endpoints.ts'
import { settingsPage } from './generate/settings.ts'
import { recordStatements, statementsPage } from '../test/house/sql/record.ts'
import type { ServerConnection } from '../test/world/databases.ts'
import { findServer, makeTemplate } from '../test/world/server.ts'
import { startWorld } from '../test/world/world.ts'

/** Writes the generated files; with `--check` only says which of them are stale. */

const root = path.resolve(import.meta.dirname, '..')

async function writeSchema(connection: ServerConnection & { database: string }): Promise<string> {
  const { host, port, user, password, database } = connection
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-generate-'))
  try {
    const file = path.join(directory, 'schema.ts')
    const program = path.join(root, 'node_modules/kysely-codegen/dist/cli/bin.js')
    const url = `postgresql://${login}@${encodeURIComponent(host)}:${port}/${database}`
    await promisify(execFile)(process.execPath, [program, '--url', url, '--out-file', file], { cwd: root })
    return await readFile(file, 'utf8')
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function generate(): Promise<Map<string, string>> {
  const files = new Map([
    ['docs/configuration.md', configurationPage()],
    ['docs/abilities.md', abilitiesPage()],
    ['docs/settings.md', settingsPage()],
  ])
  await using stack = new AsyncDisposableStack()
  const server = await findServer(stack)
  await makeTemplate(server, async (connection) => {
    files.set('src/kernel/db/schema.ts', await writeSchema(connection))
  })
  const world = stack.use(await startWorld({ ROLES: 'web' }, server))
  files.set('docs/sql.md', statementsPage(await recordStatements(world)))
  files.set('docs/endpoints.md', endpointsPage(world.service.registry))
  return files
}

/** Pages in the house's format; what is compared with running code or left to its generator stays as it is. */
async function inFormat(file: string, text: string): Promise<string> {
  if (file === 'src/kernel/db/schema.ts' || file === 'docs/sql.md') return text
  return format(text, { ...(await resolveConfig(path.join(root, file))), filepath: file })
}

process.env['TZ'] = 'UTC'
const check = process.argv.includes('--check')
const stale: string[] = []
for (const [file, text] of await generate()) {
  const target = path.join(root, file)
  const wanted = await inFormat(file, text)
  const found = await readFile(target, 'utf8').catch(() => undefined)
  if (found === wanted) continue
  stale.push(file)
  if (!check) await writeFile(target, wanted)
}
for (const file of stale) console.log(check ? `${file} is stale: run npm run generate` : `wrote ${file}`)
if (check && stale.length > 0) process.exitCode = 1
