import { endpoint, project } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Optional,
  Text,
  Timestamp,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { check } from './rules.ts'
import * as store from './store.ts'

const FreezePeriod = Fields({
  id: Id(),
  freeze_start: Text(),
  freeze_end: Text(),
  cron_timezone: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
})

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const path = '/projects/:id/freeze_periods'
const cron = (description: string) => Text({ maxLength: 255, description })
const values = {
  freeze_start: cron('When a freeze begins. Five fields: minute, hour, day, month, weekday'),
  freeze_end: cron('When it ends, in the same form'),
}

export function freezePeriodEndpoints(db: Database): Endpoint[] {
  const one = {
    on: project,
    checks,
    path: `${path}/:freeze_period_id`,
    record: true,
    read: ({ params }: { params: { freeze_period_id: number } }) => store.one(params.freeze_period_id),
  } as const
  const id = { freeze_period_id: Id() }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the freeze periods of a project',
      on: project,
      may: 'read_freeze_period',
      checks,
      paged: true,
      answers: ListOf(FreezePeriod),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      ...one,
      method: 'GET',
      summary: 'Get a freeze period',
      may: 'read_freeze_period',
      params: Fields(id),
      answers: FreezePeriod,
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create a freeze period',
      description: 'While it is on, pipelines and their rules see `CI_DEPLOY_FREEZE`.',
      on: project,
      may: 'admin_freeze_period',
      checks,
      params: Fields({
        ...values,
        cron_timezone: Text({ default: 'UTC', description: 'Name of a time zone' }),
      }),
      answers: FreezePeriod,
      refuses: { 400: 'A time is none' },
      async handle({ project, params }) {
        const { freeze_start, freeze_end, cron_timezone } = params
        const period = { freeze_start, freeze_end, cron_timezone }
        check(period)
        return store.create(db.writer, project.id, period)
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      summary: 'Change a freeze period',
      may: 'admin_freeze_period',
      params: Fields({
        ...id,
        freeze_start: Optional(values.freeze_start),
        freeze_end: Optional(values.freeze_end),
        cron_timezone: Optional(Text()),
      }),
      answers: FreezePeriod,
      refuses: { 400: 'A time is none' },
      async handle({ params, rows }) {
        const before = rows[0]!
        const period = {
          freeze_start: params.freeze_start ?? before.freeze_start,
          freeze_end: params.freeze_end ?? before.freeze_end,
          cron_timezone: params.cron_timezone ?? before.cron_timezone,
        }
        check(period)
        const changed = await store.change(db.writer, before.id, period)
        if (changed === undefined) throw notFound('Freeze Period')
        return changed
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      summary: 'Delete a freeze period',
      may: 'admin_freeze_period',
      params: Fields(id),
      answers: null,
      handle: async ({ rows }) => store.remove(db.writer, rows[0]!.id),
    }),
  ]
}
