import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { Due } from './due.ts'
import type { PushMirrorRow } from './entities.ts'

const columns = sql`
  m.id, m.shown_address, m.auth_method, m.public_key, m.host_keys, m.enabled, m.only_protected_branches, m.branch_regex,
  m.keep_divergent_refs, m.update_status, m.last_error, m.last_update_at, m.last_update_started_at,
  m.last_successful_update_at`

export function list(input: PageInput): Read<PushMirrorRow> {
  const from = sql`from push_mirrors m where m.project_id = subject.id`
  return page({ columns, from, order: sql`m.id` }, input)
}

export function one(id: number): Read<PushMirrorRow> {
  return rows(sql`select ${columns} from push_mirrors m where m.project_id = subject.id and m.id = ${id}`)
}

export interface Key {
  readonly publicKey: string
  /** Sealed. */
  readonly privateKey: string
}

export interface Values {
  readonly auth_method: string
  readonly key: Key | undefined
  readonly host_keys: readonly string[]
  readonly enabled: boolean
  readonly only_protected_branches: boolean
  readonly branch_regex: string | null
  readonly keep_divergent_refs: boolean
}

export async function create(
  tx: Tx,
  projectId: number,
  address: { readonly sealed: string; readonly shown: string },
  values: Values,
): Promise<PushMirrorRow> {
  const result = await sql<PushMirrorRow>`
    insert into push_mirrors as m (project_id, address, shown_address, auth_method, public_key, private_key, host_keys,
      enabled, only_protected_branches, branch_regex, keep_divergent_refs)
    values (${projectId}, ${address.sealed}, ${address.shown}, ${values.auth_method},
      ${values.key?.publicKey ?? null}, ${values.key?.privateKey ?? null}, ${values.host_keys}::text[],
      ${values.enabled}, ${values.only_protected_branches}, ${values.branch_regex}, ${values.keep_divergent_refs})
    returning ${columns}`.execute(tx)
  return result.rows[0]!
}

export interface LockedMirror extends PushMirrorRow {
  /** Sealed. */
  readonly address: string
}

export async function lock(tx: Tx, projectId: number, id: number): Promise<LockedMirror | undefined> {
  const result = await sql<LockedMirror>`
    select ${columns}, m.address from push_mirrors m
    where m.project_id = ${projectId} and m.id = ${id} for update`.execute(tx)
  return result.rows[0]
}

/** A key that is there stays: the other side knows it. */
export async function change(tx: Tx, id: number, values: Values): Promise<PushMirrorRow> {
  const result = await sql<PushMirrorRow>`
    update push_mirrors m set auth_method = ${values.auth_method},
      public_key = coalesce(m.public_key, ${values.key?.publicKey ?? null}),
      private_key = coalesce(m.private_key, ${values.key?.privateKey ?? null}),
      host_keys = ${values.host_keys}::text[], enabled = ${values.enabled},
      only_protected_branches = ${values.only_protected_branches}, branch_regex = ${values.branch_regex},
      keep_divergent_refs = ${values.keep_divergent_refs},
      due_at = case when ${values.enabled} then m.due_at end
    where m.id = ${id} returning ${columns}`.execute(tx)
  return result.rows[0]!
}

export async function remove(tx: Tx, projectId: number, id: number): Promise<void> {
  await sql`delete from push_mirrors where project_id = ${projectId} and id = ${id}`.execute(tx)
}

/** The first key that a host showed; from then on it is the one. */
export async function rememberHostKey(db: Writer, id: number, hostKey: string): Promise<void> {
  await sql`
    update push_mirrors set host_keys = ${[hostKey]}::text[] where id = ${id} and host_keys = '{}'`.execute(
    db,
  )
}

const running = sql`coalesce(m.running_until > now(), false)`
/** How long after a start the next one is. */
const wait = sql`case when m.only_protected_branches then interval '1 minute' else interval '5 minutes' end`
const nextStart = sql`greatest(now(), m.last_update_started_at + ${wait})`

