import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { startRunner } from './testing/runner.ts'

test('a job that succeeds', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({ script: ['echo hello', 'echo $CI_PROJECT_DIR; pwd'] })

  const end = await job.ended

  console.log(job.log, end, job.pieces)
  expect(end).toMatchObject({ state: 'success' })
  expect(end.output).toEqual({
    checksum: `crc32:${crc32(job.trace).toString(16).padStart(8, '0')}`,
    bytesize: job.trace.length,
  })
})

test('sources', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    variables: [{ key: 'GIT_STRATEGY', value: 'fetch' }],
    script: ['cat README', 'cat .git/config', 'git fetch origin && echo fetched', 'git log --oneline', 'id; env'],
  })
  const end = await job.ended
  console.log(job.log, end, job.pieces.map((p) => [p.at - job.handedOut, p.size]), runner.server.refusedFetches)
})
