import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { RefUpdate } from '../../git/index.ts'
import type { Owner } from './owners.ts'

/** A wiki that has a repository, or will have one in a moment. */
export interface Wiki {
  readonly id: number
  readonly storage: string
  readonly default_branch: string
  readonly refs_version: number
  /** Nothing was ever written or pushed. */
  readonly empty: boolean
}

const columns = sql`w.id, w.storage, w.default_branch, w.refs_version, w.empty`

function owned(kind: Owner['kind'], id: RawBuilder<unknown>): RawBuilder<unknown> {
  return kind === 'project' ? sql`w.project_id = ${id}` : sql`w.namespace_id = ${id}`
}

/** Read together with the caller's access: `subject` is the project or group. */
export function ofSubject(kind: Owner['kind']): Read<Wiki> {
  return rows(sql`select ${columns} from wikis w where ${owned(kind, sql`subject.id`)}`)
}

export async function ofOwner(db: Reader, { kind, id }: Owner): Promise<Wiki | undefined> {
  const found = await sql<Wiki>`select ${columns} from wikis w where ${owned(kind, sql`${id}`)}`.execute(db)
  return found.rows[0]
}

/** The wiki, made if there is none, where its project lies. Its first branch is called as the nearest group says, or the instance. */
export async function ensure(db: Writer, owner: Owner, instanceBranch: string): Promise<Wiki> {
  const { kind, id, line } = owner
  await sql`
    insert into wikis (project_id, namespace_id, storage, default_branch)
    select ${kind === 'project' ? id : null}::bigint, ${kind === 'group' ? id : null}::bigint, coalesce((
      select p.storage from projects p where ${kind === 'project'} and p.id = ${id}), 'default'), coalesce((
      select n.settings ->> 'default_branch' from namespaces n
      where n.id = any (${[...line]}::bigint[]) and n.settings ->> 'default_branch' is not null
      order by cardinality(n.traversal_ids) desc limit 1), ${instanceBranch})
    on conflict do nothing`.execute(db)
  return (await ofOwner(db, owner))!
}

export interface Journalled {
  readonly id: number
  readonly wiki_id: number
  readonly user_id: number | null
  readonly state: 'prepared' | 'applied' | 'told'
  readonly updates: readonly RefUpdate[]
}

/**
 * Undefined: the wiki is being moved to another storage with its project, or was. The rows are held for the moment of
 * this transaction, so that who moves them waits for it or is seen by it.
 */
export async function prepareUpdates(
  tx: Tx,
  { id, storage }: Pick<Wiki, 'id' | 'storage'>,
  userId: number | null,
  updates: readonly RefUpdate[],
): Promise<number | undefined> {
  const { rows: owners } = await sql<{ moving: boolean }>`
    select coalesce(p.moving_until > now(), false) as moving
    from wikis w join projects p on p.id = w.project_id where w.id = ${id} for share of p`.execute(tx)
  if (owners[0]?.moving === true) return undefined
  const { rows: made } = await sql<{ id: number }>`
    insert into wiki_ref_updates (wiki_id, user_id, updates)
    select w.id, ${userId}, ${JSON.stringify(updates)}::jsonb from wikis w
    where w.id = ${id} and w.storage = ${storage} for share of w returning id`.execute(tx)
  return made[0]?.id
}

export async function abandonUpdates(db: Writer, id: number): Promise<void> {
  await db.deleteFrom('wiki_ref_updates').where('id', '=', id).execute()
}

/** False: somebody else has settled it. */
export async function settleUpdates(tx: Tx, id: number, updates: readonly RefUpdate[]): Promise<boolean> {
  const settled = await sql`
    update wiki_ref_updates set state = 'applied', updates = ${JSON.stringify(updates)}
    where id = ${id} and state = 'prepared' returning id`.execute(tx)
  return settled.rows.length > 0
}

