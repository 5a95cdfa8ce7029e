import type { RawBuilder } from 'kysely'
import { project } from '../../access/index.ts'
import { sql, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { TriggerRow } from './entities.ts'
import { limitReached, maximumPerProject } from './rules.ts'

const columns = sql`
  t.id, t.description, t.secret, t.token_hint, t.expires_at, t.created_at, t.updated_at,
  (select p.created_at from ci_pipelines p where p.trigger_id = t.id order by p.id desc limit 1) as last_used,
  ${basicUserJson('u')} as owner`

/** Of `ci_triggers` itself, or of rows just written. */
const from = (source: RawBuilder<unknown>) => sql`from ${source} t left join users u on u.id = t.owner_id`

/** Read together with the caller's access: `subject` is the project. */
export function list(input: PageInput): Read<TriggerRow> {
  const source = sql`${from(sql`ci_triggers`)} where t.project_id = subject.id`
  return page({ columns, from: source, order: sql`t.id` }, input)
}

export function one(id: number): Read<TriggerRow> {
  return rows(
    sql`select ${columns} ${from(sql`ci_triggers`)} where t.id = ${id} and t.project_id = subject.id`,
  )
}

export interface Values {
  readonly ownerId: number
  readonly description: string
  readonly secret: string
  readonly digest: string
  readonly hint: string
  readonly expiresAt: Date | null
}

/** One statement; the limit is looked at in it. */
export async function create(db: Writer, projectId: number, values: Values): Promise<TriggerRow> {
  const result = await sql<TriggerRow>`
    with made as (
      insert into ci_triggers (project_id, owner_id, description, secret, token_digest, token_hint, expires_at)
      select ${projectId}, ${values.ownerId}, ${values.description}, ${values.secret}, ${values.digest},
        ${values.hint}, ${values.expiresAt}
      where (select count(*) from ci_triggers c where c.project_id = ${projectId}) < ${maximumPerProject}
      returning *)
    select ${columns} ${from(sql`made`)}`.execute(db)
  const row = result.rows[0]
  if (row === undefined) throw limitReached()
  return row
}

/** Undefined: it is gone. */
export async function describe(db: Writer, id: number, description: string): Promise<TriggerRow | undefined> {
  const result = await sql<TriggerRow>`
    with changed as (
      update ci_triggers set description = ${description}, updated_at = now() where id = ${id} returning *)
    select ${columns} ${from(sql`changed`)}`.execute(db)
  return result.rows[0]
}

export async function remove(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('ci_triggers as t').where('t.id', '=', id).execute()
}

/** Days after its end in which a token is still listed. */
const listedAfterEnd = 30

export async function removeEnded(db: Writer): Promise<void> {
  await sql`
    delete from ci_triggers t
    where t.expires_at < now() - make_interval(days => ${listedAfterEnd})`.execute(db)
}

/** What a token that was given to start a pipeline turns out to be. */
export interface Found {
  readonly project_id: number
  /** The project was found by a path of before. */
  readonly moved: boolean
  readonly trigger: { readonly id: number; readonly owner_id: number | null } | null
  readonly job: {
    readonly id: number
    readonly user_id: number | null
    readonly project_id: number
    readonly pipeline_id: number
    readonly status: string
    readonly erased: boolean
  } | null
}

/** One row, or none where there is no such project. A token that has ended, or is another project's, is none. */
export function lookUp(id: string, digest: string): Read<Found> {
  return rows(sql`
    select place.id as project_id, place.redirect as moved,
      (select json_build_object('id', t.id, 'owner_id', t.owner_id) from ci_triggers t
        where t.token_digest = ${digest} and t.project_id = place.id
          and (t.expires_at is null or t.expires_at > now())) as trigger,
      (select json_build_object('id', j.id, 'user_id', j.user_id, 'project_id', j.project_id,
        'pipeline_id', j.pipeline_id, 'status', j.status, 'erased', j.erased_at is not null) from ci_jobs j
        where j.token_digest = ${digest}) as job
    from (${project.find!({ id, secretDigest: undefined })}) place`)
}
