import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Status, When } from '../types.ts'
import { isCompleted } from './groups.ts'
import { whichJobsProceed, type SchedulableJob } from './scheduling.ts'
import { next, type JobEvent } from './transitions.ts'

/** `2:name=status` in stage 2; `?` allowed to fail; `!manual` when; `<a,b` needs. */
function job(text: string): SchedulableJob {
  const match = /^(\d):(\w+)=([a-z_]+)(\?)?(?:!(\w+))?(?:<([\w,]*))?$/.exec(text)!
  const [, stage, name, status, allowed, when = 'on_success', needs] = match
  return {
    name: name!,
    stageIndex: Number(stage),
    status: status as Status,
    allowFailure: allowed !== undefined,
    when: when as When,
    needs:
      needs === undefined
        ? null
        : needs
            .split(',')
            .filter(Boolean)
            .map((need) => ({ name: need })),
  }
}

const turns = (jobs: string) =>
  whichJobsProceed(jobs.split(' ').map(job))
    .map((answer) => `${answer.job.name} ${answer.turn}`)
    .join(', ')

test.each([
  ['1:a=created 1:b=created 2:c=created', 'a enqueue, b enqueue'],
  ['1:a=running 1:b=success 2:c=created', ''],
  ['1:a=success 2:c=created 3:d=created', 'c enqueue'],
  ['1:a=failed 2:c=created 3:d=created', 'c skip'],
  ['1:a=failed 2:c=skipped 3:d=created', 'd skip'],
  ['1:a=failed? 2:c=created', 'c enqueue'],
  ['1:a=skipped 2:c=created', 'c enqueue'],
  ['1:a=canceled 2:c=created 2:d=created!always 2:e=created!on_failure', 'c skip, d skip, e skip'],
  ['1:a=canceling 2:c=created!always', ''],
  ['1:a=failed 2:c=created!on_failure 2:d=created!always 2:e=created!manual', 'c enqueue, d enqueue, e skip'],
  [
    '1:a=success 2:c=created!on_failure 2:d=created!always 2:e=created!manual 2:f=created!delayed',
    'c skip, d enqueue, e actionize, f schedule',
  ],
  ['1:a=failed 1:b=created 2:c=created!on_failure', 'b enqueue'],
  // Earlier failures count also with a success between.
  ['1:a=failed 2:b=success 3:c=created!on_failure', 'c enqueue'],
  // Manual jobs: optional ones hold nobody up, others do.
  ['1:a=manual? 2:c=created', 'c enqueue'],
  ['1:a=manual 2:c=created', ''],
  ['1:a=scheduled 2:c=created', ''],
  // Needs look over stages.
  ['1:a=success 1:b=running 2:c=created<a 2:d=created', 'c enqueue'],
  ['1:a=running 2:c=created<', 'c enqueue'],
  ['1:a=running 2:c=created<gone', 'c enqueue'],
  ['1:a=created!on_failure<', 'a skip'],
  ['1:a=failed 2:c=created<a 2:d=created!on_failure<a 2:e=created!always<a', 'c skip, d enqueue, e enqueue'],
  ['1:a=skipped 1:b=success 2:c=created<a,b 2:e=created!always<a', 'c skip, e enqueue'],
  ['1:a=manual? 1:b=success 2:c=created<a,b', 'c skip'],
  ['1:a=manual? 1:b=running 2:c=created!always<a,b', ''],
  ['1:a=skipped 1:b=running 2:c=created!always<a,b', ''],
  ['1:a=manual 2:c=created<a', ''],
  ['1:a=created 1:b=created<a', 'a enqueue'],
])('%s: %s', (jobs, expected) => expect(turns(jobs)).toBe(expected))

const whens: When[] = ['on_success', 'on_failure', 'always', 'manual', 'delayed']
const arbitraryJob = fc.record({
  stageIndex: fc.nat(4),
  when: fc.constantFrom(...whens),
  allowFailure: fc.boolean(),
  needs: fc.option(fc.array(fc.nat(19), { maxLength: 4 })),
})
const pipeline = fc.array(arbitraryJob, { minLength: 1, maxLength: 20 }).map((all) => {
  const ordered = [...all].sort((a, b) => a.stageIndex - b.stageIndex)
  return ordered.map((one, index): SchedulableJob => ({
    ...one,
    name: `j${index}`,
    status: 'created',
    // Only jobs before it, so that there is no circle.
    needs: one.needs?.filter((need) => need < index).map((need) => ({ name: `j${need}` })) ?? null,
  }))
})

test('every pipeline ends, in bounded steps, and nothing runs before what it needs', () => {
  fc.assert(
    fc.property(pipeline, fc.infiniteStream(fc.nat(99)), (jobs, chance) => {
      const roll = (sides: number) => (chance.next().value as number) % sides
      const move = (one: SchedulableJob, event: JobEvent) => {
        const to = next(one.status, event)
        expect(to).not.toBeNull()
        one.status = to!
      }
      for (let steps = 0; jobs.some(({ status }) => !isCompleted(status)); steps++) {
        expect(steps).toBeLessThan(jobs.length * 3)
        for (let answers = whichJobsProceed(jobs); answers.length > 0; answers = whichJobsProceed(jobs)) {
          for (const { job: one, turn } of answers) {
            const before = jobs.filter((other) =>
              one.needs === null
                ? other.stageIndex < one.stageIndex
                : one.needs.some(({ name }) => name === other.name),
            )
            expect(
              before.every(
                ({ status, allowFailure }) => isCompleted(status) || (status === 'manual' && allowFailure),
              ),
            ).toBe(true)
            if (turn === 'enqueue' && one.when === 'on_success') {
              expect(
                before.every(
                  ({ status, allowFailure }) => allowFailure || !['failed', 'canceled'].includes(status),
                ),
              ).toBe(true)
            }
            move(one, { type: turn })
          }
        }
        if (jobs.every(({ status }) => isCompleted(status))) break
        // Somebody can always go on: a pipeline never waits for nothing.
        const movable = jobs.filter(({ status }) => !isCompleted(status) && status !== 'created')
        expect(movable).not.toEqual([])
        const one = movable[roll(movable.length)]!
        if (one.status === 'manual' || one.status === 'scheduled')
          move(one, { type: roll(3) === 0 ? 'cancel' : 'enqueue' })
        else if (one.status === 'pending') move(one, { type: 'run' })
        else if (one.status === 'running') {
          move(one, (['success', 'success', 'drop', 'cancel'] as const).map((type) => ({ type }))[roll(4)]!)
        }
      }
    }),
  )
})
