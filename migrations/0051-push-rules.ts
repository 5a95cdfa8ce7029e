import { sql, type Kysely } from 'kysely'

/** What commits, names and files must be like that come into a project; of groups for the projects made in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table push_rules (
      id bigint generated always as identity primary key,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      commit_message_regex text not null default '',
      commit_message_negative_regex text not null default '',
      branch_name_regex text not null default '',
      author_email_regex text not null default '',
      file_name_regex text not null default '',
      max_file_size integer not null default 0 check (max_file_size >= 0),
      deny_delete_tag boolean not null default false,
      member_check boolean not null default false,
      prevent_secrets boolean not null default false,
      commit_committer_check boolean not null default false,
      commit_committer_name_check boolean not null default false,
      reject_unsigned_commits boolean not null default false,
      reject_non_dco_commits boolean not null default false,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint push_rules_of_project unique (project_id),
      constraint push_rules_of_group unique (namespace_id)
    )`.execute(db)
  // Commits are looked up by their addresses.
  await sql`
    create index users_commit_email on users (lower(commit_email)) where commit_email is not null`.execute(db)
}
