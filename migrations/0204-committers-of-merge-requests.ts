import { sql, type Kysely } from 'kysely'

/** Who made the commits of a merge request, and whose approval of it does not count. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Found out with each version; of what was open before, with the next push.
  await sql`alter table merge_requests add column committer_ids bigint[] not null default '{}'`.execute(db)
  // A setting of the instance has a row where it differs from its default, which is off for these.
  await sql`
    create function barred_approvers(project bigint, author bigint, committers bigint[]) returns bigint[]
    language sql stable as $$
      select
        case when coalesce((p.settings ->> 'merge_requests_author_approval')::boolean, false)
            and not exists (select from application_settings s
              where s.name = 'prevent_merge_requests_author_approval' and s.value = 'true') or author is null
          then '{}' else array[author] end
        || case when coalesce((p.settings ->> 'merge_requests_disable_committers_approval')::boolean, false)
            or exists (select from application_settings s
              where s.name = 'prevent_merge_requests_committers_approval' and s.value = 'true')
          then committers else '{}' end
      from projects p where p.id = project
    $$`.execute(db)
}
