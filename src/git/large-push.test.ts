// @module-tag long
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listRefs } from './refs.ts'
import { clientEnvironment, git, openWorld } from './testing.ts'

/** A history for `git fast-import`: every commit changes one of a hundred files. */
function history(commits: number): string {
  const parts: string[] = []
  for (let i = 1; i <= commits; i++) {
    const text = `line ${i}\n`.repeat(10)
    parts.push(
      `commit refs/heads/main\ncommitter A <a@b> ${1_600_000_000 + i} +0000\ndata 8\nchange\n\n` +
        `M 100644 inline dir${i % 10}/file${i % 100}\ndata ${text.length}\n${text}\n`,
    )
  }
  return parts.join('')
}

test('a history of 20,000 commits arrives whole', { timeout: 120_000 }, async () => {
  await using world = await openWorld()
  const source = join(world.folder, 'source.git')
  await git(world.folder, 'init', '--quiet', '--bare', source)
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: source,
    env: clientEnvironment,
    input: history(20_000),
  })
  await git(source, 'push', '--quiet', world.url, 'main')

  world.journal.version++
  const refs = await listRefs(world.repository, world.journal.version)
  expect(await git(world.repository.path, 'rev-list', '--count', refs.headOid!)).toBe('20000')
})
