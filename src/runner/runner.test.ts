// @module-tag long
import { crc32 } from 'node:zlib'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startRunner } from './testing/runner.ts'

test('a job that succeeds', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['echo hello', 'pwd; echo "$CI_PROJECT_DIR"'] })

  const end = await job.ended

  expect(end).toMatchObject({ state: 'success' })
  expect(end.output).toEqual({
    checksum: `crc32:${crc32(job.trace).toString(16).padStart(8, '0')}`,
    bytesize: job.trace.length,
  })
  expect(job.log).toMatch(/^Running with guildhall-runner/)
  expect(job.log).toMatch(/section_start:\d+:step_script\r/)
  expect(job.log).toContain('\x1b[32;1m$ echo hello\x1b[0;m\nhello\n')
  expect(job.log).toMatch(/\n(\/.*\/builds\/team\/app)\n\1\n/)
  expect(job.log.endsWith('Job succeeded\x1b[0;m\n')).toBe(true)
})

test('the first command that fails ends the script and gives the exit code', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['echo one', 'false | true', 'exit 42', 'echo never'] })
  const piped = await job.ended
  const next = runner.server.offer({ script: ['(exit 42)', 'echo never'] })

  const end = await next.ended

  expect(piped).toMatchObject({ state: 'failed', failure_reason: 'script_failure', exit_code: 1 })
  expect(end).toMatchObject({ state: 'failed', failure_reason: 'script_failure', exit_code: 42 })
  expect(next.log).not.toContain('\nnever')
  expect(next.log.endsWith('ERROR: Job failed: exit code 42\x1b[0;m\n')).toBe(true)
})

test('the first output is there at once', async () => {
  await using runner = await startRunner()
  const warm = runner.server.offer({})
  await warm.ended
  const job = runner.server.offer({ script: ['echo first', 'sleep 3'] })

  await job.shows('\nfirst\n', 10_000)

  expect(performance.now() - job.handedOut).toBeLessThan(3000)
})

test('sources come by the real git, and the token is not left on the disk', async () => {
  await using runner = await startRunner()
  const variables = [{ key: 'GIT_STRATEGY', value: 'fetch' }]
  const script = [
    'cat README',
    'git status',
    'if grep -r glcbt . ../../../home; then exit 1; fi',
    'git fetch origin && git log --oneline',
  ]
  const job = runner.server.offer({ variables, script })

  const end = await job.ended

  expect(end, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('Fetching changes with git depth set to 20...')
  expect(job.log).toContain(`Checking out ${runner.server.sha.slice(0, 8)} as detached HEAD (ref is main)...`)
  expect(job.log).toContain('\nread me\n')
  expect(job.log).toContain('HEAD detached at')
  expect(job.log).not.toContain(job.payload.token)
})

test('sources that cannot be had are not the fault of the script', async () => {
  await using runner = await startRunner()
  const variables = [
    { key: 'GIT_STRATEGY', value: 'clone' },
    { key: 'GET_SOURCES_ATTEMPTS', value: '2' },
  ]
  const git = {
    repo_url: `${runner.server.url}/none.git`,
    ref: 'main',
    sha: '0'.repeat(40),
    refspecs: ['main'],
  }
  const job = runner.server.offer({ variables, git_info: git, afterScript: ['echo after'] })

  const end = await job.ended

  expect(end).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(job.log).toContain('attempt 2 of 2')
  expect(job.log).not.toContain('\nafter')
})

test('after_script runs in any case, knows the result, and does not change it', async () => {
  await using runner = await startRunner()
  const afterScript = ['echo "it was $CI_JOB_STATUS"', 'exit 3']
  const good = runner.server.offer({ afterScript })
  const bad = runner.server.offer({ script: ['exit 1'], afterScript })

  expect(await good.ended).toMatchObject({ state: 'success' })
  expect(await bad.ended).toMatchObject({ state: 'failed', exit_code: 1 })
  expect(good.log).toContain('\nit was success\n')
  expect(good.log).toContain('job will continue unaffected: exit code 3')
  expect(bad.log).toContain('\nit was failed\n')
})

test('a job may want to fail where its after_script does', async () => {
  await using runner = await startRunner()
  const variables = [{ key: 'AFTER_SCRIPT_IGNORE_ERRORS', value: 'false' }]
  const afterScript = ['echo after', 'exit 3']
  const artifacts = [{ paths: ['left'], when: 'on_failure' as const, artifact_type: 'archive' }]
  const job = runner.server.offer({ variables, script: ['touch left'], afterScript, artifacts })
  const bad = runner.server.offer({ variables, script: ['exit 1'], afterScript })
  const slow = runner.server.offer({
    variables: [...variables, { key: 'RUNNER_AFTER_SCRIPT_TIMEOUT', value: '1s' }],
    afterScript: ['sleep 100'],
  })

  expect(await job.ended).toMatchObject({ state: 'failed', failure_reason: 'script_failure', exit_code: 3 })
  expect(job.log).toContain('\nafter\n')
  expect(job.uploads).toHaveLength(1)
  expect(await bad.ended).toMatchObject({ state: 'failed', exit_code: 1 })
  expect(await slow.ended).toMatchObject({ state: 'failed', failure_reason: 'job_execution_timeout' })
})

test('more steps, hooks and inputs', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    variables: [{ key: 'GIT_STRATEGY', value: 'fetch' }],
    hooks: [{ name: 'pre_get_sources_script', script: ['git config --global user.name "In a hook"'] }],
    inputs: [{ key: 'env', value: { content: 'prod', type: 'string' } }],
    steps: [
      { name: 'script', script: ['echo to ${{ job.inputs.env }}', 'git config user.name'] },
      { name: 'broken', script: ['exit 1'], allow_failure: true },
      { name: 'release', script: ['echo released'], when: 'on_success' },
      { name: 'sorry', script: ['echo sorry'], when: 'on_failure' },
    ],
  })

  const end = await job.ended

  expect(end, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\nto prod\n')
  expect(job.log).toContain('\nIn a hook\n')
  expect(job.log).toContain('\nreleased\n')
  expect(job.log).not.toContain('\nsorry\n')
})

