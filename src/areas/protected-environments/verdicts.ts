import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { levelDescription } from './entities.ts'

/** What keeps a job whose turn has come from running: it waits for approvals, or its user may not deploy there. */
export type Hold = 'approval' | 'refused'

/** Whether every rule for an environment lets a user deploy, and whether one asks for approvals; null: unprotected. */
const verdict = (
  { project, name, tier }: Readonly<Record<'project' | 'name' | 'tier', RawBuilder<unknown>>>,
  user: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`(
  select json_build_object(
    'allowed', coalesce((select u.admin from users u where u.id = ${user}), false) or bool_and(exists (
      select from protected_environment_entries l
      where l.protected_environment_id = r.id and l.action = 'deploy'
        and environment_entry_admits(l.id, ${user}))),
    'approvals', bool_or(r.required_approval_count > 0 or exists (
      select from protected_environment_entries l
      where l.protected_environment_id = r.id and l.action = 'approve')))
  from environment_protections(${project}, ${name}, ${tier}) x join protected_environments r on r.id = x
  having count(*) > 0)`

interface Verdict {
  readonly allowed: boolean
  readonly approvals: boolean
}

/** Of a job `j` and its environment `e`. */
const ofJob = {
  project: sql`j.project_id`,
  name: sql`e.name`,
  tier: sql`e.tier`,
} as const
const environmentOfJob = sql`
  join environments e on e.project_id = j.project_id and e.name = j.definition #>> '{environment,expandedName}'`

function holdOf(found: Verdict | null, action: string): Hold | undefined {
  if (found === null) return undefined
  if (found.approvals && action === 'start') return 'approval'
  return found.allowed ? undefined : 'refused'
}

/** The jobs of a pipeline, not begun, that will be held when their turn comes. */
export async function heldJobs(db: Reader, pipelineId: number): Promise<Map<number, Hold>> {
  const { rows } = await sql<{ id: number; action: string; verdict: Verdict | null }>`
    select j.id, j.definition #>> '{environment,action}' as action, ${verdict(ofJob, sql`j.user_id`)} as verdict
    from ci_jobs j ${environmentOfJob}
    where j.pipeline_id = ${pipelineId} and not j.retried and j.kind = 'build'
      and j.status in ('created', 'scheduled')`.execute(db)
  return holds(rows)
}

function holds(
  rows: readonly { readonly id: number; readonly action: string; readonly verdict: Verdict | null }[],
): Map<number, Hold> {
  return new Map(
    rows.flatMap(({ id, action, verdict: found }) => {
      const hold = holdOf(found, action)
      return hold === undefined ? [] : [[id, hold] as const]
    }),
  )
}

export interface NewDeployingJob {
  readonly id: number
  readonly environment: string
  /** Of the environment, where it is not there yet. */
  readonly tier: string
  readonly action: string
}

/** The same of jobs that are about to be made, for one user. */
export async function heldNewJobs(
  db: Reader,
  { projectId, userId }: { readonly projectId: number; readonly userId: number | null },
  jobs: readonly NewDeployingJob[],
): Promise<Map<number, Hold>> {
  const of = {
    project: sql`${projectId}::bigint`,
    name: sql`w.environment`,
    tier: sql`coalesce(e.tier, w.tier)`,
  }
  const { rows } = await sql<{ id: number; action: string; verdict: Verdict | null }>`
    select w.id, w.action, ${verdict(of, sql`${userId}::bigint`)} as verdict
    from jsonb_to_recordset(${JSON.stringify(jobs)}) w (id integer, environment text, tier text, action text)
      left join environments e on e.project_id = ${projectId} and e.name = w.environment`.execute(db)
  return holds(rows)
}

/** Of a job that somebody wants to start; undefined where its environment, if any, is not protected. */
export async function verdictOnJob(
  db: Reader,
  jobId: number,
  userId: number,
): Promise<{ readonly allowed: boolean; readonly pending: boolean } | undefined> {
  const { rows } = await sql<{ verdict: Verdict | null; pending: boolean }>`
    select ${verdict(ofJob, sql`${userId}::bigint`)} as verdict,
      j.definition #>> '{environment,action}' = 'start' and pending_approvals(e.id, (
        select d.id from deployments d where d.job_id = j.id)) > 0 as pending
    from ci_jobs j ${environmentOfJob} where j.id = ${jobId}`.execute(db)
  const [row] = rows
  return row?.verdict == null ? undefined : { allowed: row.verdict.allowed, pending: row.pending }
}

/** The latest jobs of a pipeline that a user may not start for the sake of their environments. */
export async function refusedJobs(db: Reader, pipelineId: number, userId: number): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select j.id from ci_jobs j ${environmentOfJob}, lateral (
      select ${verdict(ofJob, sql`${userId}::bigint`)} as verdict) v
    where j.pipeline_id = ${pipelineId} and not j.retried and v.verdict ->> 'allowed' = 'false'`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Whether a user may not deploy to an environment, which need not be there. */
export async function isRefused(
  db: Reader,
  { projectId, name, tier }: { readonly projectId: number; readonly name: string; readonly tier: string },
  userId: number,
): Promise<boolean> {
  const held = await heldNewJobs(db, { projectId, userId }, [
    { id: 0, environment: name, tier, action: 'deploy by hand' },
  ])
  return held.get(0) === 'refused'
}

/** By which approval rules for a deployment somebody may approve it; `entry` null: by being allowed to deploy. */
export async function admittingRules(
  db: Reader,
  deploymentId: number,
  userId: number,
): Promise<{ readonly protected: boolean; readonly rules: { entry: number | null; name: string }[] }> {
  const { rows } = await sql<{ verdict: Verdict | null; rules: RuleRow[]; any: boolean; admin: boolean }>`
    select ${verdict(ofJob, sql`${userId}::bigint`)} as verdict,
      (select u.admin from users u where u.id = ${userId}) as admin,
      coalesce(named.any, false) as any, coalesce(named.rules, '[]') as rules
    from deployments j join environments e on e.id = j.environment_id, lateral (
      select count(*) > 0 as any, json_agg(json_build_object('id', l.id, 'access_level', l.access_level,
        'name', coalesce(u.name, g.name), 'admits', environment_entry_admits(l.id, ${userId})) order by l.id) as rules
      from environment_protections(e.project_id, e.name, e.tier) x
        join protected_environment_entries l on l.protected_environment_id = x and l.action = 'approve'
        left join users u on u.id = l.user_id left join namespaces g on g.id = l.group_id) named
    where j.id = ${deploymentId}`.execute(db)
  const [row] = rows
  if (row?.verdict == null) return { protected: false, rules: [] }
  if (!row.any) return { protected: true, rules: row.verdict.allowed ? [{ entry: null, name: '' }] : [] }
  const open = row.rules.filter(({ admits }) => admits || row.admin)
  return { protected: true, rules: open.map((rule) => ({ entry: rule.id, name: levelDescription(rule) })) }
}

interface RuleRow {
  readonly id: number
  readonly access_level: number | null
  readonly name: string | null
  readonly admits: boolean
}
