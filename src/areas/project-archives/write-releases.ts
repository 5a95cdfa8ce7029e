import { sql, type Tx } from '../../kernel/db/index.ts'
import type { BadgeRecord, ProtectedTagRecord, ReleaseRecord } from './format.ts'
import { signed, userNamed, type Target } from './target.ts'

export async function writeReleases(
  tx: Tx,
  target: Target,
  records: readonly ReleaseRecord[],
): Promise<void> {
  const { projectId, asOthers } = target
  const rows = records.map((release) => ({
    ...release,
    description: asOthers ? release.description : signed(release.description, release.author),
  }))
  await sql`
    with given as (
      select distinct on (g.tag) g.* from jsonb_to_recordset(${JSON.stringify(rows)}) g (tag text, name text,
        description text, sha text, author text, created_at timestamptz, released_at timestamptz, milestones jsonb,
        links jsonb)
    ), made as (
      insert into releases (project_id, tag, name, description, sha, author_id, created_at, updated_at, released_at)
      select ${projectId}::bigint, g.tag, g.name, g.description, g.sha, ${userNamed(target, sql`g.author`)},
        g.created_at, g.created_at, g.released_at
      from given g order by g.released_at
      on conflict (project_id, tag) do nothing returning id, tag
    ), planned as (
      insert into release_milestones (release_id, milestone_id)
      select distinct m.id, x.id from made m join given g on g.tag = m.tag,
        jsonb_array_elements_text(g.milestones) as named (iid)
        join milestones x on x.project_id = ${projectId} and x.iid = named.iid::bigint
    )
    insert into release_links (release_id, name, url, filepath, link_type)
    select m.id, l ->> 'name', l ->> 'url', l ->> 'filepath', l ->> 'link_type'
    from made m join given g on g.tag = m.tag, jsonb_array_elements(g.links) with ordinality as each (l, at)
    order by m.id, each.at
    on conflict do nothing`.execute(tx)
}

export async function writeBadges(
  tx: Tx,
  { projectId }: Target,
  records: readonly BadgeRecord[],
): Promise<void> {
  await sql`
    insert into badges (project_id, name, link_url, image_url)
    select ${projectId}::bigint, g.name, g.link_url, g.image_url
    from jsonb_array_elements(${JSON.stringify(records)}) with ordinality each (value, at)
    cross join lateral jsonb_to_record(each.value) g (name text, link_url text, image_url text)
    order by each.at`.execute(tx)
}

export async function writeProtectedTags(
  tx: Tx,
  { projectId }: Target,
  records: readonly ProtectedTagRecord[],
): Promise<void> {
  await sql`
    with given as (
      select distinct on (g.name) g.* from jsonb_to_recordset(${JSON.stringify(records)}) g (name text, levels jsonb)
    ), made as (
      insert into protected_tags (project_id, name) select ${projectId}::bigint, g.name from given g
      on conflict (project_id, name) do nothing returning id, name
    )
    insert into protected_tag_create_levels (project_id, protected_tag_id, access_level)
    select distinct ${projectId}::bigint, m.id, level::smallint
    from made m join given g on g.name = m.name, jsonb_array_elements_text(g.levels) level`.execute(tx)
}
