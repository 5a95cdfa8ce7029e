// @module-tag long
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dies } from './testing/processes.ts'
import { startRunner } from './testing/runner.ts'

const asRoot = test.runIf(process.getuid?.() === 0)

asRoot('each job has a user of its own and sees nothing of the others', async () => {
  await using runner = await startRunner()
  const first = runner.server.offer({
    script: ['echo "user $(id -u)"', 'echo "here $CI_PROJECT_DIR"', 'echo private > note; sleep 1'],
  })
  await first.shows('\nhere ')
  const folder = /\nhere (.*)\n/.exec(first.log)![1]!
  const second = runner.server.offer({
    script: [
      'echo "user $(id -u) $(id -G)"',
      `ls ${folder} || echo "no entry"`,
      'ls $CI_BUILDS_DIR/../.. || echo "no list"',
      'ls $CI_BUILDS_DIR/.. || echo "no root"',
      'ls $CI_BUILDS_DIR/../../../cache || echo "no cache"',
    ],
  })

  await Promise.all([first.ended, second.ended])

  const [one, two] = [first, second].map((job) => Number(/\nuser (\d+)/.exec(job.log)?.[1]))
  expect(one).toBeGreaterThanOrEqual(61_000)
  expect(two).toBeGreaterThan(one!)
  expect(second.log).toContain(`\nuser ${two} ${two}\n`)
  for (const answer of ['no entry', 'no list', 'no root', 'no cache'])
    expect(second.log).toContain(`\n${answer}\n`)
})

asRoot(
  'where others may not come to the runner, whatever the umask, jobs have folders elsewhere',
  async () => {
    const closed = await mkdtemp(path.join(tmpdir(), 'runner-test-'))
    onTestFinished(() => rm(closed, { recursive: true }))
    const umask = process.umask(0o077)
    onTestFinished(() => void process.umask(umask))
    await using runner = await startRunner({ directory: path.join(closed, 'runner') })
    const job = runner.server.offer({
      script: ['echo "here $CI_PROJECT_DIR"', 'echo content > file; cat file'],
    })
    await job.ended
    expect(job.log).toContain('\ncontent\n')
    const folder = /\nhere (.*)\n/.exec(job.log)![1]!
    onTestFinished(() => rm(folder.replace(/\/jobs\/.*/, ''), { recursive: true }))
    expect(folder).not.toContain(closed)
  },
)

asRoot('a daemon that left its group dies with the job, and its files in shared folders go', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    script: [
      'setsid sleep 1234 >/dev/null 2>&1 & echo "daemon $!"; sleep 0.2',
      'echo "left $(mktemp /tmp/left.XXXXXX)"',
      'id -u',
    ],
  })
  await job.ended
  const [, pid] = /\ndaemon (\d+)\n/.exec(job.log)!
  const [, file] = /\nleft (.*)\n/.exec(job.log)!
  await runner.server.offer({}).ended
  await runner.stop()

  expect(await dies(Number(pid))).toBe(true)
  expect(() => execFileSync('ls', [file!], { stdio: 'ignore' })).toThrow()
})

asRoot('a job cannot make the runner read or write what it may not itself', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    script: ['rm -rf "$CI_PROJECT_DIR" && ln -s /etc "$CI_PROJECT_DIR"'],
    afterScript: ['pwd'],
    artifacts: [{ paths: ['shadow', 'ssl/private'], artifact_type: 'archive', artifact_format: 'zip' }],
    cache: [{ key: 'k', paths: ['shadow'] }],
  })

  await job.ended

  expect(job.uploads).toEqual([])
  expect(job.log).toContain('is not where it was')
})

test('without other users jobs run as the runner', async () => {
  await using runner = await startRunner({ user: 'same' })
  const job = runner.server.offer({
    script: ['echo "user $(id -u)"', 'echo a > a', 'mkdir ro && touch ro/x && chmod 500 ro'],
    artifacts: [{ paths: ['a'], artifact_type: 'archive', artifact_format: 'zip' }],
  })

  expect(await job.ended).toMatchObject({ state: 'success' })
  expect(job.log).toContain(`\nuser ${process.getuid?.()}\n`)
  expect(job.uploads).toHaveLength(1)
})
