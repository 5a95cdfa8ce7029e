import { randomUUID } from 'node:crypto'
import { endpoint, may, project, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { branchName, branchRef, parseRefName, tagName, tagRef } from '../../git/index.ts'
import {
  Fields,
  Flag,
  Id,
  Json,
  ListOf,
  OneOf,
  Optional,
  Page,
  requireUnmodified,
  Text,
  whenChanged,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { enqueue } from '../../tasks/index.ts'
import { findRef, PipelineReference, pipelineSummary } from '../pipelines/index.ts'
import { schedule, Schedule, scheduleSummary, ScheduleSummary, type ScheduleRow } from './entities.ts'
import type { ScheduleServices } from './index.ts'
import * as rules from './rules.ts'
import { runOne, type Run } from './run.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['credentials', 'params', 'subject', 'may', 'record']
const longest = 255

export const oneSchedule = {
  on: project,
  record: 'Pipeline Schedule',
  read: ({ params }: { params: { pipeline_schedule_id: number } }) => store.one(params.pipeline_schedule_id),
} as const
const inputs = Optional(
  ListOf(
    Fields({
      name: Text({ blank: false, maxLength: longest }),
      value: Optional(Json()),
      destroy: Optional(Flag({ description: 'Takes it away' })),
    }),
    { description: 'Needs the flag ci_inputs_for_pipelines' },
  ),
)
export const scheduleId = { pipeline_schedule_id: Id() }

export function scheduleEndpoints(services: ScheduleServices): Endpoint[] {
  const { db, cipher, places, externalUrl, refProtection, settings } = services
  const plays = new RateLimit(1, 60)
  const shown = (row: ScheduleRow, actor: Actor, of: ProjectSubject) =>
    schedule(row, {
      project: of,
      externalUrl: externalUrl(),
      cipher,
      showsVariables: rules.showsVariables(actor, of, row),
      showsInputs: settings.flags.ci_inputs_for_pipelines,
    })

  /** The full name of a ref that the caller may run pipelines on. */
  const usableRef = async (actor: Actor, of: ProjectSubject, written: string): Promise<string> => {
    if (written.trim() === '') throw invalid({ ref: ["can't be blank"] })
    const found = await findRef(places.of(of), of.refsVersion, written)
    if (found === 'ambiguous') throw invalid({ ref: ['is ambiguous'] })
    if (found === 'missing') throw invalid({ ref: ['is invalid'] })
    if (!(await refProtection.mayRun(db.reader, actor, of, found))) throw forbidden()
    return (found.tag ? tagRef(found.name) : branchRef(found.name))!
  }
  /** The same of a schedule that is there; its ref may be gone by now. */
  const requireRef = async (actor: Actor, of: ProjectSubject, { ref }: ScheduleRow): Promise<void> => {
    const full = parseRefName(ref)
    const branch = full && branchName(full)
    const name = branch ?? (full && tagName(full)) ?? ref
    const allowed = await refProtection.mayRun(db.reader, actor, of, { name, tag: branch === undefined })
    if (!allowed) throw forbidden()
  }

  /** Without the feature they are not looked at. */
  const takenInputs = (given: readonly rules.GivenInput[] = []): readonly rules.GivenInput[] =>
    settings.flags.ci_inputs_for_pipelines ? given : []

  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/pipeline_schedules',
      summary: 'List the pipeline schedules of a project',
      on: project,
      may: 'read_pipeline_schedule',
      anonymous: true,
      paged: true,
      params: Fields({ scope: Optional(OneOf(['active', 'inactive'], {})) }),
      answers: ListOf(ScheduleSummary),
      read: ({ params, page }) => store.list(params.scope && params.scope === 'active', page),
      handle: async ({ rows }) => rows.map((row) => scheduleSummary(row, externalUrl())),
    }),

    endpoint({
      ...oneSchedule,
      method: 'GET',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
      summary: 'Get a pipeline schedule',
      may: 'read_pipeline_schedule',
      anonymous: true,
      params: Fields(scheduleId),
      answers: Schedule,
      handle: async ({ actor, project, rows }) => shown(rows[0]!, actor, project),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines',
      summary: 'List the pipelines that a schedule has started',
      on: project,
      may: 'read_pipeline_schedule',
      anonymous: true,
      paged: true,
      record: 'Pipeline Schedule',
      params: Fields(scheduleId),
      answers: ListOf(PipelineReference),
      read: ({ params, page }) => store.pipelinesOf(params.pipeline_schedule_id, page),
      async handle({ project, rows, page }) {
        const { pipelines, total } = rows[0]!
        const found = pipelines.map((row) => pipelineSummary(row, project, externalUrl()))
        return new Page(found, { total, hasMore: total > page.offset + page.limit })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/pipeline_schedules',
      summary: 'Create a pipeline schedule',
      description: 'What it starts runs in the name of its owner, who made it.',
      on: project,
      may: 'create_pipeline_schedule',
      checks: ['credentials', 'params', 'subject', 'may'],
      params: Fields({
        description: Text({ maxLength: longest }),
        ref: Text({ description: 'Branch or tag; the full name where there are both' }),
        cron: Text({ maxLength: longest, description: 'Five fields: minute, hour, day, month, weekday' }),
        cron_timezone: Text({ default: 'UTC', description: 'Name of a time zone' }),
        active: Flag({ default: true }),
        inputs,
      }),
      answers: Schedule,
      async handle({ actor, project, params }) {
        const { inputs: _inputs, ...asked } = params
        const values = rules.checked(asked, new Date())
        const ref = await usableRef(actor, project, params.ref)
        const given = rules.inputsAfter({}, takenInputs(params.inputs))
        const row = await store.create(
          db.writer,
          project.id,
          userOf(actor).id,
          { ...values, ref, inputs: given },
          settings.limits.ci_pipeline_schedules,
        )
        return shown(row, actor, project)
      },
    }),

    endpoint({
      ...oneSchedule,
      method: 'PUT',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
      summary: 'Change a pipeline schedule',
      may: 'create_pipeline_schedule',
      checks,
      params: Fields({
        ...scheduleId,
        description: Optional(Text({ maxLength: longest })),
        ref: Optional(Text()),
        cron: Optional(Text({ maxLength: longest })),
        cron_timezone: Optional(Text()),
        active: Optional(Flag()),
        inputs,
      }),
      answers: Schedule,
      refuses: { 403: 'It is the schedule of somebody else' },
      async handle({ actor, project, params, rows }) {
        const before = rows[0]!
        rules.requireOwner(actor, before)
        await requireRef(actor, project, before)
        const values = rules.checked(
          {
            description: params.description ?? before.description,
            ref: before.ref,
            cron: params.cron ?? before.cron,
            cron_timezone: params.cron_timezone ?? before.cron_timezone,
            active: params.active ?? before.active,
          },
          new Date(),
        )
        const ref = params.ref === undefined ? before.ref : await usableRef(actor, project, params.ref)
        const given = rules.inputsAfter(before.inputs, takenInputs(params.inputs))
        const row = await store.change(db.writer, before.id, { ...values, ref, inputs: given })
        if (row === undefined) throw notFound('Pipeline Schedule')
        return shown(row, actor, project)
      },
    }),

    endpoint({
      ...oneSchedule,
      method: 'DELETE',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id',
      summary: 'Delete a pipeline schedule',
      description: 'For its owner and Maintainers. What it has started stays.',
      may: 'create_pipeline_schedule',
      checks,
      params: Fields(scheduleId),
      answers: null,
      refuses: { ...whenChanged, 403: 'It is the schedule of somebody else' },
      async handle({ actor, project, rows, request }) {
        const row = rows[0]!
        if (!rules.isOwner(actor, row) && !may(actor, 'admin_pipeline_schedule', project)) throw forbidden()
        requireUnmodified(request, row.updated_at)
        await store.remove(db.writer, row.id)
      },
    }),

    endpoint({
      ...oneSchedule,
      method: 'POST',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/take_ownership',
      summary: 'Take a pipeline schedule over',
      may: 'admin_pipeline_schedule',
      checks,
      params: Fields(scheduleId),
      answers: Schedule,
      async handle({ actor, project, rows }) {
        const { next_run_at, ...before } = rows[0]!
        const row = await store.change(db.writer, before.id, {
          ...before,
          next_run_at: next_run_at === null ? null : new Date(next_run_at),
          owner_id: userOf(actor).id,
        })
        if (row === undefined) throw notFound('Pipeline Schedule')
        return shown(row, actor, project)
      },
    }),

    endpoint({
      ...oneSchedule,
      method: 'POST',
      path: '/projects/:id/pipeline_schedules/:pipeline_schedule_id/play',
      summary: 'Run a pipeline schedule now',
      description: 'In the name of the caller, once a minute. Its next run stays what it was.',
      may: 'create_pipeline_schedule',
      checks,
      params: Fields(scheduleId),
      answers: Fields({ message: Text() }),
      refuses: { 429: 'It was run less than a minute ago' },
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        await requireRef(actor, project, row)
        const user = userOf(actor).id
        plays.use(`${row.id} ${user}`)
        const payload: Run = { schedule: row.id, key: randomUUID(), user }
        await enqueue(db.writer, runOne, payload)
        return { message: '201 Created' }
      },
    }),
  ]
}
