import { chmod, mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { takeHostLock } from './host-lock.ts'
import { checkReachable, removeLeftovers, removeTree } from './job-folder.ts'
import type { Settings } from './options.ts'
import { OutputPipes } from './output-pipe.ts'
import { findTool, openSandbox, type Sandbox } from './sandbox.ts'

/** The places and tools all jobs of a runner share. */
export interface Workshop extends AsyncDisposable {
  jobs: string
  caches: string
  shell: string
  pipes: OutputPipes
  sandbox: Sandbox | undefined
}

/** Makes the folders and clears what a crash left. Throws when another runner works there. */
export async function openWorkshop(settings: Settings): Promise<Workshop> {
  const { directory, user, path: searched } = settings
  await mkdir(directory, { recursive: true, mode: 0o711 })
  const root = await realpath(directory)
  const lock = await takeHostLock(`directory ${root}`)
  if (lock === undefined) throw new Error(`another runner works in ${root}`)
  try {
    const [jobs, caches, pipes] = ['jobs', 'cache', 'pipes'].map((name) => path.join(root, name)) as [
      string,
      string,
      string,
    ]
    for (const folder of [jobs, caches, pipes]) await mkdir(folder, { recursive: true })
    // Jobs pass, but neither list the folders nor enter the runner's own.
    await Promise.all([chmod(root, 0o711), chmod(jobs, 0o711), chmod(caches, 0o700), chmod(pipes, 0o700)])
    if (user !== undefined) await checkReachable(jobs)
    await Promise.all([removeLeftovers(jobs), removeLeftovers(pipes)])
    const outputPipes = new OutputPipes(pipes)
    const [shell, sandbox] = await Promise.all([
      findShell(searched),
      openSandbox(settings, root),
      outputPipes.prepare(),
    ])
    return {
      jobs,
      caches,
      shell,
      pipes: outputPipes,
      sandbox,
      async [Symbol.asyncDispose]() {
        await outputPipes.settle()
        await removeTree(pipes)
        await lock[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await lock[Symbol.asyncDispose]()
    throw error
  }
}

async function findShell(searched: string): Promise<string> {
  for (const name of ['bash', 'sh']) {
    const file = await findTool(name, searched)
    if (file !== undefined) return file
  }
  throw new Error(`no bash or sh in ${searched}`)
}
