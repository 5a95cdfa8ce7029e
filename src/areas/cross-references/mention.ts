import type { RawBuilder } from 'kysely'
import { userOf, type Actor } from '../../access/index.ts'
import { sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { NamedThing, TextPlace, Texts } from '../markdown/index.ts'
import { addSystemNotes, type SystemNote } from '../notes/index.ts'
import type { Source, Target } from './sources.ts'

export interface MentionServices {
  readonly db: Database
  readonly texts: Texts
}

interface Found {
  readonly target: Target
  /** Full path of the project or group that it is in. */
  readonly path: string
}

/** What a text names tells of it: once of each thing that names it, however often it does. */
export async function mention(
  services: MentionServices,
  actor: Actor,
  place: TextPlace,
  source: Source,
  except: (thing: Found) => Promise<boolean> = async () => false,
): Promise<void> {
  const things = await services.texts.namedIn(source.text, actor, place)
  for (const thing of things) {
    const found = await find(services.db.reader, thing)
    if (found === undefined || isSame(found.target, source.on) || (await except(found))) continue
    const body = `mentioned in ${source.called} ${nameFrom(found, source)}`
    await tellOnce(services.db, {
      on: found.target,
      action: 'cross_reference',
      body,
      authorId: userOf(actor).id,
      reference: source.on,
    })
  }
}

/** Writes a note of the service if there is none of its kind for what it refers to. */
export async function tellOnce(
  db: Database,
  note: SystemNote & { readonly reference: Target },
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await isTold(tx, note))) await addSystemNotes(tx, [note])
  })
}

const isSame = (one: Target, other: Target): boolean =>
  one.kind === other.kind && one.id !== null && one.id === other.id

/** `#5` in the same place, `group/project#5` elsewhere; a commit of the same project has no sign. */
function nameFrom({ target, path }: Found, { on, sign, number, path: own }: Source): string {
  const same =
    path === own || (on.kind === 'Epic' && target.projectId !== null && own === path.replace(/\/[^/]+$/, ''))
  if (same) return on.kind === 'Commit' ? number : `${sign}${number}`
  return `${own}${sign}${number}`
}

const columns: Readonly<
  Record<
    NamedThing['kind'],
    {
      readonly kind: Target['kind']
      readonly table: string
      readonly number: string
      readonly place: 'project_id' | 'namespace_id'
    }
  >
> = {
  issue: { kind: 'Issue', table: 'issues', number: 'iid', place: 'project_id' },
  merge_request: { kind: 'MergeRequest', table: 'merge_requests', number: 'iid', place: 'project_id' },
  snippet: { kind: 'Snippet', table: 'snippets', number: 'id', place: 'project_id' },
  epic: { kind: 'Epic', table: 'epics', number: 'iid', place: 'namespace_id' },
}

async function find(db: Reader, { kind, number, placeId }: NamedThing): Promise<Found | undefined> {
  const { kind: target, table, number: column, place } = columns[kind]
  const home = place === 'project_id' ? 'projects' : 'namespaces'
  const { rows } = await sql<{ id: number; path: string }>`
    select t.id, p.full_path as path
    from ${sql.table(table)} t join ${sql.table(home)} p on p.id = ${sql.ref(`t.${place}`)}
    where p.id = ${placeId} and ${sql.ref(`t.${column}`)} = ${number}`.execute(db)
  const row = rows[0]
  return (
    row && {
      target: {
        kind: target,
        id: row.id,
        projectId: place === 'project_id' ? placeId : null,
        namespaceId: place === 'project_id' ? null : placeId,
      },
      path: row.path,
    }
  )
}

/** Others that are about to tell the same wait until this transaction ends. */
async function isTold(
  tx: Tx,
  { on: target, action, body, reference: source }: SystemNote & { readonly reference: Target },
): Promise<boolean> {
  const pair = `references of ${target.kind} ${target.id} by ${source.kind} ${source.id ?? source.sha ?? ''}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${pair}, 0))`.execute(tx)
  const by: RawBuilder<unknown> =
    source.id === null
      ? sql`d.ref_project_id = ${source.projectId} and n.body = ${body}`
      : sql`d.ref_id = ${source.id}`
  const { rows } = await sql`
    select from noteables nb join discussions d on d.noteable_id = nb.id join notes n on n.discussion_id = d.id
    where nb.kind = ${target.kind} and nb.target_id = ${target.id} and d.ref_kind = ${source.kind} and ${by}
      and n.action = ${action} limit 1`.execute(tx)
  return rows.length > 0
}
