import { endpoint, project as projectKind, userOf } from '../../../access/index.ts'
import { Answer, Fields, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { refused } from '../../../kernel/errors/index.ts'
import { parseDuration, setSubscription } from '../../noteables/index.ts'
import { MergeRequest, timeStats, TimeStats } from '../entities.ts'
import { readableDetail, readableOne } from '../reading/one.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { showAgain } from '../show.ts'
import * as store from '../store.ts'
import { iid, readingOne, requestPath, requireUpdateOf, writingOne } from './reading.ts'

/** Who wants to hear of a request, and the time that goes into it. */
export function attendingEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db } = services
  const subscription = (wanted: boolean): Endpoint =>
    endpoint({
      method: 'POST',
      path: `${requestPath}/${wanted ? 'subscribe' : 'unsubscribe'}`,
      summary: wanted ? 'Subscribe to a merge request' : 'Unsubscribe from a merge request',
      on: projectKind,
      may: 'read_merge_request',
      ...writingOne,
      params: Fields(iid),
      answers: MergeRequest,
      description: 'Answers 304 where it is so already.',
      read: ({ params }) => readableDetail(params.merge_request_iid),
      async handle({ actor, project, rows }) {
        const { id, subscribed } = rows[0]!
        if (subscribed === wanted) return new Answer(304)
        await db.transaction((tx) =>
          setSubscription(tx, { type: 'MergeRequest', id }, userOf(actor).id, wanted),
        )
        return showAgain(services, actor, project, id)
      },
    })

  /** A change of the time; `of` tells what becomes of it, undefined for what cannot be. */
  const time = (
    name: string,
    summary: string,
    of: (row: MergeRequestRow, seconds: number) => store.Changes | undefined,
  ): Endpoint => {
    const takesDuration = !name.startsWith('reset')
    const params = takesDuration
      ? { ...iid, duration: Text({ blank: false, description: '`3h30m`' }), summary: Text({ default: '' }) }
      : ({ ...iid } as unknown as typeof iid & { duration: ReturnType<typeof Text> })
    return endpoint({
      method: 'POST',
      path: `${requestPath}/${name}`,
      summary,
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields(params),
      answers: TimeStats,
      status: takesDuration && name.startsWith('add') ? 201 : 200,
      read: ({ params: { merge_request_iid } }) => readableOne(merge_request_iid),
      async handle({ actor, project, params: sent, rows }) {
        requireUpdateOf(actor, project, rows[0]!)
        const seconds = takesDuration ? parseDuration(sent.duration) : 0
        return db.transaction(async (tx) => {
          const before = (await store.lock(tx, rows[0]!.id)) ?? rows[0]!
          const changes = seconds === undefined ? undefined : of(before, seconds)
          if (changes === undefined) throw refused(400, 'Time format is not correct')
          await store.change(tx, before.id, changes)
          return timeStats({ ...before, ...changes })
        })
      },
    })
  }

  return [
    subscription(true),
    subscription(false),
    endpoint({
      ...readingOne,
      path: `${requestPath}/time_stats`,
      summary: 'Get the time that is planned for a merge request and was spent on it',
      params: Fields(iid),
      answers: TimeStats,
      read: ({ params }) => readableOne(params.merge_request_iid),
      handle: async ({ rows }) => timeStats(rows[0]!),
    }),
    time('time_estimate', 'Set the time that is planned for a merge request', (_, seconds) =>
      seconds < 0 ? undefined : { time_estimate: seconds },
    ),
    time('reset_time_estimate', 'Plan no time for a merge request', () => ({ time_estimate: 0 })),
    time('add_spent_time', 'Add time that was spent on a merge request', (row, seconds) =>
      row.time_spent + seconds < 0 ? undefined : { time_spent: row.time_spent + seconds },
    ),
    time('reset_spent_time', 'Take back all time that was spent on a merge request', () => ({
      time_spent: 0,
    })),
  ]
}
