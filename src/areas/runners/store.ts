import { onConstraint, sql, type Database, type Tx, type Writer } from '../../kernel/db/index.ts'
import { invalid, unavailable } from '../../kernel/errors/index.ts'
import type { PlanLimits } from '../../settings/index.ts'
import { digestToken, newToken } from '../../kernel/lib/secrets.ts'
import { runnersChannel } from './job-queue.ts'

export interface RunnerValues {
  readonly description: string | null
  readonly paused: boolean
  readonly locked: boolean
  readonly run_untagged: boolean
  readonly tag_list: readonly string[]
  readonly access_level: 'not_protected' | 'ref_protected'
  readonly maximum_timeout: number | null
  readonly maintenance_note: string | null
}

export interface NewRunner extends RunnerValues {
  readonly runner_type: 'instance_type' | 'group_type' | 'project_type'
  readonly name?: string | null
  readonly namespaceId: number | null
  readonly projectId: number | null
  readonly createdById: number | null
  readonly creation: 'api' | 'registration' | 'built_in'
  /** Of its token; null: never. */
  readonly expiresAt: Date | null
}

/** What somebody is told of a token that was just made. */
export interface MadeToken {
  readonly token: string
  readonly token_expires_at: Date | null
}

const tokenPrefixes = { api: 'glrt-', built_in: 'glrt-', registration: 'glrtr-' } as const
/** A runner; the token is to be shown this once, only its digest is kept. */
export async function create(
  tx: Tx,
  runner: NewRunner,
  limits: Pick<PlanLimits, 'ci_registered_group_runners' | 'ci_registered_project_runners'>,
): Promise<MadeToken & { id: number }> {
  const most =
    runner.projectId === null ? limits.ci_registered_group_runners : limits.ci_registered_project_runners
  await requireRoom(tx, runner, most)
  const token = newToken(tokenPrefixes[runner.creation])
  const row = await tx
    .insertInto('ci_runners')
    .values({
      runner_type: runner.runner_type,
      namespace_id: runner.namespaceId,
      token_digest: digestToken(token),
      token_hint: hintOf(token),
      token_expires_at: runner.expiresAt,
      name: runner.name ?? null,
      description: runner.description,
      maintenance_note: runner.maintenance_note,
      tag_list: [...runner.tag_list],
      run_untagged: runner.run_untagged,
      paused: runner.paused,
      locked: runner.locked,
      access_level: runner.access_level,
      maximum_timeout: runner.maximum_timeout,
      creation: runner.creation,
      created_by_id: runner.createdById,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('ci_runners_token', unavailable))
  if (runner.projectId !== null) {
    await tx
      .insertInto('ci_runner_projects')
      .values({ runner_id: row.id, project_id: runner.projectId })
      .execute()
  }
  return { id: row.id, token, token_expires_at: runner.expiresAt }
}

async function requireRoom(tx: Tx, { namespaceId, projectId }: NewRunner, most: number): Promise<void> {
  if (namespaceId === null && projectId === null) return
  const { rows: found } = await sql`
    select from (
      select r.id from ci_runners r where r.namespace_id = ${namespaceId}
      union all
      select x.runner_id from ci_runner_projects x where x.project_id = ${projectId}) there
    limit ${most}`.execute(tx)
  if (found.length < most) return
  const kind = projectId === null ? 'group' : 'project'
  throw invalid({
    base: [`Maximum number of ci registered ${kind} runners (${most}) exceeded`],
  })
}

/** The first characters after the prefix, by which people know a runner. */
function hintOf(token: string): string {
  return token.replace(/^glrtr?-/, '').slice(0, 9)
}

export async function renewToken(tx: Tx, id: number, expiresAt: Date | null): Promise<MadeToken> {
  const { rows: found } = await sql<{ creation: NewRunner['creation'] }>`
    select r.creation from ci_runners r where r.id = ${id} for update`.execute(tx)
  const token = newToken(tokenPrefixes[found[0]?.creation ?? 'api'])
  await sql`
    update ci_runners r set token_digest = ${digestToken(token)}, token_hint = ${hintOf(token)},
      token_expires_at = ${expiresAt}, updated_at = clock_timestamp()
    where r.id = ${id}`.execute(tx)
  await tellChanged(tx, id)
  return { token, token_expires_at: expiresAt }
}

/** Writes the given columns; `updated_at` grows, by which a waiting runner's facts are known to be old. */
export async function change(tx: Tx, id: number, values: RunnerValues): Promise<void> {
  await sql`
    update ci_runners r set description = ${values.description}, paused = ${values.paused}, locked = ${values.locked},
      run_untagged = ${values.run_untagged}, tag_list = ${[...values.tag_list]}::text[],
      access_level = ${values.access_level}, maximum_timeout = ${values.maximum_timeout},
      maintenance_note = ${values.maintenance_note}, updated_at = clock_timestamp()
    where r.id = ${id}`.execute(tx)
  await tellChanged(tx, id)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('ci_runners as r').where('r.id', '=', id).execute()
  await tellChanged(tx, id)
}

export async function assign(tx: Tx, id: number, projectId: number): Promise<boolean> {
  const { rows: added } = await sql`
    insert into ci_runner_projects (runner_id, project_id) values (${id}, ${projectId})
    on conflict do nothing returning runner_id`.execute(tx)
  await touch(tx, id)
  return added.length > 0
}

export async function unassign(tx: Tx, id: number, projectId: number): Promise<void> {
  await tx
    .deleteFrom('ci_runner_projects as x')
    .where('x.runner_id', '=', id)
    .where('x.project_id', '=', projectId)
    .execute()
  await touch(tx, id)
}

async function touch(tx: Tx, id: number): Promise<void> {
  await sql`update ci_runners r set updated_at = clock_timestamp() where r.id = ${id}`.execute(tx)
  await tellChanged(tx, id)
}

async function tellChanged(tx: Tx, id: number): Promise<void> {
  await sql`select pg_notify(${runnersChannel}, ${String(id)})`.execute(tx)
}

export interface ManagerFacts {
  readonly systemId: string
  readonly version: string | null
  readonly revision: string | null
  readonly platform: string | null
  readonly architecture: string | null
  readonly ip: string
}

/** What a program says of itself that says nothing. */
export const unknownManager = { version: null, revision: null, platform: null, architecture: null }

/** Notes a contact, of the runner and of the program that speaks for it; answers the latter's id. */
export async function noteContact(db: Database, runnerId: number, facts: ManagerFacts): Promise<number> {
  const { rows: noted } = await sql<{ id: number }>`
    with runner as (update ci_runners r set contacted_at = now() where r.id = ${runnerId})
    insert into ci_runner_managers as m (runner_id, system_id, version, revision, platform, architecture, ip_address,
      contacted_at)
    values (${runnerId}, ${facts.systemId}, ${facts.version}, ${facts.revision}, ${facts.platform},
      ${facts.architecture}, ${facts.ip}, now())
    on conflict (runner_id, system_id) do update set version = coalesce(excluded.version, m.version),
      revision = coalesce(excluded.revision, m.revision), platform = coalesce(excluded.platform, m.platform),
      architecture = coalesce(excluded.architecture, m.architecture), ip_address = excluded.ip_address,
      contacted_at = now()
    returning m.id`.execute(db.writer)
  return noted[0]!.id
}

export async function removeManager(tx: Tx, runnerId: number, systemId: string): Promise<boolean> {
  const { rows: gone } = await sql`
    delete from ci_runner_managers m where m.runner_id = ${runnerId} and m.system_id = ${systemId}
    returning m.id`.execute(tx)
  return gone.length > 0
}

/** The address of what the job deploys, and how long it is to last; what it will report itself is still to be put in. */
export async function keepEnvironment(
  db: Writer,
  jobId: number,
  { url, stopIn }: { readonly url: string | null; readonly stopIn: string | null },
): Promise<void> {
  await sql`
    update ci_jobs j set environment_url = ${url}, environment_stop_in = ${stopIn} where j.id = ${jobId}`.execute(
    db,
  )
}
