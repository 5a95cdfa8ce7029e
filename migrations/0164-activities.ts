import { sql, type Kysely } from 'kysely'

/** What people did, as the API lists it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // key: the news that it is made of, so that nothing is listed twice. kind: what was acted upon, or what a note is
  // about. details: what only pushes and pages of wikis have to tell.
  await sql`
    create table activities (
      id bigint generated always as identity primary key,
      key text not null,
      author_id bigint not null references users on delete cascade,
      project_id bigint not null references projects on delete cascade,
      action text not null,
      kind text not null,
      target_id bigint,
      note_id bigint references notes on delete cascade,
      details jsonb,
      created_at timestamptz(3) not null default now(),
      constraint activities_key unique (key)
    )`.execute(db)
  await sql`create index activities_author on activities (author_id, created_at, id)`.execute(db)
  await sql`create index activities_project on activities (project_id, created_at, id)`.execute(db)
  await sql`create index activities_note on activities (note_id) where note_id is not null`.execute(db)

  // Whoever makes a project or a member of one does not tell of it: the rows do. A member who goes together with the
  // project or the user leaves nothing behind.
  await sql`
    create function list_new_projects() returns trigger language plpgsql as $$
    begin
      insert into activities (key, author_id, project_id, action, kind)
      select 'project:' || made.id, made.creator_id, made.id, 'created', 'Project'
      from made where made.creator_id is not null
      on conflict (key) do nothing;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger list_new_projects after insert on projects referencing new table as made
    for each statement execute function list_new_projects()`.execute(db)
  await sql`
    create function list_members() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into activities (key, author_id, project_id, action, kind)
        select 'joined:' || came.id, came.user_id, came.project_id, 'joined', 'Project'
        from came where came.project_id is not null
        on conflict (key) do nothing;
      else
        insert into activities (key, author_id, project_id, action, kind)
        select 'left:' || gone.id, gone.user_id, gone.project_id,
          case when gone.expires_at <= (now() at time zone 'utc')::date then 'expired' else 'left' end, 'Project'
        from gone join projects p on p.id = gone.project_id join users u on u.id = gone.user_id
        on conflict (key) do nothing;
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger list_new_members after insert on members referencing new table as came
    for each statement execute function list_members()`.execute(db)
  await sql`
    create trigger list_former_members after delete on members referencing old table as gone
    for each statement execute function list_members()`.execute(db)
}
