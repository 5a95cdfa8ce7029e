import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'

/** Whose path it is. */
export type Owner = { readonly namespaceId: number } | { readonly projectId: number }

/** A path belongs to something that lives. The area that asked for it knows under which attribute it says so. */
export class PathTaken extends Error {
  constructor() {
    super('has already been taken')
    this.name = 'PathTaken'
  }
}

/** A full path has grown past what its index holds; only deep groups with long names get there. */
export class PathTooLong extends Error {
  constructor() {
    super(`is too long (maximum of the full path is ${longestFullPath} characters)`)
    this.name = 'PathTooLong'
  }
}

const longestFullPath = 2048

/** What the API says of a path that was refused here; undefined when the error is another one. */
export function pathFault(error: unknown): string | undefined {
  return error instanceof PathTaken || error instanceof PathTooLong ? error.message : undefined
}

/**
 * Holds still the tree of namespaces that this one belongs to, until the transaction ends: `share` for who puts
 * something into it, `update` for who renames it or lowers its visibility. Who shares sees no renaming half done, and
 * who renames finds everything that others have put in.
 */
export async function lockTree(tx: Tx, rootId: number, mode: 'share' | 'update'): Promise<void> {
  await sql`select from namespaces where id = ${rootId} ${mode === 'share' ? sql`for share` : sql`for update`}`.execute(
    tx,
  )
}

/** `lockTree` for several trees, in the one order in which all take them. */
export async function lockTrees(tx: Tx, rootIds: readonly number[], mode: 'share' | 'update'): Promise<void> {
  for (const id of [...new Set(rootIds)].sort((one, other) => one - other)) await lockTree(tx, id, mode)
}

/**
 * Gives a full path to its owner. A redirect that leads from there elsewhere ends. Throws `PathTaken` or `PathTooLong`;
 * the transaction can go on then.
 */
export async function claimPath(tx: Tx, fullPath: string, owner: Owner): Promise<void> {
  const namespaceId = 'namespaceId' in owner ? owner.namespaceId : null
  const projectId = 'projectId' in owner ? owner.projectId : null
  if (fullPath.length > longestFullPath) throw new PathTooLong()
  const { rows } = await sql`
    insert into routes as r (path_key, namespace_id, project_id)
    values (${pathKey(fullPath)}, ${namespaceId}, ${projectId})
    on conflict (path_key) do update set namespace_id = excluded.namespace_id, project_id = excluded.project_id,
      redirect = false where r.redirect
    returning 1`.execute(tx)
  if (rows.length === 0) throw new PathTaken()
}

/** Whether something that lives has this full path. */
export async function isTaken(tx: Tx | Reader, fullPath: string): Promise<boolean> {
  const { rows } = await sql`
    select from routes r where r.path_key = ${pathKey(fullPath)} and not r.redirect`.execute(tx)
  return rows.length > 0
}

/** Gives a project another full path; the old one leads here from now on. Throws `PathTaken`. */
export async function movePath(tx: Tx, projectId: number, oldPath: string, newPath: string): Promise<void> {
  if (pathKey(oldPath) === pathKey(newPath)) return
  await claimPath(tx, newPath, { projectId })
  await sql`update routes set redirect = true where path_key = ${pathKey(oldPath)}`.execute(tx)
}

/**
 * Gives a namespace another path and with it all that lies below, groups and projects, one statement each; the old
 * paths lead to the new ones from now on. `newPath` is the last part only. Throws `PathTaken`.
 */
