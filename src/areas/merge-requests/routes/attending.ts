import { endpoint, project as projectKind, userOf } from '../../../access/index.ts'
import { Answer, DateTime, Fields, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { refused } from '../../../kernel/errors/index.ts'
import type { Tx } from '../../../kernel/db/index.ts'
import { toldOfEstimate, toldOfSpent, type Told } from '../../issues/index.ts'
import {
  parseDuration,
  resetSpentTime,
  setSubscription,
  setTimeEstimate,
  spendTime,
} from '../../noteables/index.ts'
import { MergeRequest, timeStats, TimeStats } from '../entities.ts'
import { readableDetail, readableOne } from '../reading/one.ts'
import type { MergeRequestServices } from '../services.ts'
import { showAgain, surroundings } from '../show.ts'
import * as store from '../store.ts'
import { tellOf } from '../system-notes.ts'
import { iid, readingOne, requestPath, requireUpdateOf, writingOne } from './reading.ts'

/** Who wants to hear of a request, and the time that goes into it. */
export function attendingEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db } = services
  const subscription = (wanted: boolean): Endpoint =>
    endpoint({
      method: 'POST',
      path: `${requestPath}/${wanted ? 'subscribe' : 'unsubscribe'}`,
      whileArchived: true,
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

  /** A change of the time: what is done, and what is told of it. Without a duration: all of it is forgotten. */
  const time = (
    name: 'time_estimate' | 'reset_time_estimate' | 'add_spent_time' | 'reset_spent_time',
    summary: string,
    change: (tx: Tx, on: Timed, sent: SentTime) => Promise<Told>,
  ): Endpoint => {
    const takesDuration = !name.startsWith('reset')
    const params = takesDuration
      ? {
          ...iid,
          duration: Text({ blank: false, description: '`3h30m`' }),
          summary: Text({ default: '' }),
          ...(name === 'add_spent_time' && {
            spent_at: Optional(DateTime({ description: 'Now unless told' })),
          }),
        }
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
      status: name === 'add_spent_time' ? 201 : 200,
      read: ({ params: { merge_request_iid } }) => readableOne(merge_request_iid),
      async handle({ actor, project, params: sent, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        const seconds = takesDuration ? parseDuration(sent.duration) : 0
        if (seconds === undefined || (name === 'time_estimate' && seconds < 0)) {
          throw refused(400, 'Time format is not correct')
        }
        const user = userOf(actor).id
        const { summary = '', spent_at: at } = sent as { summary?: string; spent_at?: Date }
        return db.transaction(async (tx) => {
          const on = { type: 'MergeRequest', id: row.id, user } as const
          await tellOf(tx, row, user, [await change(tx, on, { seconds, summary, at })])
          return timeStats((await store.find(tx, row.id)) ?? row, surroundings(services))
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
      handle: async ({ rows }) => timeStats(rows[0]!, surroundings(services)),
    }),
    time('time_estimate', 'Set the time that is planned for a merge request', async (tx, on, { seconds }) => {
      await setTimeEstimate(tx, on, seconds)
      return toldOfEstimate(seconds)
    }),
    time('reset_time_estimate', 'Plan no time for a merge request', async (tx, on) => {
      await setTimeEstimate(tx, on, 0)
      return toldOfEstimate(0)
    }),
    time(
      'add_spent_time',
      'Add time that was spent on a merge request',
      async (tx, on, { seconds, summary, at }) => {
        await spendTime(tx, on, on.user, {
          seconds,
          summary: summary === '' ? null : summary.slice(0, 255),
          at,
        })
        return toldOfSpent(seconds, at)
      },
    ),
    time('reset_spent_time', 'Take back all time that was spent on a merge request', async (tx, on) => {
      await resetSpentTime(tx, on)
      return toldOfSpent(null)
    }),
  ]
}

interface SentTime {
  readonly seconds: number
  readonly summary: string
  readonly at: Date | undefined
}

/** A request whose time is changed, and by whom. */
interface Timed {
  readonly type: 'MergeRequest'
  readonly id: number
  readonly user: number
}
