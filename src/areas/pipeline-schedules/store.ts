import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { PipelineSummaryRow } from '../pipelines/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { ScheduleRow, ScheduleSummaryRow, VariableRow } from './entities.ts'
import { limitReached } from './rules.ts'

const summaryColumns = sql`
  s.id, s.description, s.ref, s.cron, s.cron_timezone, s.next_run_at, s.active, s.created_at, s.updated_at,
  ${basicUserJson('u')} as owner`

const pipelineJson = sql`
  json_build_object('id', p.id, 'iid', p.iid, 'project_id', p.project_id, 'sha', p.sha, 'ref', p.ref,
    'status', p.status, 'source', p.source, 'created_at', p.created_at, 'updated_at', p.updated_at)`

const columns = sql`
  ${summaryColumns}, s.inputs,
  (select ${pipelineJson} from ci_pipelines p where p.schedule_id = s.id order by p.id desc limit 1) as last_pipeline,
  coalesce((
    select json_agg(json_build_object('key', v.key, 'secret', v.secret, 'variable_type', v.variable_type,
      'raw', v.raw) order by v.id)
    from ci_pipeline_schedule_variables v where v.schedule_id = s.id), '[]') as variables`

/** Of `ci_pipeline_schedules` itself, or of rows just written. */
const from = (source: RawBuilder<unknown>) => sql`from ${source} s left join users u on u.id = s.owner_id`
const table = from(sql`ci_pipeline_schedules`)

/** Read together with the caller's access: `subject` is the project. */
export function list(active: boolean | undefined, input: PageInput): Read<ScheduleSummaryRow> {
  const source = sql`
    ${table} where s.project_id = subject.id ${active === undefined ? sql`` : sql`and s.active = ${active}`}`
  return page({ columns: summaryColumns, from: source, order: sql`s.id` }, input)
}

export function one(id: number): Read<ScheduleRow> {
  return rows(sql`select ${columns} ${table} where s.id = ${id} and s.project_id = subject.id`)
}

/** One row where the schedule exists; the page of its pipelines in it. */
export function pipelinesOf(
  id: number,
  { limit, offset }: PageInput,
): Read<{ total: number; pipelines: PipelineSummaryRow[] }> {
  return rows(sql`
    select (select count(*) from ci_pipelines c where c.schedule_id = s.id) as total, coalesce((
      select json_agg(${pipelineJson} order by p.id) from (
        select x.* from ci_pipelines x where x.schedule_id = s.id order by x.id limit ${limit} offset ${offset}) p),
      '[]') as pipelines
    from ci_pipeline_schedules s where s.id = ${id} and s.project_id = subject.id`)
}

export interface Values {
  readonly description: string
  readonly ref: string
  readonly cron: string
  readonly cron_timezone: string
  readonly active: boolean
  readonly next_run_at: Date | null
  readonly inputs: Readonly<Record<string, unknown>>
}

/** One statement; the limit is looked at in it. */
export async function create(
  db: Writer,
  projectId: number,
  ownerId: number,
  values: Values,
  most: number,
): Promise<ScheduleRow> {
  const result = await sql<ScheduleRow>`
    with made as (
      insert into ci_pipeline_schedules
        (project_id, owner_id, description, ref, cron, cron_timezone, active, next_run_at, inputs)
      select ${projectId}, ${ownerId}, ${values.description}, ${values.ref}, ${values.cron}, ${values.cron_timezone},
        ${values.active}, ${values.next_run_at}, ${JSON.stringify(values.inputs)}::jsonb
      where (select count(*) from ci_pipeline_schedules c where c.project_id = ${projectId}) < ${most}::bigint
      returning *)
    select ${columns} ${from(sql`made`)}`.execute(db)
  const row = result.rows[0]
  if (row === undefined) throw limitReached(most)
  return row
}

export async function change(
  db: Writer,
  id: number,
  values: Values & { readonly owner_id?: number },
): Promise<ScheduleRow | undefined> {
  const result = await sql<ScheduleRow>`
    with changed as (
      update ci_pipeline_schedules s set description = ${values.description}, ref = ${values.ref},
        cron = ${values.cron}, cron_timezone = ${values.cron_timezone}, active = ${values.active},
        next_run_at = ${values.next_run_at}, inputs = ${JSON.stringify(values.inputs)}::jsonb,
        owner_id = coalesce(${values.owner_id ?? null}::bigint, s.owner_id),
        updated_at = now()
      where s.id = ${id} returning *)
    select ${columns} ${from(sql`changed`)}`.execute(db)
  return result.rows[0]
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('ci_pipeline_schedules as s').where('s.id', '=', id).execute()
}

export async function addVariable(db: Writer, scheduleId: number, variable: VariableRow): Promise<void> {
  await db
    .insertInto('ci_pipeline_schedule_variables')
    .values({ schedule_id: scheduleId, ...variable })
    .execute()
    .catch(
      onConstraint('ci_pipeline_schedule_variables_key', () =>
        invalid({ key: [`${variable.key} has already been taken`] }),
      ),
    )
}

export async function changeVariable(db: Writer, scheduleId: number, variable: VariableRow): Promise<void> {
  const { key, secret, variable_type, raw } = variable
  await db
    .updateTable('ci_pipeline_schedule_variables as v')
    .set({ secret, variable_type, raw })
    .where('v.schedule_id', '=', scheduleId)
    .where('v.key', '=', key)
    .execute()
}

export async function removeVariable(db: Writer, scheduleId: number, key: string): Promise<void> {
  await db
    .deleteFrom('ci_pipeline_schedule_variables as v')
    .where('v.schedule_id', '=', scheduleId)
    .where('v.key', '=', key)
    .execute()
}

/** A schedule that is to run. */
export interface RunRow {
  readonly id: number
  readonly project_id: number
  readonly owner_id: number | null
  readonly description: string
  readonly ref: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly variables: readonly VariableRow[]
}

export async function toRun(db: Reader, id: number): Promise<RunRow | undefined> {
  const { rows: found } = await sql<RunRow>`
    select s.id, s.project_id, s.owner_id, s.description, s.ref, s.inputs, coalesce((
      select json_agg(json_build_object('key', v.key, 'secret', v.secret, 'variable_type', v.variable_type,
        'raw', v.raw) order by v.id)
      from ci_pipeline_schedule_variables v where v.schedule_id = s.id), '[]') as variables
    from ci_pipeline_schedules s where s.id = ${id}`.execute(db)
  return found[0]
}

export interface DueRow {
  readonly id: number
  readonly cron: string
  readonly cron_timezone: string
  readonly next_run_at: Date
}

/** Schedules whose time has come; another node that looks at the same time takes others. */
export async function takeDue(tx: Tx, limit: number): Promise<DueRow[]> {
  const { rows: due } = await sql<DueRow>`
    select s.id, s.cron, s.cron_timezone, s.next_run_at from ci_pipeline_schedules s
    where s.active and s.next_run_at <= now() order by s.next_run_at limit ${limit} for update skip locked`.execute(
    tx,
  )
  return due
}

export async function setNextRuns(
  tx: Tx,
  next: readonly { readonly id: number; readonly at: Date | null }[],
): Promise<void> {
  await sql`
    update ci_pipeline_schedules s set next_run_at = n.at
    from unnest(${next.map(({ id }) => id)}::bigint[], ${next.map(({ at }) => at)}::timestamptz[]) n (id, at)
    where s.id = n.id`.execute(tx)
}

export async function deactivate(db: Writer, id: number): Promise<void> {
  await sql`update ci_pipeline_schedules set active = false, updated_at = now() where id = ${id}`.execute(db)
}
