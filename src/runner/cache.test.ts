// @module-tag long
import { expect, test } from 'vitest'
import { cacheFolderName } from './cache.ts'
import { startRunner } from './testing/runner.ts'

test('a cache is kept from job to job, by project and key', async () => {
  await using runner = await startRunner()
  const cache = [{ key: 'main-$SUFFIX', paths: ['vendor/'], policy: 'pull-push' }]
  const variables = [{ key: 'SUFFIX', value: '../../x' }]
  const script = ['cat vendor/count || true', 'mkdir -p vendor; echo run >> vendor/count']
  const jobs = []
  for (let round = 0; round < 3; round++) {
    const job = runner.server.offer({ cache, variables, script })
    expect(await job.ended, job.log).toMatchObject({ state: 'success' })
    jobs.push(job)
  }
  const stranger = runner.server.offer({
    cache,
    variables,
    script,
    job_info: { name: 'x', project_id: 8, project_full_path: 'a/b' },
  })
  await stranger.ended

  expect(jobs[0]!.log).toContain('No cache found')
  expect(jobs[2]!.log).toContain('\nrun\nrun\n')
  expect(jobs[2]!.log).toContain('Successfully extracted cache')
  expect(stranger.log).toContain('No cache found')
})

test('policy, when and fallback keys', async () => {
  await using runner = await startRunner()
  const job = async (cache: object, script: string[], variables: { key: string; value: string }[] = []) => {
    const served = runner.server.offer({ cache: [{ paths: ['c'], ...cache }], script, variables })
    await served.ended
    return served
  }
  await job({ key: 'pulled', policy: 'pull' }, ['echo 1 > c'])
  await job({ key: 'failed', when: 'on_failure' }, ['echo 1 > c'])
  await job({ key: 'base', policy: 'push' }, ['echo base > c'])
  await job({ key: 'x-protected' }, ['echo secret > c'])

  const none = await job({ key: 'pulled', fallback_keys: ['failed'] }, ['test ! -e c'])
  const fallback = await job({ key: 'new', policy: 'pull', fallback_keys: ['none', 'base'] }, ['cat c'])
  const steal = await job(
    { key: 'mine', policy: 'pull' },
    ['test ! -e c'],
    [{ key: 'CACHE_FALLBACK_KEY', value: 'x-protected' }],
  )

  expect(none.log).toContain('Job succeeded')
  expect(fallback.log).toContain('\nbase\n')
  expect(steal.log).toContain('is not allowed')
  expect(steal.log).toContain('Job succeeded')
})

test('a cache with links that lead out of the project comes back whole', async () => {
  await using runner = await startRunner()
  const cache = [{ key: 'venv', paths: ['venv'] }]
  const made = [
    'mkdir -p venv/bin && ln -s /usr/bin/env venv/bin/a && ln -s ../../../x venv/b && echo last > venv/z',
  ]
  await runner.server.offer({ cache, script: made }).ended

  const job = runner.server.offer({ cache, script: ['readlink venv/bin/a venv/b', 'cat venv/z'] })

  expect(await job.ended, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\n/usr/bin/env\n../../../x\n')
  expect(job.log).toContain('\nlast\n')
  expect(job.log).not.toContain('could not be extracted')
})

test('a key is one folder, whatever it is', () => {
  const keys = ['a', 'a/b', 'a%2Fb', '..', '.', '.a', '../../etc', 'é', 'x'.repeat(500), 'x'.repeat(501)]
  const names = keys.map(cacheFolderName)

  expect(new Set(names).size).toBe(keys.length)
  for (const name of names) expect(name).toMatch(/^[^./][^/]{0,150}$/)
})
