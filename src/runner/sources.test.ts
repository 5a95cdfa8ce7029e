// @module-tag long
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { JobVariable } from './payload.ts'
import { startRunner } from './testing/runner.ts'
import type { TestServer } from './testing/server.ts'

const fetch: JobVariable = { key: 'GIT_STRATEGY', value: 'fetch' }

function git(server: TestServer, ...args: string[]) {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always']
  const cwd = path.join(server.folder, 'work')
  return execFileSync('git', [...identity, ...args], { cwd, stdio: 'pipe' })
    .toString()
    .trim()
}

function commit(server: TestServer, message: string) {
  appendFileSync(path.join(server.folder, 'work/README'), `${message}\n`)
  git(server, 'commit', '-q', '-a', '-m', message)
  git(server, 'push', '-q', path.join(server.folder, 'team/app.git'), 'main')
  return git(server, 'rev-parse', 'HEAD')
}

test('depth, and a commit that lies deeper', async () => {
  await using runner = await startRunner()
  const { server } = runner
  for (let round = 0; round < 3; round++) commit(server, `more ${round}`)
  const script = ['echo "commits $(git rev-list --count HEAD) at $(git rev-parse HEAD)"']
  const shallow = server.offer({ variables: [fetch, { key: 'GIT_DEPTH', value: '1' }], script })
  const full = server.offer({ variables: [fetch, { key: 'GIT_DEPTH', value: '0' }], script })
  await Promise.all([shallow.ended, full.ended])

  expect(shallow.log).toContain(`commits 1 at ${server.sha}`)
  expect(full.log).toContain(`commits 1 at ${server.sha}`)
  expect(full.log).toContain('Fetching changes...')
})

test('what the job may switch off or choose', async () => {
  await using runner = await startRunner()
  const { server } = runner
  const bare = server.offer({
    variables: [fetch, { key: 'GIT_CHECKOUT', value: 'false' }],
    script: ['test ! -e README && git rev-parse origin/main'],
  })
  const elsewhere = server.offer({
    variables: [fetch, { key: 'GIT_CLONE_PATH', value: '$CI_BUILDS_DIR/go/src' }],
    script: ['cat README; echo "in $CI_PROJECT_DIR"'],
  })
  const outside = server.offer({ variables: [fetch, { key: 'GIT_CLONE_PATH', value: '/etc/x' }] })
  const wrong = server.offer({ variables: [{ key: 'GIT_STRATEGY', value: 'guess' }] })

  expect(await bare.ended, bare.log).toMatchObject({ state: 'success' })
  expect(await elsewhere.ended, elsewhere.log).toMatchObject({ state: 'success' })
  expect(elsewhere.log).toMatch(/\nin \/.*\/builds\/go\/src\n/)
  expect(await outside.ended).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(outside.log).toContain('GIT_CLONE_PATH=/etc/x has to be within')
  expect(await wrong.ended).toMatchObject({ state: 'failed' })
  expect(wrong.log).toContain('unknown GIT_STRATEGY: guess')
})

test('submodules come with the same token', async () => {
  await using runner = await startRunner()
  const { server } = runner
  execFileSync('git', ['clone', '-q', '--bare', 'team/app.git', 'team/app.git.lib'], { cwd: server.folder })
  git(server, 'submodule', 'add', '-q', path.join(server.folder, 'team/app.git.lib'), 'lib')
  git(server, 'config', '-f', '.gitmodules', 'submodule.lib.url', '../app.git.lib')
  const sha = commit(server, 'with a submodule')
  const refspecs = ['+refs/heads/main:refs/remotes/origin/main']
  const job = server.offer({
    variables: [fetch, { key: 'GIT_SUBMODULE_STRATEGY', value: 'recursive' }],
    script: ['cat lib/README', 'if grep -rl glcbt . ; then exit 1; fi'],
  })
  Object.assign(job.payload.git_info, { sha, refspecs })

  const end = await job.ended

  expect(end, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\nread me\n')
  expect(server.refusedFetches).toEqual([])
})

test('configuration the job gives through the environment stays', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    variables: [
      fetch,
      { key: 'GIT_CONFIG_COUNT', value: '1' },
      { key: 'GIT_CONFIG_KEY_0', value: 'user.name' },
      { key: 'GIT_CONFIG_VALUE_0', value: 'Given' },
    ],
    script: ['git config user.name', 'git fetch -q origin'],
  })

  expect(await job.ended, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\nGiven\n')
})