test('variables of any content reach the script, and nothing of the runner does', async () => {
  await using runner = await startRunner()
  process.env.SECRET_OF_THE_SERVER = 'do not tell'
  const odd = `'"\\ $(id) \`id\` é\n\ttab * %s`
  const job = runner.server.offer({
    variables: [
      { key: 'ODD', value: odd, raw: true },
      { key: 'LARGE', value: 'x'.repeat(300_000), raw: true },
      { key: 'CERT', value: 'in the file', file: true },
      { key: 'WHERE', value: '$CI_PROJECT_DIR/out:${CERT}:$$HOME' },
    ],
    script: [
      'printf "<%s>\\n" "$ODD" "${#LARGE}" "$WHERE"',
      'cat "$CERT"; stat -c " mode %a" "$CERT"',
      'env | grep SECRET || true',
      'read line || echo "no input"; echo out > /dev/stdout; echo err | tee /dev/stderr',
    ],
  })

  const end = await job.ended
  delete process.env.SECRET_OF_THE_SERVER

  expect(end, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain(`<${odd}>`)
  expect(job.log).toContain('<300000>')
  expect(job.log).toMatch(/<\/.*\/builds\/team\/app\/out:\/.*\/app.tmp\/CERT:\$HOME>/)
  expect(job.log).toContain('in the file mode 600\n')
  expect(job.log).not.toContain('do not tell')
  expect(job.log).toContain('\nno input\nout\nerr\nerr\n')
})

test('secrets are hidden however they are written', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    variables: [{ key: 'SECRET', value: 'hunter2-hunter2', masked: true, raw: true }],
    script: [
      'echo "all $SECRET"; echo shown hunter2-hunter2',
      'for i in $(seq 0 14); do printf %s "${SECRET:$i:1}"; sleep 0.01; done; echo',
      'echo glpat-abcdefghij',
      'printf "end hunter2-h"',
    ],
  })

  await job.ended

  expect(job.log).not.toContain('hunter2-hunter2')
  expect(job.log).toContain('all [MASKED]\n')
  expect(job.log).toContain('echo shown [MASKED]\x1b')
  expect(job.log).toContain('\n[MASKED]\n')
  expect(job.log).toContain('\nglpat-[MASKED]\n')
  expect(job.log).toContain('end hunter2-h')
})

test('output above the limit is cut, with a notice, and the end is still told', async () => {
  await using runner = await startRunner({ outputLimit: 10_000 })
  const job = runner.server.offer({ script: ['head -c 1000000 /dev/zero | tr "\\0" x'] })

  const end = await job.ended

  expect(end).toMatchObject({ state: 'success' })
  expect(job.trace.length).toBeLessThan(13_000)
  expect(job.log).toContain("Job's log exceeded limit of 10000 bytes.")
  expect(job.log).toContain('Job succeeded')
})

test('a large log arrives whole', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['seq 400000'] })

  const end = await job.ended

  expect(end.output).toMatchObject({ bytesize: job.trace.length })
  expect(job.log).toContain('\n399999\n400000\n')
})

test('jobs run beside one another, up to the number allowed', async () => {
  await using runner = await startRunner({ concurrency: 2 })
  const script = ['echo "id $CI_CONCURRENT_ID project $CI_CONCURRENT_PROJECT_ID"; sleep 0.5']
  const jobs = [1, 2, 3].map(() => runner.server.offer({ script }))

  await Promise.all(jobs.slice(0, 2).map((job) => job.shows('\nid ')))
  expect(jobs[2]!.handedOut).toBe(0)
  await Promise.all(jobs.map((job) => job.ended))

  const ids = jobs.slice(0, 2).map((job) => /id (\d) project (\d)\n/.exec(job.log)?.slice(1))
  expect(ids.sort()).toEqual([
    ['0', '0'],
    ['1', '1'],
  ])
})

test('nothing is left of a job', async () => {
  const runner = await startRunner()
  await using _ = runner
  const odd = 'mkdir -p a/b && touch a/b/c && chmod 000 a/b/c && chmod 500 a/b a && ln -s / root'
  const job = runner.server.offer({ script: [odd, 'touch /tmp/left-by-$CI_JOB_TOKEN'] })

  await job.ended
  await runner.stop()

  expect(await readdir(path.join(runner.directory, 'jobs'))).toEqual([])
})
