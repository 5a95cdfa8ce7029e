import { describe, expect, test } from 'vitest'
import type { Status } from '../types.ts'
import { countsForDuration, meanCoverage, runningSeconds } from './calculations.ts'
import { compositeStatus, hasWarnings } from './composite.ts'
import { extractCoverage } from './coverage.ts'
import { jobDetailedStatus, pipelineDetailedStatus } from './detailed.ts'
import * as groups from './groups.ts'
import { isPlayable, isRetryable, next, type JobEvent } from './transitions.ts'

/** `failed?` is a job that is allowed to fail. */
const part = (word: string) => ({ status: word.replace('?', '') as Status, allowFailure: word.endsWith('?') })
const parts = (words: string) => words.split(' ').filter(Boolean).map(part)

describe('composite status', () => {
  test.each([
    ['', 'success'],
    ['skipped', 'skipped'],
    ['manual? skipped', 'skipped'],
    ['manual?', 'skipped'],
    ['success', 'success'],
    ['success skipped manual?', 'success'],
    ['success failed?', 'success'],
    ['failed?', 'success'],
    ['canceled?', 'success'],
    ['created', 'created'],
    ['created failed?', 'created'],
    ['created created manual?', 'created'],
    ['preparing', 'preparing'],
    ['canceled success', 'canceled'],
    ['canceled skipped', 'canceled'],
    ['pending', 'pending'],
    ['pending created skipped', 'pending'],
    ['pending success', 'running'],
    ['running created', 'running'],
    ['success running', 'running'],
    ['waiting_for_resource success', 'waiting_for_resource'],
    ['waiting_for_callback success', 'waiting_for_callback'],
    ['manual', 'manual'],
    ['success manual created', 'manual'],
    ['failed manual', 'manual'],
    ['scheduled success', 'scheduled'],
    ['preparing success', 'preparing'],
    ['created success', 'running'],
    ['failed created', 'running'],
    ['canceled created', 'running'],
    ['canceling success', 'canceling'],
    ['failed', 'failed'],
    ['failed success', 'failed'],
    ['canceled failed', 'failed'],
    ['failed failed?', 'failed'],
  ])('%s: %s', (jobs, status) => expect(compositeStatus(parts(jobs))).toBe(status))

  test.each([
    ['', 'success'],
    ['success', 'success'],
    ['success skipped', 'skipped'],
    ['success manual?', 'skipped'],
    ['failed skipped', 'skipped'],
    ['success failed?', 'success'],
    ['success failed', 'failed'],
  ])('of needs: %s: %s', (jobs, status) =>
    expect(compositeStatus(parts(jobs), { asNeeds: true })).toBe(status),
  )

  test('warnings', () => {
    expect(hasWarnings(parts('success failed?'))).toBe(true)
    expect(hasWarnings(parts('success manual? failed'))).toBe(false)
  })
})

test('groups', () => {
  expect(groups.statuses.filter(groups.isCompleted)).toEqual(['success', 'failed', 'canceled', 'skipped'])
  expect(groups.statuses.filter(groups.isStopped)).toEqual([
    'success',
    'failed',
    'canceled',
    'skipped',
    'manual',
  ])
  expect(groups.statuses.filter((status) => groups.isCancelable(status) && !groups.isAlive(status))).toEqual([
    'manual',
    'scheduled',
  ])
  expect(groups.reportedPipelineStatus('canceling')).toBe('running')
})

describe('transitions', () => {
  // Every way there is; what is not here must not be possible.
  const ways: [event: JobEvent, from: string, to: Status][] = [
    [{ type: 'process' }, 'skipped manual', 'created'],
    [{ type: 'enqueue' }, 'created skipped manual scheduled', 'pending'],
    [{ type: 'enqueue', unmetPrerequisites: true }, 'created skipped manual scheduled', 'preparing'],
    [
      { type: 'enqueue', resourceGroup: true, unmetPrerequisites: true },
      'created skipped manual scheduled',
      'waiting_for_resource',
    ],
    [{ type: 'resource_granted' }, 'waiting_for_resource', 'pending'],
    [{ type: 'resource_granted', unmetPrerequisites: true }, 'waiting_for_resource', 'preparing'],
    [{ type: 'prepared' }, 'preparing', 'pending'],
    [{ type: 'run' }, 'pending', 'running'],
    [{ type: 'actionize' }, 'created', 'manual'],
    [{ type: 'schedule' }, 'created', 'scheduled'],
    [{ type: 'unschedule' }, 'scheduled', 'manual'],
    [{ type: 'skip' }, 'created waiting_for_resource preparing pending', 'skipped'],
    [
      { type: 'success' },
      'created waiting_for_resource waiting_for_callback preparing pending running',
      'success',
    ],
    [{ type: 'success' }, 'canceling', 'canceled'],
    [
      { type: 'drop' },
      'created waiting_for_resource waiting_for_callback preparing pending running manual scheduled',
      'failed',
    ],
    [{ type: 'drop' }, 'canceling', 'canceled'],
    [
      { type: 'cancel' },
      'created waiting_for_resource waiting_for_callback preparing pending running manual scheduled',
      'canceled',
    ],
    [{ type: 'cancel', graceful: true }, 'running', 'canceling'],
    [
      { type: 'cancel', graceful: true },
      'created waiting_for_resource waiting_for_callback preparing pending manual scheduled',
      'canceled',
    ],
    [{ type: 'force_cancel' }, 'canceling', 'canceled'],
  ]
  const events = [...new Map(ways.map(([event]) => [JSON.stringify(event), event])).values()]
  test.each(events)('%j', (event) => {
    const mine = ways.filter(([other]) => JSON.stringify(other) === JSON.stringify(event))
    for (const status of groups.statuses) {
      const to = mine.find(([, from]) => from.split(' ').includes(status))?.[2] ?? null
      expect([status, next(status, event)]).toEqual([status, to])
    }
  })

  test('what can be retried and played', () => {
    expect(groups.statuses.filter(isRetryable)).toEqual(['success', 'failed', 'canceling', 'canceled'])
    expect(isPlayable({ status: 'manual', when: 'manual' })).toBe(true)
    expect(isPlayable({ status: 'skipped', when: 'manual' })).toBe(true)
    expect(isPlayable({ status: 'skipped', when: 'always' })).toBe(false)
    expect(isPlayable({ status: 'success', when: 'manual' })).toBe(false)
  })
})

