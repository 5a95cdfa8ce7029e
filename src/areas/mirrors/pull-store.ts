import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { Due } from './due.ts'

export interface PullMirrorRow {
  readonly id: number
  readonly shown_address: string
  readonly user_id: number | null
  readonly enabled: boolean
  readonly trigger_builds: boolean
  readonly only_protected_branches: boolean
  readonly overwrites_diverged_branches: boolean
  readonly branch_regex: string | null
  readonly update_status: string
  readonly last_error: string | null
  readonly last_update_at: Date | string | null
  readonly last_update_started_at: Date | string | null
  readonly last_successful_update_at: Date | string | null
}

const columns = sql`
  m.id, m.shown_address, m.user_id, m.enabled, m.trigger_builds, m.only_protected_branches,
  m.overwrites_diverged_branches, m.branch_regex, m.update_status, m.last_error, m.last_update_at,
  m.last_update_started_at, m.last_successful_update_at`

export function ofSubject(): Read<PullMirrorRow> {
  return rows(sql`select ${columns} from pull_mirrors m where m.project_id = subject.id`)
}

export interface KnownMirror extends PullMirrorRow {
  /** Sealed. */
  readonly address: string
}

const ofProject = (projectId: number) =>
  sql`select ${columns}, m.address from pull_mirrors m where m.project_id = ${projectId}`

export async function find(db: Writer, projectId: number): Promise<KnownMirror | undefined> {
  const result = await sql<KnownMirror>`${ofProject(projectId)}`.execute(db)
  return result.rows[0]
}

/** The same for who is about to change it: others wait until that is done. */
export async function lock(tx: Tx, projectId: number): Promise<KnownMirror | undefined> {
  const result = await sql<KnownMirror>`${ofProject(projectId)} for update`.execute(tx)
  return result.rows[0]
}

export interface Values {
  readonly user_id: number | null
  /** Sealed, and as it is shown; undefined: it stays what it is. */
  readonly address: { readonly sealed: string; readonly shown: string } | undefined
  readonly enabled: boolean
  readonly trigger_builds: boolean
  readonly only_protected_branches: boolean
  readonly overwrites_diverged_branches: boolean
  readonly branch_regex: string | null
}

/** What is mirrored from now on is due at once; another address begins anew. */
export async function save(tx: Tx, projectId: number, values: Values): Promise<PullMirrorRow> {
  const { address } = values
  const fresh = sql`(not m.enabled or ${address !== undefined}::boolean)`
  const result = await sql<PullMirrorRow>`
    insert into pull_mirrors as m (project_id, user_id, address, shown_address, enabled, trigger_builds,
      only_protected_branches, overwrites_diverged_branches, branch_regex, update_status, due_at)
    values (${projectId}, ${values.user_id}, ${address?.sealed ?? ''}, ${address?.shown ?? ''}, ${values.enabled},
      ${values.trigger_builds}, ${values.only_protected_branches}, ${values.overwrites_diverged_branches},
      ${values.branch_regex}, case when ${values.enabled} then 'scheduled' else 'none' end,
      case when ${values.enabled} then now() end)
    on conflict (project_id) do update set user_id = excluded.user_id,
      address = coalesce(nullif(excluded.address, ''), m.address),
      shown_address = coalesce(nullif(excluded.shown_address, ''), m.shown_address),
      host_keys = case when ${address !== undefined}::boolean then '{}' else m.host_keys end,
      runner = case when ${address === undefined}::boolean then m.runner end,
      running_until = case when ${address === undefined}::boolean then m.running_until end,
      enabled = excluded.enabled, trigger_builds = excluded.trigger_builds,
      only_protected_branches = excluded.only_protected_branches,
      overwrites_diverged_branches = excluded.overwrites_diverged_branches, branch_regex = excluded.branch_regex,
      failures = case when ${fresh} then 0 else m.failures end,
      update_status = case when excluded.enabled and ${fresh} then 'scheduled' else m.update_status end,
      due_at = case when not excluded.enabled then null when ${fresh} then now() else m.due_at end
    returning ${columns}`.execute(tx)
  return result.rows[0]!
}

/** Somebody wants it asked: as soon as that may be, also where nobody tried any more. */
export async function askNow(db: Tx | Writer, projectId: number, seconds: number): Promise<Due | undefined> {
  const result = await sql<Due>`
    update pull_mirrors m set failures = 0,
      due_at = greatest(now(), m.last_update_at + make_interval(secs => ${seconds})),
      update_status = case when m.runner is null then 'scheduled' else m.update_status end
    where m.project_id = ${projectId} and m.enabled returning m.id, m.due_at`.execute(db)
  return result.rows[0]
}

export interface ClaimedMirror {
  readonly id: number
  readonly runner: string
  readonly project_id: number
  readonly user_id: number | null
  readonly address: string
  readonly host_keys: readonly string[]
  readonly trigger_builds: boolean
  readonly only_protected_branches: boolean
  readonly overwrites_diverged_branches: boolean
  readonly branch_regex: string | null
}

/** The next mirror that is due, from now on `runner`'s for so many seconds; it stays due until that is done. */
export async function claim(db: Writer, runner: string, seconds: number): Promise<ClaimedMirror | undefined> {
  const result = await sql<ClaimedMirror>`
    update pull_mirrors m set runner = ${runner}, running_until = now() + make_interval(secs => ${seconds}),
      update_status = 'started', last_update_started_at = now()
    where m.id = (
      select m.id from pull_mirrors m join projects p on p.id = m.project_id
      where m.due_at <= now() and m.enabled and coalesce(m.running_until < now(), true)
        and not p.archived and p.marked_for_deletion_at is null
        and (p.moving_until is null or p.moving_until < now())
      order by m.due_at limit 1 for update of m skip locked)
    returning m.id, m.runner, m.project_id, m.user_id, m.address, m.host_keys, m.trigger_builds,
      m.only_protected_branches, m.overwrites_diverged_branches, m.branch_regex`.execute(db)
  return result.rows[0]
}

/** Minutes from one time to the next, the longer the oftener it failed, and how often that may be in a row. */
const interval = 30
const longestInterval = 300
const mostFailures = 14

/** How it went; `error` is null where it went well. */
export async function settle(db: Writer, runner: string, error: string | null): Promise<void> {
  const failures = sql`case when ${error}::text is null then 0 else m.failures + 1 end`
  await sql`
    update pull_mirrors m set runner = null, running_until = null, last_error = ${error}, last_update_at = now(),
      last_successful_update_at = case when ${error}::text is null then now() else m.last_successful_update_at end,
      failures = ${failures},
      update_status = case when ${error}::text is null then 'finished' else 'failed' end,
      due_at = case when m.enabled and ${failures} < ${mostFailures}
        then now() + make_interval(mins => least(${interval} * (1 + ${failures}), ${longestInterval})) end
    where m.runner = ${runner}`.execute(db)
}

/** The first key that a host showed; from then on it is the one. */
export async function rememberHostKey(db: Writer, id: number, hostKey: string): Promise<void> {
  await sql`
    update pull_mirrors set host_keys = ${[hostKey]}::text[] where id = ${id} and host_keys = '{}'`.execute(
    db,
  )
}
