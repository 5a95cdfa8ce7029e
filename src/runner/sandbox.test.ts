import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { settingsOf } from './options.ts'
import { openSandbox } from './sandbox.ts'
import { startRunner } from './testing/runner.ts'

const works = ((): boolean => {
  try {
    execFileSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const withTool = test.runIf(works)

withTool('in a sandbox a job sees its own folder and a machine that it cannot change', async () => {
  await using runner = await startRunner({ isolation: 'bwrap' })
  const job = runner.server.offer({
    script: [
      'echo made > made && cat made',
      'echo "user $(id -u)"',
      'if touch /usr/mine 2>/dev/null; then echo "machine open"; else echo "machine closed"; fi',
      'echo "temporary $(ls /tmp | wc -l)"',
      `echo "folders $(ls ${runner.directory}) $(ls ${runner.directory}/jobs | wc -l)"`,
      'echo "processes $(ls /proc | grep -c "^[0-9]")"',
      'echo "kept" > /tmp/kept; cat /tmp/kept',
      'sleep 300 &',
    ],
    artifacts: [{ paths: ['made'], artifact_type: 'archive', artifact_format: 'zip' }],
  })

  expect(await job.ended).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\nmade\n')
  expect(job.log).toContain('\nmachine closed\n')
  expect(job.log).toContain('\nfolders jobs 1\n')
  expect(job.log).toContain('\nkept\n')
  expect(Number(/\nprocesses (\d+)\n/.exec(job.log)?.[1])).toBeLessThan(10)
  expect(job.uploads).toHaveLength(1)
})

withTool('exit codes come out of it, and a script that is stopped has its time', async () => {
  await using runner = await startRunner({ isolation: 'bwrap', killGrace: 10 })
  const failing = runner.server.offer({ script: ['exit 42'] })
  expect(await failing.ended).toMatchObject({ state: 'failed', exit_code: 42 })
  const slow = runner.server.offer({
    script: ["trap 'echo cleaned up; exit 0' TERM", 'echo ready', 'sleep 300 & wait'],
    afterScript: ['echo "after $CI_JOB_STATUS"'],
  })
  await slow.shows('\nready')
  slow.status = 'canceling'
  await slow.ended
  expect(slow.log).toContain('\ncleaned up\n')
  expect(slow.log).toContain('\nafter canceled\n')
})

test('where it is not there, or does not work, that is told', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'runner-tools-'))
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) })
  const options = {
    url: '',
    token: '',
    systemId: '',
    concurrency: 1,
    directory: folder,
    signal: new AbortController().signal,
  }
  const settings = settingsOf({ ...options, isolation: 'bwrap', user: 'same', path: folder, log })
  try {
    expect(await openSandbox(settings, folder)).toBeUndefined()
    await writeFile(path.join(folder, 'bwrap'), '#!/bin/sh\necho no namespaces here >&2\nexit 1\n', {
      mode: 0o755,
    })
    expect(await openSandbox(settings, folder)).toBeUndefined()
    expect(await openSandbox({ ...settings, isolation: 'none' }, folder)).toBeUndefined()
  } finally {
    await rm(folder, { recursive: true })
  }
  expect(warnings).toEqual([
    expect.stringContaining('bwrap is not installed'),
    expect.stringMatching(/no namespaces here.*bwrap does not work here/),
  ])
})
