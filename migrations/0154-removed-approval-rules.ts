import { sql, type Kysely } from 'kysely'

/** A request may do without a rule of its project: a rule of its own that is removed stands in for that one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table approval_rules add column removed boolean not null default false`.execute(db)
  await sql`drop index approval_rules_request_name`.execute(db)
  await sql`
    create unique index approval_rules_request_name
    on approval_rules (merge_request_id, rule_type, coalesce(section, ''), name)
    where merge_request_id is not null and not removed`.execute(db)
}
