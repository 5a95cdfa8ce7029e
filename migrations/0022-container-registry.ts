import { sql, type Kysely } from 'kysely'

/** Container images: what repositories hold, and which content belongs to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // name: what follows the project's full path, without the slash; empty for the image of the project itself.
  await sql`
    create table container_repositories (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      status text check (status in ('delete_scheduled', 'delete_failed')),
      cleanup_started_at timestamptz(3),
      tags_removed_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint container_repositories_name unique (project_id, name)
    )`.execute(db)

  // Content in the store. touched_at: when somebody last pushed it or took it over; garbage collection leaves alone
  // what was touched within its grace, and whoever comes to need a row touches it, so that both cannot happen at once.
  await sql`
    create table container_blobs (
      digest text primary key,
      size bigint not null,
      touched_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`
    create table container_blob_links (
      repository_id bigint not null references container_repositories on delete cascade,
      digest text not null references container_blobs,
      touched_at timestamptz(3) not null default now(),
      primary key (repository_id, digest)
    )`.execute(db)
  await sql`create index container_blob_links_digest on container_blob_links (digest)`.execute(db)

  // payload: the very bytes that were pushed. total_size: of the layers, of an index those of its images.
  await sql`
    create table container_manifests (
      id bigint generated always as identity primary key,
      repository_id bigint not null references container_repositories on delete cascade,
      digest text not null,
      media_type text not null,
      artifact_type text,
      annotations jsonb,
      subject_digest text,
      config_digest text,
      payload bytea not null,
      size bigint not null,
      total_size bigint not null,
      touched_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      constraint container_manifests_digest unique (repository_id, digest)
    )`.execute(db)
  await sql`alter table container_manifests alter column payload set storage external`.execute(db)
  await sql`
    create index container_manifests_subject on container_manifests (repository_id, subject_digest, digest)
    where subject_digest is not null`.execute(db)
  await sql`
    create table container_manifest_references (
      manifest_id bigint not null references container_manifests on delete cascade,
      repository_id bigint not null,
      digest text not null,
      kind text not null check (kind in ('blob', 'manifest')),
      primary key (manifest_id, digest)
    )`.execute(db)
  await sql`
    create index container_manifest_references_digest
    on container_manifest_references (repository_id, digest)`.execute(db)

  // pushed_at: when the name got the manifest that it has.
  await sql`
    create table container_tags (
      repository_id bigint not null references container_repositories on delete cascade,
      name text not null,
      manifest_id bigint not null references container_manifests on delete cascade,
      pushed_at timestamptz(3) not null default now(),
      primary key (repository_id, name)
    )`.execute(db)
  // Cleanup looks at them newest first.
  await sql`create index container_tags_pushed on container_tags (repository_id, pushed_at desc, name desc)`.execute(
    db,
  )
  await sql`create index container_tags_manifest on container_tags (manifest_id)`.execute(db)
  // The order of the distribution specification, which is that of all lists of tags.
  await sql`
    create index container_tags_listed
    on container_tags (repository_id, lower(name collate "C"), name collate "C")`.execute(db)

  // The bytes lie in a file, whose length is how far an upload has come. writer: who is adding to it just now; should
  // he die, another one may once lease_until has passed.
  await sql`
    create table container_uploads (
      id uuid primary key,
      repository_id bigint not null references container_repositories on delete cascade,
      writer uuid,
      lease_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      touched_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index container_uploads_repository on container_uploads (repository_id)`.execute(db)
  await sql`create index container_uploads_touched on container_uploads (touched_at)`.execute(db)

  // Projects that were there before there were cleanup policies: theirs run only where a setting says so.
  await sql`
    create table container_cleanup_policies (
      project_id bigint primary key references projects on delete cascade,
      historic boolean not null default false,
      next_run_at timestamptz(3)
    )`.execute(db)
  await sql`
    create index projects_cleanup on projects (id)
    where settings -> 'container_expiration_policy' ->> 'enabled' = 'true'`.execute(db)
  await sql`
    insert into container_cleanup_policies (project_id, historic) select p.id, true from projects p`.execute(
    db,
  )

  // Keys that sign, each made once and sealed.
  await sql`
    create table signing_keys (
      name text primary key,
      secret text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
}
