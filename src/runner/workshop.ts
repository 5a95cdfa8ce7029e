import { chmod, mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { passablePlace } from '../kernel/lib/passable-place.ts'
import { takeHostLock } from './host-lock.ts'
import { removeLeftovers, removeTree } from './job-folder.ts'
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
    // Jobs pass, but neither list the folders nor enter the runner's own.
    await chmod(root, 0o711)
    // Perhaps not here: the way may be closed above.
    const place =
      user === undefined ? root : await passablePlace(root, { uid: user.firstUid, gid: user.firstUid })
    const [jobs, caches, pipes] = [
      path.join(place, 'jobs'),
      path.join(root, 'cache'),
      path.join(root, 'pipes'),
    ]
    for (const folder of [jobs, caches, pipes]) await mkdir(folder, { recursive: true })
    await Promise.all([chmod(jobs, 0o711), chmod(caches, 0o700), chmod(pipes, 0o700)])
    await Promise.all([removeLeftovers(jobs), removeLeftovers(pipes)])
    const outputPipes = new OutputPipes(pipes)
    const [shell, sandbox] = await Promise.all([
      findShell(searched),
      openSandbox(settings, place),
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
