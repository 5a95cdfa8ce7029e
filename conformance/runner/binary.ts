import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFile,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'

/** The vendor's module, at one commit of its main branch, and what Go's checksum database knows it by. */
const runner = {
  path: 'gitlab.com/gitlab-org/gitlab-runner',
  version: 'v1.11.1-0.20260903214710-fc1f1862bd91',
  release: '19.4.0',
  sums: [
    'h1:bO0AEZUnr/PlWtor5zcLz31UDAJuj7gEALFXrd8vcoY=',
    'h1:CnRJjitfmWqWSBBMNoYGL8Y73nbVPmAdoaMTQdXHYh8=',
  ],
} as const

/** Modules that public proxies do not serve, and the folder in `build/absent` that stands for each. */
const absent: Readonly<Record<string, string>> = {
  'gitlab.com/ajwalker/phrasestream': 'phrasestream',
  'gitlab.com/gitlab-org/gitlab-runner/helpers/runner_wrapper/api': 'runner_wrapper_api',
  'gitlab.com/gitlab-org/labkit/v2': 'labkit',
  'gitlab.com/gitlab-org/moa': 'moa',
  'gitlab.com/gitlab-org/step-runner': 'step-runner',
}

const recipe = path.join(import.meta.dirname, 'build')

/** The path of the stock runner's binary; built the first time, which takes minutes, and kept outside the checkout. */
export async function stockRunner(say: (line: string) => void): Promise<string> {
  const cache =
    process.env['CONFORMANCE_CACHE'] ??
    path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'guildhall-conformance')
  const folder = path.join(cache, `runner-${runner.release}-${await digestOf(recipe)}`)
  const binary = path.join(folder, 'stock-runner')
  if (existsSync(binary)) return binary
  await requireGo()
  say(`building the stock runner ${runner.release} into ${folder}; this is done once and takes some minutes`)
  await mkdir(cache, { recursive: true })
  const work = await mkdtemp(path.join(cache, 'build-'))
  try {
    await prepare(work)
    const version = `${runner.path}/common`
    const flags = `-s -w -X ${version}.VERSION=${runner.release} -X ${version}.REVISION=${runner.version.slice(-12, -4)}`
    await go(['build', '-mod=mod', '-trimpath', `-ldflags=${flags}`, '-o', 'stock-runner', '.'], work)
    await mkdir(folder, { recursive: true })
    await rename(path.join(work, 'stock-runner'), binary)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return binary
}

/** A module whose requirements are the vendor's own, so that the versions built are those that it was released with. */
async function prepare(work: string): Promise<void> {
  await writeFile(path.join(work, 'go.mod'), 'module conformance/runner\n')
  const downloaded = await go(['mod', 'download', '-json', `${runner.path}@${runner.version}`], work)
  const { Dir: source } = JSON.parse(downloaded) as { Dir: string }
  const required = (await readFile(path.join(source, 'go.mod'), 'utf8'))
    .replace(/^module .*/m, 'module conformance/runner')
    .replaceAll(/^replace .*/gm, '')
  const replaced = Object.entries(absent).map(([module, folder]) => `replace ${module} => ./absent/${folder}`)
  await writeFile(
    path.join(work, 'go.mod'),
    [required, `require ${runner.path} ${runner.version}`, ...replaced, ''].join('\n'),
  )
  await copyFile(path.join(source, 'go.sum'), path.join(work, 'go.sum'))
  const [ofModule, ofRequirements] = runner.sums
  await appendFile(
    path.join(work, 'go.sum'),
    `${runner.path} ${runner.version} ${ofModule}\n${runner.path} ${runner.version}/go.mod ${ofRequirements}\n`,
  )
  await cp(recipe, work, { recursive: true })
}

async function requireGo(): Promise<void> {
  await go(['version'], recipe).catch((error: unknown) => {
    throw new Error('the conformance suite of runners needs Go 1.26 or newer, to build the stock runner', {
      cause: error,
    })
  })
}

async function go(args: readonly string[], folder: string): Promise<string> {
  const child = spawn('go', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const [code, out, told] = await Promise.all([
    new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    }),
    text(child.stdout),
    text(child.stderr),
  ])
  if (code !== 0) throw new Error(`go ${args[0]!} failed:\n${told.slice(-4000) || out.slice(-4000)}`)
  return out
}

async function digestOf(folder: string): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([runner, absent]))
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  for (const file of files.sort()) hash.update(path.relative(folder, file)).update(await readFile(file))
  return hash.digest('hex').slice(0, 12)
}
