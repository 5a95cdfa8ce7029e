import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import type { JobUser } from './job-user.ts'
import type { Settings } from './options.ts'

/** What stands before the shell of a job that works in this folder. */
export type Sandbox = (folder: string) => readonly string[]

/**
 * Namespaces of its own for each script, made by bwrap: the machine is there to be read only, the runner's other folders
 * and the shared ones for temporary files are empty, and no process of others is seen. Undefined, with a warning, where
 * bwrap is not installed or may not make namespaces.
 */
export async function openSandbox(
  { isolation, path: searched, log, user }: Settings,
  place: string,
): Promise<Sandbox | undefined> {
  if (isolation !== 'bwrap') return undefined
  const file = await findTool('bwrap', searched)
  if (file === undefined) {
    log.warn('jobs are not isolated from the machine: bwrap is not installed')
    return undefined
  }
  const sandbox: Sandbox = (folder) => [
    ...[file, '--unshare-user', '--unshare-pid', '--unshare-ipc', '--die-with-parent'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/var/tmp'],
    ...['--tmpfs', place, '--bind', folder, folder, '--chdir', folder, '--'],
  ]
  const trouble = await tryOut(
    [...sandbox('/usr'), 'true'],
    user && { uid: user.firstUid, gid: user.firstUid },
  )
  if (trouble === undefined) return sandbox
  log.warn({ trouble }, 'jobs are not isolated from the machine: bwrap does not work here')
  return undefined
}

export async function findTool(name: string, searched: string): Promise<string | undefined> {
  for (const folder of searched.split(':')) {
    const file = path.join(folder, name)
    if (path.isAbsolute(file) && (await isExecutable(file))) return file
  }
  return undefined
}

async function isExecutable(file: string) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** Why it does not work. */
async function tryOut(
  [file, ...args]: readonly string[],
  user: JobUser | undefined,
): Promise<string | undefined> {
  const child = spawn(file!, args, { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe'], ...user })
  const told: Buffer[] = []
  child.stderr.on('data', (piece: Buffer) => told.push(piece))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code) =>
      resolve(code === 0 ? undefined : Buffer.concat(told).toString().trim() || `exit code ${code}`),
    )
  })
}
