import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import type { World } from './world.ts'

/** Where the repository of a project lies on the server. */
export function repositoryFolder(world: World, projectId: number): string {
  const hash = createHash('sha256').update(String(projectId)).digest('hex')
  return path.join(world.directory, 'repositories/@hashed', hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
}

/** What git says of the repository of a project. */
export async function gitOf(world: World, projectId: number, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', [
    '--git-dir',
    repositoryFolder(world, projectId),
    ...args,
  ])
  return stdout.trim()
}