/** The refs have moved: everybody who keeps something of them learns it by the version. */
export async function bumpRefs(
  tx: Tx,
  wikiId: number,
  created: readonly string[],
): Promise<{ head: string | undefined; owner: { project_id: number | null } }> {
  const before = await sql<{ empty: boolean; default_branch: string; project_id: number | null }>`
    select w.empty, w.default_branch, w.project_id from wikis w where w.id = ${wikiId} for update`.execute(tx)
  const row = before.rows[0]
  const first = row?.empty === true && created.length > 0
  const head = first ? (created.find((branch) => branch === row.default_branch) ?? created[0]) : undefined
  await sql`
    update wikis set refs_version = refs_version + 1, empty = empty and ${!first},
      default_branch = coalesce(${head ?? null}, default_branch)
    where id = ${wikiId}`.execute(tx)
  return { head, owner: { project_id: row?.project_id ?? null } }
}

/** Wikis with entries that were prepared more than a minute ago, and the first of those. */
export async function openJournals(db: Reader): Promise<(Wiki & { first: number })[]> {
  const found = await sql<Wiki & { first: number }>`
    select ${columns}, r.first
    from (
      select u.wiki_id, min(u.id) as first from wiki_ref_updates u
      where u.state = 'prepared' and u.created_at < now() - interval '1 minute' group by u.wiki_id) r
    join wikis w on w.id = r.wiki_id`.execute(db)
  return found.rows
}

export async function journalSince(db: Reader, wikiId: number, first: number): Promise<Journalled[]> {
  const found = await sql<Journalled>`
    select u.id, u.wiki_id, u.user_id, u.state, u.updates from wiki_ref_updates u
    where u.wiki_id = ${wikiId} and u.id >= ${first} order by u.id`.execute(db)
  return found.rows
}

export async function forgetOldUpdates(db: Writer, days: number): Promise<void> {
  await sql`
    delete from wiki_ref_updates where state <> 'prepared' and created_at < now() - make_interval(days => ${days})
  `.execute(db)
}

/** Of what a push to a wiki brought, and where; undefined when its pages are told already, or the wiki is gone. */
export async function untold(
  db: Reader,
  updateId: number,
): Promise<
  | (Wiki & {
      updates: readonly RefUpdate[]
      user_id: number | null
      project_id: number | null
      namespace_id: number | null
    })
  | undefined
> {
  const found = await sql<
    Wiki & {
      updates: readonly RefUpdate[]
      user_id: number | null
      project_id: number | null
      namespace_id: number | null
    }
  >`
    select ${columns}, w.project_id, w.namespace_id, u.updates, u.user_id
    from wiki_ref_updates u join wikis w on w.id = u.wiki_id
    where u.id = ${updateId} and u.state = 'applied'`.execute(db)
  return found.rows[0]
}

/** False: another run has told them. */
export async function markTold(tx: Tx, updateId: number): Promise<boolean> {
  const marked = await sql`
    update wiki_ref_updates set state = 'told' where id = ${updateId} and state = 'applied' returning id`.execute(
    tx,
  )
  return marked.rows.length > 0
}

/** The id under which events name a page; a renamed page keeps it. */
export async function pageId(tx: Tx, wikiId: number, slug: string, before?: string): Promise<number> {
  if (before !== undefined && before !== slug) {
    const renamed = await sql<{ id: number }>`
      update wiki_pages set slug = ${slug} where wiki_id = ${wikiId} and slug = ${before}
        and not exists (select from wiki_pages p where p.wiki_id = ${wikiId} and p.slug = ${slug})
      returning id`.execute(tx)
    if (renamed.rows[0] !== undefined) return renamed.rows[0].id
  }
  const made = await sql<{ id: number }>`
    insert into wiki_pages (wiki_id, slug) values (${wikiId}, ${slug})
    on conflict (wiki_id, slug) do update set slug = excluded.slug returning id`.execute(tx)
  return made.rows[0]!.id
}

/** Whether a wiki of this id is there; ids are never given again, but a database may have been put back. */
export async function exists(db: Reader, id: number): Promise<boolean> {
  const found = await db.selectFrom('wikis as w').select('w.id').where('w.id', '=', id).execute()
  return found.length > 0
}
