import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootToken, type Json, type World } from './world.ts'

const run = promisify(execFile)

/** Pushes one commit with these files to new branches of a project, as the administrator `root`, over HTTP. */
export async function pushFiles(
  world: World,
  project: Json,
  files: Readonly<Record<string, string>>,
  branches: readonly string[] = ['main'],
): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-push-'))
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=root', '-c', 'user.email=root@example.com', '-C', directory, ...args], {
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' },
    })
  try {
    await git('init', '--quiet', '--initial-branch=main')
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(directory, name)), { recursive: true })
      await writeFile(path.join(directory, name), content)
    }
    await git('add', '.')
    await git('commit', '--quiet', '-m', 'Add files')
    const address = new URL(`${world.url}/${project['path_with_namespace'] as string}.git`)
    address.username = 'root'
    address.password = rootToken
    await git('push', '--quiet', address.href, ...branches.map((branch) => `HEAD:refs/heads/${branch}`))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
