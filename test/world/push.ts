import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootToken, type Json, type World } from './world.ts'

const run = promisify(execFile)

/** What a push needs: a repository of its own, and where to push to. */
async function inRepository(
  world: World,
  project: Json,
  work: (
    git: (...args: string[]) => Promise<string>,
    place: { folder: string; url: string },
  ) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-push-'))
  const git = async (...args: string[]): Promise<string> => {
    const options = { env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' } }
    const names = ['-c', 'user.name=root', '-c', 'user.email=root@example.com']
    return (await run('git', [...names, '-C', folder, ...args], options)).stdout.trim()
  }
  const address = new URL(`${world.url}/${project['path_with_namespace'] as string}.git`)
  address.username = 'root'
  address.password = rootToken
  try {
    await git('init', '--quiet', '--initial-branch=main')
    await work(git, { folder, url: address.href })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Pushes one commit with these files to new branches of a project, as the administrator `root`, over HTTP. */
export async function pushFiles(
  world: World,
  project: Json,
  files: Readonly<Record<string, string>>,
  branches: readonly string[] = ['main'],
): Promise<void> {
  await inRepository(world, project, async (git, { folder, url }) => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), content)
    }
    await git('add', '.')
    await git('commit', '--quiet', '-m', 'Add files')
    await git('push', '--quiet', url, ...branches.map((branch) => `HEAD:refs/heads/${branch}`))
  })
}

/** Pushes a commit and a tag that carry a signature, which nobody made with any key, as a new branch and tag. */
export async function pushSigned(world: World, project: Json, branch: string): Promise<void> {
  await inRepository(world, project, async (git, { folder, url }) => {
    await git('commit', '--quiet', '--allow-empty', '-m', 'Signed')
    const armour = (line: string): string => `-----${line} SSH SIGNATURE-----`
    const lines = [armour('BEGIN'), 'U1NIU0lH', armour('END')]
    const signature = `gpgsig ${lines.join('\n ')}`
    const plain = await git('cat-file', 'commit', 'HEAD')
    await writeFile(path.join(folder, 'commit'), `${plain.replace('\n\n', `\n${signature}\n\n`)}\n`)
    const signed = await git('hash-object', '-t', 'commit', '-w', path.join(folder, 'commit'))
    const tagger = plain
      .split('\n')
      .find((line) => line.startsWith('committer '))!
      .replace('committer', 'tagger')
    const head = [`object ${signed}`, 'type commit', `tag ${branch}-tag`, tagger]
    await writeFile(path.join(folder, 'tag'), `${[...head, '', 'Signed', ...lines].join('\n')}\n`)
    const tag = await git('hash-object', '-t', 'tag', '-w', path.join(folder, 'tag'))
    await git('push', '--quiet', url, `${signed}:refs/heads/${branch}`, `${tag}:refs/tags/${branch}-tag`)
  })
}
