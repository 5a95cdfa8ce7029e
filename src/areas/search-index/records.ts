import { sql, type Writer } from '../../kernel/db/index.ts'
import { documentsOf, kinds } from './documents.ts'
import type { IndexRoom } from './services.ts'
import { indexOf } from './shape.ts'
import * as store from './store.ts'

/** Changes that a lane takes in one turn. */
export const mostTaken = 1000
/** Seconds that a lane rests after such a turn, unless it is to go on at once. */
const longRest = 10
/** Seconds until it is looked again whether an index can be begun, or is filled. */
const shortRest = 0.1
const fillingRest = 2

/** One turn of a lane: brings what changed into the index. Answers how many seconds it is to rest. */
export async function runLane(room: IndexRoom, lane: store.Lane, signal: AbortSignal): Promise<number> {
  const { db, keeper, bulks, settings } = room
  const generation = await keeper.generation({ begins: lane.id === 1 })
  if (generation === undefined) return shortRest
  while ((await store.waiting(db.reader, mostTaken)) < mostTaken && (await store.fill(db, mostTaken)));
  const { changes, version } = await store.take(db.writer, lane, mostTaken)
  const { values } = settings
  for (const kind of kinds) {
    const ids = idsOf(changes, kind)
    const documents = documentsOf(db.reader, values, kind, ids, version)
    await bulks.write(indexOf(generation, 'things'), documents, signal)
  }
  await db.transaction(async (tx) => {
    for (const kind of ['code', 'pages'] as const) await want(tx, kind, idsOf(changes, kind))
    if (values.elasticsearch_limit_indexing) {
      await again(tx, 'projects', idsOf(changes, 'places'))
      await again(tx, 'groups', idsOf(changes, 'groups'))
    }
    await store.settle(tx, changes)
  })
  await keeper.promote(generation)
  if (changes.length === 0) return fillingRest
  if (changes.length < mostTaken || values.elasticsearch_requeue_workers) return 0
  return longRest
}

function idsOf(changes: readonly store.Change[], kind: string): number[] {
  return [...new Set(changes.filter((change) => change.kind === kind).map(({ recordId }) => recordId))]
}

/** Repositories are another's work, since they take longer. */
async function want(db: Writer, kind: 'code' | 'pages', ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    insert into search_repositories as r (kind, record_id) select ${kind}, id from unnest(${[...ids]}::bigint[]) id
    on conflict (kind, record_id) do update set wanted = r.wanted + 1, attempts = 0,
      due_at = case when r.leased_until is null then now() else r.due_at end`.execute(db)
  await sql`select pg_notify(${store.channel}, '')`.execute(db)
}

/** All that lies in projects that lie elsewhere now: they may be among those that are to be indexed, or no more. */
async function again(db: Writer, place: 'projects' | 'groups', ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const moved =
    place === 'projects'
      ? sql`select p.id from projects p where p.id = any (${[...ids]}::bigint[])`
      : sql`select p.id from projects p join namespaces n on n.id = p.namespace_id
          where n.traversal_ids && ${[...ids]}::bigint[]`
  await sql`
    with moved as materialized (${moved})
    insert into search_changes (kind, record_id)
    select 'issues', r.id from issues r where r.project_id in (select id from moved)
    union all select 'merge_requests', r.id from merge_requests r where r.project_id in (select id from moved)
    union all select 'milestones', r.id from milestones r where r.project_id in (select id from moved)
    union all select 'notes', r.id from notes r join noteables b on b.id = r.noteable_id
      where b.project_id in (select id from moved)
    union all select 'code', id from moved
    union all select 'pages', w.id from wikis w where w.project_id in (select id from moved)`.execute(db)
}
