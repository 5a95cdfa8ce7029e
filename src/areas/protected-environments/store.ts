import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { conflict } from '../../kernel/errors/index.ts'
import type { ProtectionRow } from './entities.ts'
import type { Entry } from './requested.ts'

export type PlaceKind = 'project' | 'group'

export interface Place {
  readonly kind: PlaceKind
  readonly id: number
}

const columns = sql`
  r.id, r.name, r.required_approval_count, coalesce((
    select json_agg(json_build_object('id', l.id, 'action', l.action, 'access_level', l.access_level,
      'user_id', l.user_id, 'group_id', l.group_id, 'group_inheritance_type', l.group_inheritance_type,
      'required_approvals', l.required_approvals, 'name', coalesce(u.name, g.name)) order by l.id)
    from protected_environment_entries l left join users u on u.id = l.user_id
      left join namespaces g on g.id = l.group_id
    where l.protected_environment_id = r.id), '[]') as entries`

const own = (kind: PlaceKind) => (kind === 'project' ? sql`r.project_id` : sql`r.namespace_id`)

/** Read together with the caller's access: `subject` is the place. */
export function list(kind: PlaceKind, input: PageInput): Read<ProtectionRow> {
  const from = sql`from protected_environments r where ${own(kind)} = subject.id`
  return page({ columns, from, order: sql`r.id` }, input)
}

export function named(kind: PlaceKind, name: string): Read<ProtectionRow> {
  return rows(sql`
    select ${columns} from protected_environments r where ${own(kind)} = subject.id and r.name = ${name}`)
}

export async function find(db: Reader, id: number): Promise<ProtectionRow | undefined> {
  const { rows: found } = await sql<ProtectionRow>`
    select ${columns} from protected_environments r where r.id = ${id}`.execute(db)
  return found[0]
}

/** The same, locked. */
export async function lock(tx: Tx, id: number): Promise<ProtectionRow | undefined> {
  const { rows: found } = await sql<ProtectionRow>`
    select ${columns} from protected_environments r where r.id = ${id} for update of r`.execute(tx)
  return found[0]
}

export async function create(
  tx: Tx,
  place: Place,
  { name, approvals, entries }: { name: string; approvals: number; entries: readonly Entry[] },
): Promise<number> {
  const taken = () => conflict(`Protected environment '${name}' already exists`)
  const { id } = await tx
    .insertInto('protected_environments')
    .values({
      project_id: place.kind === 'project' ? place.id : null,
      namespace_id: place.kind === 'group' ? place.id : null,
      name,
      required_approval_count: approvals,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('protected_environments_name', taken))
    .catch(onConstraint('protected_environments_group_name', taken))
  await addEntries(tx, id, entries)
  return id
}

export async function addEntries(tx: Tx, ruleId: number, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return
  await tx
    .insertInto('protected_environment_entries')
    .values(entries.map((entry) => ({ protected_environment_id: ruleId, ...entry })))
    .execute()
}

export async function changeEntry(tx: Tx, id: number, { action: _, ...entry }: Entry): Promise<void> {
  await tx.updateTable('protected_environment_entries').set(entry).where('id', '=', id).execute()
}

export async function removeEntries(tx: Tx, ids: readonly number[]): Promise<void> {
  await sql`delete from protected_environment_entries l where l.id = any (${[...ids]}::bigint[])`.execute(tx)
}

export async function changeApprovals(tx: Tx, id: number, approvals: number): Promise<void> {
  await sql`
    update protected_environments r set required_approval_count = ${approvals}, updated_at = now()
    where r.id = ${id}`.execute(tx)
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from protected_environments r where r.id = ${id}`.execute(db)
}
