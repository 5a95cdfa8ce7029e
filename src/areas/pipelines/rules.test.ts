import { expect, test } from 'vitest'
import type { MachineJob } from './machine.ts'
import { hasSkipMarker, isRetriedByItself, skippedAfter } from './rules.ts'

test.each([
  ['Fix it [ci skip]', true],
  ['[SKIP-CI] later', true],
  ['text\n\n[skip_ci]', true],
  ['[ci-skip]', true],
  ['ci skip', false],
  ['[ci  skip]', false],
])('%j asks for no jobs: %s', (message, skips) => expect(hasSkipMarker(message)).toBe(skips))

const failed = (reason: string | null, exitCode: number | null = null) => ({ reason, exitCode })
const retry = (max: number, when: string[] = ['always'], exitCodes: number[] = []) => ({
  max,
  when,
  exitCodes,
})

test.each([
  [{ retry: null, attempt: 0 }, failed('script_failure'), false],
  [{ retry: null, attempt: 1 }, failed('scheduler_failure'), true],
  [{ retry: null, attempt: 2 }, failed('scheduler_failure'), false],
  [{ retry: retry(2), attempt: 1 }, failed('script_failure'), true],
  [{ retry: retry(2), attempt: 2 }, failed('script_failure'), false],
  [{ retry: retry(2), attempt: 0 }, failed('missing_dependency_failure'), false],
  [{ retry: retry(1, ['api_failure']), attempt: 0 }, failed('script_failure'), false],
  [{ retry: retry(1, [], [3]), attempt: 0 }, failed('script_failure', 3), true],
  [{ retry: retry(1, [], [3]), attempt: 0 }, failed('script_failure', 4), false],
])('%j after %j is run again: %s', (job, end, again) => expect(isRetriedByItself(job, end)).toBe(again))

test('what was skipped after a job: later stages, and whatever needs it, also through others', () => {
  const job = (id: number, name: string, stage: number, status: string, needs: string[] | null = null) =>
    ({ id, name, stage_index: stage, status, needs }) as MachineJob
  const jobs = [
    job(1, 'again', 1, 'failed'),
    job(2, 'later', 2, 'skipped'),
    job(3, 'needs it', 1, 'skipped', ['again']),
    job(4, 'needs that', 1, 'skipped', ['needs it']),
    job(5, 'needs another', 2, 'skipped', ['other']),
    job(6, 'ran', 2, 'success'),
  ]
  expect(skippedAfter(jobs, 'again', 1).sort()).toEqual([2, 3, 4])
})
