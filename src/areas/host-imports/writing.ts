import { sql, type Tx } from '../../kernel/db/index.ts'
import { anchorOfBrought, bringNote, type BroughtNote } from '../notes/index.ts'
import type { Failure } from './step-store.ts'
import type { Work } from './work.ts'

/** A note, with what the host knows it by and what it is about. */
export interface HostNote extends BroughtNote {
  readonly id: string
  /** Of the issue or merge request. */
  readonly number: number
  readonly of?: 'Issue' | 'MergeRequest'
  /** The note that it answers. */
  readonly replyTo?: string | null | undefined
}

type Anchor = Awaited<ReturnType<typeof anchorOfBrought>>

interface Target {
  readonly kind: 'Issue' | 'MergeRequest'
  readonly id: number
  readonly iid: number
  readonly base_sha: string | null
  readonly start_sha: string | null
  readonly head_sha: string | null
}

/** Notes with the places in diffs where they stand, which are looked up in git before anything is held. */
export async function placeNotes(
  { room, project }: Work,
  notes: readonly HostNote[],
): Promise<(HostNote & { readonly anchor: Anchor })[]> {
  const targets = await findTargets(room.db.writer, project.id, notes)
  const placed: (HostNote & { readonly anchor: Anchor })[] = []
  for (const note of notes) {
    const target = targetOf(targets, note)
    const { base_sha, start_sha, head_sha } = target ?? {}
    const refs = base_sha && start_sha && head_sha ? { base_sha, start_sha, head_sha } : undefined
    const anchor =
      note.place === undefined || refs === undefined
        ? undefined
        : await anchorOfBrought(room.places.of(project), refs, note.place)
    placed.push({ ...note, anchor })
  }
  return placed
}

/** Writes what has not been written before, and tells of what could not be. */
export async function writeNotes(
  tx: Tx,
  { step, project }: Work,
  notes: readonly (HostNote & { readonly anchor?: Anchor })[],
): Promise<{ readonly imported: number; readonly failures: Failure[] }> {
  const { relation } = step
  const targets = await findTargets(tx, project.id, notes)
  const threads = await threadsOf(tx, step.importId, notes)
  const before = await agesOf(tx, targets)
  const failures: Failure[] = []
  let imported = 0
  for (const note of notes) {
    if (threads.has(note.id)) {
      imported += 1
      continue
    }
    const target = targetOf(targets, note)
    const discussionId = threads.get(note.replyTo ?? '')
    const written =
      target === undefined ? undefined : await bringNote(tx, project, target, { ...note, discussionId })
    if (written === undefined) {
      failures.push({
        ...{ relation_name: relation, exception_class: 'RecordFault', source: note.id },
        exception_message:
          target === undefined ? `there is no ${note.number} that it is about` : 'it could not be taken',
      })
      continue
    }
    threads.set(note.id, written)
    await sql`
      insert into host_import_items (import_id, kind, source_id, target_id)
      values (${step.importId}, ${relation}, ${note.id}, ${written})`.execute(tx)
    imported += 1
  }
  await restoreAges(tx, before)
  return { imported, failures }
}

async function findTargets(
  db: Tx | Work['room']['db']['writer'],
  projectId: number,
  notes: readonly HostNote[],
): Promise<readonly Target[]> {
  const numbers = [...new Set(notes.map(({ number }) => number))]
  const { rows } = await sql<Target>`
    select 'MergeRequest' as kind, m.id, m.iid, m.base_sha, m.start_sha, m.head_sha from merge_requests m
    where m.project_id = ${projectId} and m.iid = any (${numbers}::bigint[])
    union all
    select 'Issue', i.id, i.iid, null, null, null from issues i
    where i.project_id = ${projectId} and i.iid = any (${numbers}::bigint[])`.execute(db)
  return rows
}

function targetOf(targets: readonly Target[], { number, of }: HostNote): Target | undefined {
  return targets.find(({ iid, kind }) => iid === number && (of === undefined || kind === of))
}

/** Threads that these notes stand in already, or answer. */
async function threadsOf(tx: Tx, importId: number, notes: readonly HostNote[]): Promise<Map<string, number>> {
  const ids = notes.flatMap(({ id, replyTo }) => (replyTo == null ? [id] : [id, replyTo]))
  const { rows } = await sql<{ source_id: string; target_id: number }>`
    select t.source_id, t.target_id from host_import_items t
    where t.import_id = ${importId} and t.source_id = any (${ids}::text[])`.execute(tx)
  return new Map(rows.map((row) => [row.source_id, row.target_id]))
}

interface Age {
  readonly kind: Target['kind']
  readonly id: number
  readonly at: Date
}

const tables = { Issue: 'issues', MergeRequest: 'merge_requests' } as const

/** When these were changed last: what is said of them now was said long ago. */
async function agesOf(tx: Tx, targets: readonly Target[]): Promise<readonly Age[]> {
  const ages: Age[] = []
  for (const kind of ['Issue', 'MergeRequest'] as const) {
    const ids = targets.filter((target) => target.kind === kind).map(({ id }) => id)
    const { rows } = await sql<{ id: number; at: Date }>`
      select t.id, t.updated_at as at from ${sql.table(tables[kind])} t
      where t.id = any (${ids}::bigint[]) order by t.id for update`.execute(tx)
    ages.push(...rows.map((row) => ({ kind, ...row })))
  }
  return ages
}

async function restoreAges(tx: Tx, ages: readonly Age[]): Promise<void> {
  for (const { kind, id, at } of ages) {
    await sql`update ${sql.table(tables[kind])} set updated_at = ${at} where id = ${id}`.execute(tx)
  }
}
