import { sql, type Kysely } from 'kysely'

/** Releases of tags, and what belongs to them elsewhere. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table releases (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      tag text not null,
      name text,
      description text,
      sha text not null,
      author_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      released_at timestamptz(3) not null default now(),
      constraint releases_tag unique (project_id, tag)
    )`.execute(db)
  for (const column of ['released_at', 'created_at'] as const) {
    await sql`
      create index ${sql.raw(`releases_${column}`)} on releases (project_id, ${sql.ref(column)}, id)`.execute(
      db,
    )
  }
  await sql`create index releases_author on releases (author_id) where author_id is not null`.execute(db)

  await sql`
    create table release_links (
      id bigint generated always as identity primary key,
      release_id bigint not null references releases on delete cascade,
      name text not null,
      url text not null,
      filepath text,
      link_type text not null default 'other' check (link_type in ('other', 'runbook', 'image', 'package')),
      constraint release_links_name unique (release_id, name),
      constraint release_links_url unique (release_id, url),
      constraint release_links_filepath unique (release_id, filepath)
    )`.execute(db)
}