/** Something was pushed: the mirrors of the project are due, those that have just begun somewhat later. */
export async function askAll(tx: Tx, projectId: number): Promise<Due[]> {
  const result = await sql<Due>`
    update push_mirrors m set asked_at = now(), failures = 0,
      due_at = case when ${running} then m.due_at else least(m.due_at, ${nextStart}) end,
      update_status = case when ${running} then m.update_status else 'scheduled' end
    where m.project_id = ${projectId} and m.enabled returning m.id, m.due_at`.execute(tx)
  return result.rows
}

/** Somebody wants a mirror brought up to date at once. */
export async function askNow(tx: Tx, id: number): Promise<Due> {
  const result = await sql<Due>`
    update push_mirrors m set asked_at = now(), failures = 0, due_at = now(),
      update_status = case when ${running} then m.update_status else 'scheduled' end
    where m.id = ${id} returning m.id, m.due_at`.execute(tx)
  return result.rows[0]!
}

export interface ClaimedMirror {
  readonly id: number
  readonly runner: string
  readonly project_id: number
  readonly storage: string
  readonly refs_version: number
  readonly empty: boolean
  readonly address: string
  readonly auth_method: string
  readonly private_key: string | null
  readonly host_keys: readonly string[]
  readonly only_protected_branches: boolean
  readonly branch_regex: string | null
  readonly keep_divergent_refs: boolean
}

/**
 * The next mirror that is due, from now on `runner`'s for so many seconds. It stays due until that is done: should the
 * runner die, the next one takes it.
 */
export async function claim(db: Writer, runner: string, seconds: number): Promise<ClaimedMirror | undefined> {
  const result = await sql<ClaimedMirror>`
    update push_mirrors m set runner = ${runner}, running_until = now() + make_interval(secs => ${seconds}),
      asked_at = null, update_status = 'started', last_update_started_at = now()
    from projects p
    where p.id = m.project_id and m.id = (
      select m.id from push_mirrors m join projects q on q.id = m.project_id
      where m.due_at <= now() and m.enabled and not ${running}
        and not q.archived and q.marked_for_deletion_at is null
        and (q.moving_until is null or q.moving_until < now())
      order by m.due_at limit 1 for update of m skip locked)
    returning m.id, m.runner, m.project_id, p.storage, p.refs_version, p.repository_empty as empty, m.address,
      m.auth_method, m.private_key, m.host_keys, m.only_protected_branches, m.branch_regex, m.keep_divergent_refs`.execute(
    db,
  )
  return result.rows[0]
}

interface MaybeDue {
  readonly id: number
  readonly due_at: Date | null
}

function isDue(row: MaybeDue): row is Due {
  return row.due_at !== null
}

const released = sql`runner = null, running_until = null`

/** It is up to date, unless something came meanwhile; then it tells when it is due again. */
export async function succeed(tx: Tx, runner: string): Promise<Due | undefined> {
  const result = await sql<MaybeDue>`
    update push_mirrors m set ${released}, update_status = 'finished', last_error = null, failures = 0,
      last_update_at = now(), last_successful_update_at = now(),
      due_at = case when m.asked_at is not null and m.enabled then ${nextStart} end
    where m.runner = ${runner} returning m.id, m.due_at`.execute(tx)
  return result.rows.find(isDue)
}

/** It failed. `retryMinutes`: after which it is tried again, by how often that was so before; past them it is left. */
export async function fail(
  tx: Tx,
  runner: string,
  error: string,
  retryMinutes: readonly number[],
): Promise<Due | undefined> {
  const minutes = sql`(${retryMinutes}::integer[])[m.failures + 1]`
  const result = await sql<MaybeDue>`
    update push_mirrors m set ${released}, last_error = ${error}, last_update_at = now(),
      failures = m.failures + 1,
      update_status = case when ${minutes} is null then 'failed' else 'to_retry' end,
      due_at = case when not m.enabled then null
        when m.asked_at is not null then ${nextStart}
        else now() + make_interval(mins => ${minutes}) end
    where m.runner = ${runner} returning m.id, m.due_at`.execute(tx)
  return result.rows.find(isDue)
}