export async function renameNamespace(tx: Tx, namespaceId: number, newPath: string): Promise<void> {
  const found = await sql<{ root: number }>`
    select n.traversal_ids[1] as root from namespaces n where n.id = ${namespaceId}`.execute(tx)
  await lockTree(tx, found.rows[0]!.root, 'update')
  const { rows } = await sql<{ full_path: string }>`
    select n.full_path from namespaces n where n.id = ${namespaceId}`.execute(tx)
  const oldFull = rows[0]!.full_path
  const newFull = oldFull.replace(/[^/]+$/, () => newPath)
  if (oldFull === newFull) return
  await sql`
    update namespaces n set path = case when n.id = ${namespaceId} then ${newPath} else n.path end,
      full_path = ${newFull} || substr(n.full_path, ${oldFull.length + 1}::int), updated_at = now()
    where n.traversal_ids @> array[${namespaceId}::bigint]`.execute(tx)
  await sql`
    update projects p set full_path = n.full_path || '/' || p.path
    from namespaces n where n.id = p.namespace_id and n.traversal_ids @> array[${namespaceId}::bigint]`.execute(
    tx,
  )
  if (pathKey(oldFull) !== pathKey(newFull)) await moveRoutes(tx, namespaceId, newFull)
}

/**
 * Puts a group with all that lies below it under another one, or at the top; the old paths lead to the new ones from
 * now on. Hold both trees with `lockTree` before. Throws `PathTaken` or `PathTooLong`.
 */
export async function moveNamespace(tx: Tx, namespaceId: number, parentId: number | null): Promise<void> {
  const { rows } = await sql<{ old_full: string; new_full: string; depth: number }>`
    select n.full_path as old_full, case when a.id is null then n.path else a.full_path || '/' || n.path end as new_full,
      cardinality(n.traversal_ids) as depth
    from namespaces n left join namespaces a on a.id = ${parentId}::bigint where n.id = ${namespaceId}`.execute(
    tx,
  )
  const { old_full: oldFull, new_full: newFull, depth } = rows[0]!
  await sql`
    update namespaces n set
      parent_id = case when n.id = ${namespaceId} then ${parentId}::bigint else n.parent_id end,
      traversal_ids = coalesce((select a.traversal_ids from namespaces a where a.id = ${parentId}::bigint), '{}')
        || n.traversal_ids[${depth}::int :],
      full_path = ${newFull} || substr(n.full_path, ${oldFull.length + 1}::int), updated_at = now()
    where n.traversal_ids @> array[${namespaceId}::bigint]`.execute(tx)
  await sql`
    update projects p set full_path = n.full_path || '/' || p.path
    from namespaces n where n.id = p.namespace_id and n.traversal_ids @> array[${namespaceId}::bigint]`.execute(
    tx,
  )
  await moveRoutes(tx, namespaceId, newFull)
}

/** The live routes of a tree become redirects, and new ones are made from the full paths. */
async function moveRoutes(tx: Tx, namespaceId: number, newFull: string): Promise<void> {
  if (await isTaken(tx, newFull)) throw new PathTaken()
  const below = sql`select n.id from namespaces n where n.traversal_ids @> array[${namespaceId}::bigint]`
  const longest = await sql<{ length: number | null }>`
    select greatest(
      (select max(length(n.full_path)) from namespaces n where n.id in (${below})),
      (select max(length(p.full_path)) from projects p where p.namespace_id in (${below}))) as length`.execute(
    tx,
  )
  if ((longest.rows[0]!.length ?? 0) > longestFullPath) throw new PathTooLong()
  await sql`
    update routes r set redirect = true
    where not r.redirect and (r.namespace_id in (${below})
      or r.project_id in (select p.id from projects p where p.namespace_id in (${below})))`.execute(tx)
  const { rows } = await sql<{ wanted: number; made: number }>`
    with wanted as (
      select lower(n.full_path) as path_key, n.id as namespace_id, null::bigint as project_id
      from namespaces n where n.id in (${below})
      union all
      select lower(p.full_path), null, p.id from projects p where p.namespace_id in (${below})
    ), made as (
      insert into routes as r (path_key, namespace_id, project_id)
      select w.path_key, w.namespace_id, w.project_id from wanted w
      on conflict (path_key) do update set namespace_id = excluded.namespace_id, project_id = excluded.project_id,
        redirect = false where r.redirect
      returning 1
    )
    select (select count(*) from wanted) as wanted, (select count(*) from made) as made`.execute(tx)
  if (rows[0]!.made !== rows[0]!.wanted) throw new PathTaken()
}

/** How a full path stands in `routes`. */
function pathKey(fullPath: string): string {
  return fullPath.toLowerCase()
}
