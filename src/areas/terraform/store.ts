import { onConstraint, sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { serialTaken, type LockInfo } from './rules.ts'

/** A version as it is stored; null while there is none. */
export interface ContentRow {
  readonly content: string | null
}

/** The newest version of a state. Read together with the caller's access: `subject` is the project. */
export function newest(name: string): Read<ContentRow> {
  return rows(sql`
    select (
      select v.content from terraform_state_versions v where v.state_id = s.id order by v.serial desc limit 1) as content
    from terraform_states s where s.project_id = subject.id and s.name = ${name}`)
}

export function version(
  name: string,
  serial: number,
): Read<{ readonly id: number; readonly content: string }> {
  return rows(sql`
    select v.id, v.content from terraform_states s join terraform_state_versions v on v.state_id = s.id
    where s.project_id = subject.id and s.name = ${name} and v.serial = ${serial}`)
}

export async function removeVersion(db: Writer, id: number): Promise<void> {
  await sql`delete from terraform_state_versions v where v.id = ${id}`.execute(db)
}

export interface LockedState {
  readonly id: number
  readonly lock_id: string | null
  readonly lock_info: LockInfo | null
}

/** The state of this name, which nobody else changes until the transaction ends. */
export async function hold(tx: Tx, projectId: number, name: string): Promise<LockedState | undefined> {
  const { rows: found } = await sql<LockedState>`
    select s.id, s.lock_id, s.lock_info from terraform_states s
    where s.project_id = ${projectId} and s.name = ${name} for update`.execute(tx)
  return found[0]
}

/** The same, made where there is none. */
export async function holdOrMake(tx: Tx, projectId: number, name: string): Promise<LockedState> {
  await sql`
    insert into terraform_states (project_id, name) values (${projectId}, ${name})
    on conflict on constraint terraform_states_name do nothing`
    .execute(tx)
    .catch(onConstraint('terraform_states_project', () => notFound('Project')))
  const held = await hold(tx, projectId, name)
  // Deleted in this very moment.
  if (held === undefined) throw notFound('Terraform State')
  return held
}

export async function addVersion(
  tx: Tx,
  stateId: number,
  { serial, content, userId }: { readonly serial: number; readonly content: string; readonly userId: number },
): Promise<void> {
  await sql`
    insert into terraform_state_versions (state_id, serial, content, created_by_id)
    values (${stateId}, ${serial}, ${content}, ${userId})`
    .execute(tx)
    .catch(onConstraint('terraform_state_versions_serial', serialTaken))
}

export async function lock(tx: Tx, id: number, info: LockInfo, userId: number): Promise<void> {
  await sql`
    update terraform_states s set lock_id = ${info.ID}, lock_info = ${JSON.stringify(info)}::jsonb, locked_by_id = ${userId},
      locked_at = now() where s.id = ${id}`.execute(tx)
}

export async function unlock(tx: Tx, id: number): Promise<void> {
  await sql`
    update terraform_states s set lock_id = null, lock_info = null, locked_by_id = null, locked_at = null
    where s.id = ${id}`.execute(tx)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await sql`delete from terraform_states s where s.id = ${id}`.execute(tx)
}