describe('detailed status', () => {
  test('of pipelines', () => {
    expect(pipelineDetailedStatus('success', false)).toEqual({
      icon: 'status_success',
      text: 'Passed',
      label: 'passed',
      group: 'success',
      tooltip: 'passed',
      favicon: 'favicon_status_success',
    })
    expect(pipelineDetailedStatus('success', true)).toMatchObject({
      text: 'Warning',
      group: 'success-with-warnings',
      icon: 'status_warning',
    })
    expect(pipelineDetailedStatus('manual', false)).toMatchObject({
      text: 'Blocked',
      label: 'waiting for manual action',
    })
    expect(pipelineDetailedStatus('scheduled', false)).toMatchObject({ text: 'Delayed' })
    expect(pipelineDetailedStatus('canceling', false)).toMatchObject({ text: 'Running' })
    expect(pipelineDetailedStatus('waiting_for_resource', false)).toMatchObject({
      text: 'Waiting',
      group: 'waiting-for-resource',
      icon: 'status_pending',
    })
  })

  test.each([
    [
      { status: 'manual', allowFailure: true },
      { text: 'Manual', label: 'manual play action' },
    ],
    [
      { status: 'manual', allowFailure: true, stops: true, playable: false },
      { label: 'manual stop action (not allowed)' },
    ],
    [
      { status: 'scheduled', allowFailure: false, startsIn: 3723 },
      { text: 'Scheduled', tooltip: 'delayed manual action (01:02:03)' },
    ],
    [
      { status: 'failed', allowFailure: false, failureReason: 'script_failure' },
      { label: 'failed', tooltip: 'Failed - (script failure)' },
    ],
    [
      { status: 'failed', allowFailure: true, failureReason: 'api_failure', retried: true },
      {
        group: 'failed-with-warnings',
        icon: 'status_warning',
        tooltip: 'Failed - (API failure) (allowed to fail) (retried)',
      },
    ],
    [
      { status: 'failed', allowFailure: false, failureReason: 'constructor' },
      { tooltip: 'Failed - (constructor)' },
    ],
    [{ status: 'canceling', allowFailure: false }, { text: 'Canceling' }],
    [
      { status: 'success', allowFailure: true },
      { text: 'Passed', tooltip: 'passed' },
    ],
  ] as const)('of jobs: %j', (job, expected) => expect(jobDetailedStatus(job)).toMatchObject(expected))
})

describe('calculations', () => {
  test.each([
    [[], 0],
    [[[0, 10]], 10],
    [
      [
        [0, 10],
        [5, 20],
      ],
      20,
    ],
    [
      [
        [0, 10],
        [2, 5],
      ],
      10,
    ],
    [
      [
        [30, 40],
        [0, 10],
      ],
      20,
    ],
    [
      [
        [0, 10],
        [10, 20],
      ],
      20,
    ],
    [[[10, 0]], 0],
  ])('%j take %d s', (pairs, seconds) =>
    expect(
      runningSeconds(pairs.map(([from, to]) => ({ startedAt: from! * 1000, finishedAt: to! * 1000 }))),
    ).toBe(seconds),
  )
  test('whole seconds of the sum, not the sum of whole seconds', () => {
    expect(
      runningSeconds([
        { startedAt: 0, finishedAt: 700 },
        { startedAt: 1000, finishedAt: 1700 },
      ]),
    ).toBe(1)
    expect(groups.statuses.filter(countsForDuration)).toEqual(['running', 'success', 'failed', 'canceled'])
  })
  test('mean coverage', () => {
    expect(meanCoverage([])).toBeNull()
    expect(meanCoverage([null])).toBeNull()
    expect(meanCoverage([80, null, 85.5])).toBe('82.75')
    expect(meanCoverage([33.333])).toBe('33.33')
  })
  test.each([
    ['Total 10%\nTotal 84.5%\nbye', 'Total \\d+(\\.\\d+)?%', 84.5],
    ['Total 10%\r\nTotal 20%, Total 30%\r\n', 'Total (\\d+)%', 30],
    ['\u001b[32mTotal 12%\u001b[0m', '^Total (\\d+)%$', 12],
    ['Total 10%\nTotal 84%\nbye', 'Total \\d+(\\.\\d+)?%', 84],
    ['TOTAL 100 20 80%', '^TOTAL.+?(\\d+\\%)$', 80],
    ['Total x', 'Total (.*)', null],
    ['Total 3\nTotal x', 'Total (.*)', 3],
    ['', '\\d+', null],
    ['1', '(', null],
    ['a 7 b', '[a-z]+ \\d+', 7],
  ])('coverage of %j by %s is %s', (trace, pattern, expected) =>
    expect(extractCoverage(trace, pattern)).toBe(expected),
  )
})
