import type { RawBuilder } from 'kysely'
import { projectLevels } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { countedPast, page, rows, windowOf, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { RepositoryRow, TagRow } from './entities.ts'

/** What answers may have besides what a repository is. */
export interface Wanted {
  readonly tags?: boolean | undefined
  readonly tags_count?: boolean | undefined
  readonly size?: boolean | undefined
}

/** Tags that stand in a repository's own answer; whoever wants them all asks for their list. */
const mostTags = 10_000

function tagOrder(descending = false): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`
  return sql`lower(t.name collate "C") ${direction}, t.name collate "C" ${direction}`
}

function columns({ tags, tags_count, size }: Wanted): RawBuilder<unknown> {
  return sql`
    c.id, c.name, c.project_id, c.status, c.cleanup_started_at, c.created_at, c.updated_at
    ${tags_count === true ? sql`, (select count(*) from container_tags t where t.repository_id = c.id) as tags_count` : sql``}
    ${
      tags === true
        ? sql`, array(
            select t.name from container_tags t where t.repository_id = c.id order by ${tagOrder()}
            limit ${mostTags}) as tags`
        : sql``
    }
    ${
      size === true
        ? sql`, (
            select coalesce(sum(b.size), 0)::bigint from container_blob_links l
            join container_blobs b on b.digest = l.digest where l.repository_id = c.id) as size`
        : sql``
    }`
}

export function list(wanted: Wanted, input: PageInput): Read<RepositoryRow> {
  const from = sql`from container_repositories c where c.project_id = subject.id`
  return page({ columns: columns(wanted), from, order: sql`c.id` }, input)
}

/** With the project of each, and the caller's role in it. */
export type GroupRow = RepositoryRow & { readonly project: Record<string, unknown>; readonly role: number }

export function listOfGroup(wanted: Wanted, input: PageInput): Read<GroupRow> {
  const from = sql`
    from container_repositories c join projects p on p.id = c.project_id join namespaces n on n.id = p.namespace_id
    ${projectLevels}
    where n.traversal_ids @> array[subject.id]
      and coalesce((p.feature_levels ->> 'container_registry')::int, 20) > 0`
  const project = sql`
    json_build_object('id', p.id, 'namespace_id', p.namespace_id, 'namespace_kind', n.kind, 'line', n.traversal_ids,
      'name', p.name, 'path', p.path, 'full_path', p.full_path, 'visibility', p.visibility, 'archived', p.archived,
      'default_branch', p.default_branch, 'creator_id', p.creator_id, 'storage', p.storage,
      'refs_version', p.refs_version, 'repository_empty', p.repository_empty, 'settings', p.settings,
      'feature_levels', p.feature_levels, 'permissions', access.permissions) as project, access.role`
  return page({ columns: sql`${columns(wanted)}, ${project}`, from, order: sql`c.id` }, input)
}

/** Of the project that is the subject. */
export function ofId(id: number, wanted: Wanted = {}): Read<RepositoryRow> {
  return rows(sql`
    select ${columns(wanted)} from container_repositories c where c.id = ${id} and c.project_id = subject.id`)
}

/** A repository with a page of the names of its tags. */
export interface TagPage {
  readonly name: string
  readonly tags: readonly string[]
  /** Null where they are not counted. */
  readonly total: number | null
}

/** One row where the repository exists; the page of its tags in it. */
export function tags(
  repositoryId: number,
  { descending }: { descending: boolean },
  { limit, offset }: PageInput,
): Read<TagPage> {
  const from = sql`from container_tags t where t.repository_id = c.id`
  return rows(sql`
    select c.name, (select count(*) from (select ${from} ${countedPast({ limit, offset })}) counted) as total, array(
      select w.name from (select t.name ${from} order by ${tagOrder(descending)} ${windowOf({ offset })}) w
      limit ${limit}) as tags
    from container_repositories c where c.id = ${repositoryId} and c.project_id = subject.id`)
}

/** The same after one tag, uncounted, and one more than asked for. */
export function tagsAfter(
  repositoryId: number,
  { descending, last }: { descending: boolean; last: string | undefined },
  { limit }: PageInput,
): Read<TagPage> {
  const after =
    last === undefined
      ? sql``
      : sql`and (lower(t.name collate "C"), t.name collate "C") ${descending ? sql`<` : sql`>`}
          (lower(${last}::text collate "C"), ${last}::text collate "C")`
  return rows(sql`
    select c.name, null::bigint as total, array(
      select t.name from container_tags t where t.repository_id = c.id ${after}
      order by ${tagOrder(descending)} limit ${limit + 1}) as tags
    from container_repositories c where c.id = ${repositoryId} and c.project_id = subject.id`)
}

/** One row for the repository; without `digest` where it has no such tag. */
export function tagOf(
  repositoryId: number,
  name: string,
): Read<{ readonly [Column in keyof TagRow]: TagRow[Column] | null } & { readonly repository_name: string }> {
  return rows(sql`
    select c.name as repository_name, t.name, m.digest, m.config_digest, t.pushed_at, m.total_size
    from container_repositories c
    left join container_tags t on t.repository_id = c.id and t.name = ${name}
    left join container_manifests m on m.id = t.manifest_id
    where c.id = ${repositoryId} and c.project_id = subject.id`)
}

/** From now on nobody reaches it any more. */
export async function scheduleDeletion(tx: Tx, id: number): Promise<void> {
  await sql`
    update container_repositories c set status = 'delete_scheduled', updated_at = now() where c.id = ${id}`.execute(
    tx,
  )
}

/** The manifest stays, with its whole grace before it. False when the tag is gone. */
export async function deleteTag(tx: Tx, repositoryId: number, name: string): Promise<boolean> {
  const { rows: gone } = await sql`
    with gone as (
      delete from container_tags t where t.repository_id = ${repositoryId} and t.name = ${name}
      returning t.manifest_id)
    update container_manifests m set touched_at = now() from gone where m.id = gone.manifest_id
    returning m.id`.execute(tx)
  return gone.length > 0
}

/** Whether the tags of a repository may be removed in bulk now, which is let happen once an hour. */
export async function beginRemoval(tx: Tx, id: number): Promise<boolean> {
  const { rows: begun } = await sql`
    update container_repositories c set tags_removed_at = now()
    where c.id = ${id} and (c.tags_removed_at is null or c.tags_removed_at < now() - interval '1 hour')
    returning c.id`.execute(tx)
  return begun.length > 0
}
