// @module-tag long
import { execFile } from 'node:child_process'
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')

/** The program in a folder of its own, as a fresh clone after `npm ci`; its packages are those of this one. */
async function installed(stack: AsyncDisposableStack): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'guildhall-bundle-'))
  stack.defer(() => rm(home, { recursive: true }))
  for (const part of ['bin', 'src', 'migrations', 'scripts', 'package.json', 'package-lock.json']) {
    await cp(path.join(root, part), path.join(home, part), { recursive: true })
  }
  const packages = path.join(home, 'node_modules')
  await mkdir(packages)
  for (const name of await readdir(path.join(root, 'node_modules'))) {
    if (name !== '.cache') await symlink(path.join(root, 'node_modules', name), path.join(packages, name))
  }
  await run('npm', ['run', 'prepare'], { cwd: home })
  return home
}

/** The program says so before all else. */
async function saying(words: string, file: string): Promise<void> {
  await writeFile(file, `console.log(${JSON.stringify(words)})\n${await readFile(file, 'utf8')}`)
}

test('what npm ci bundled runs until a source changes', async () => {
  await using stack = new AsyncDisposableStack()
  const home = await installed(stack)
  const said = async (): Promise<string> => (await run(path.join(home, 'bin/guildhall'), ['--help'])).stdout

  await saying('of the bundle', path.join(home, 'node_modules/.cache/guildhall/bundle/main.js'))
  expect(await said()).toMatch(/^of the bundle\nUsage: guildhall /)

  await saying('of the sources', path.join(home, 'src/main.ts'))
  expect(await said()).toMatch(/^of the sources\nUsage: guildhall /)

  await run('npm', ['run', 'prepare'], { cwd: home })
  expect(await said()).toMatch(/^of the sources\nUsage: guildhall /)
  await saying('of the new bundle', path.join(home, 'node_modules/.cache/guildhall/bundle/main.js'))
  expect(await said()).toMatch(/^of the new bundle\nof the sources\nUsage: guildhall /)
})

test('the tables that npm ci made are those of a first start, until there is another migration', async () => {
  await using stack = new AsyncDisposableStack()
  const home = await installed(stack)
  const data = await mkdtemp(path.join(tmpdir(), 'guildhall-data-'))
  await chmod(data, 0o711)
  stack.defer(() => rm(data, { recursive: true }))
  const applied = async (name: string): Promise<string> => {
    const env = { ...process.env, DATA_DIR: path.join(data, name) }
    return (await run(path.join(home, 'bin/guildhall'), ['migrate'], { env })).stdout
  }
  expect(await applied('begun')).toMatch(/^The database is up to date/)

  const [first] = await readdir(path.join(home, 'migrations'))
  await appendFile(path.join(home, 'migrations', first!), '// changed')
  expect(await applied('of nothing')).toMatch(/\d{4}-/)
})
