import { sql, type Kysely } from 'kysely'

/** The chat app: where it is installed, who of a chat is who of ours, and who waits for what a job says. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table chat_workspaces (
      team_id text primary key,
      name text not null,
      bot_user_id text,
      -- Sealed.
      token text not null,
      scopes text[] not null,
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  // Of the integration of a project; gone with it.
  await sql`
    create table chat_installations (
      webhook_id bigint primary key references webhooks on delete cascade,
      team_id text not null references chat_workspaces on delete cascade
    )`.execute(db)
  await sql`create index chat_installations_team on chat_installations (team_id)`.execute(db)
  await sql`
    create table chat_names (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      team_id text not null,
      chat_id text not null,
      -- Whose slash commands vouch for the name; null: the chat app does.
      project_id bigint references projects on delete cascade,
      team_domain text,
      chat_name text,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create unique index chat_names_name on chat_names (team_id, chat_id, coalesce(project_id, 0))`.execute(
    db,
  )
  await sql`create index chat_names_user on chat_names (user_id, id)`.execute(db)
  await sql`create index chat_names_project on chat_names (project_id)`.execute(db)
  await sql`
    create table chat_pipelines (
      pipeline_id bigint primary key references ci_pipelines on delete cascade,
      -- Sealed: where to say what became of it.
      response_url text not null
    )`.execute(db)
}
