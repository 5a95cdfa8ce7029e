import { sql, type Kysely } from 'kysely'

/** Moves of repositories from one storage to another. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Until then the repository takes nothing in, since it is being moved: a lease, which ends by itself after a crash.
  await sql`alter table projects add column moving_until timestamptz(3)`.execute(db)
  await sql`
    create table repository_storage_moves (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      source_storage text not null,
      destination_storage text not null,
      state text not null default 'scheduled'
        check (state in ('scheduled', 'started', 'replicated', 'failed', 'finished', 'cleanup failed')),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index repository_storage_moves_project on repository_storage_moves (project_id, id)`.execute(
    db,
  )
  // Also while the old place is still to be removed: a move back would be in its way.
  await sql`
    create unique index repository_storage_moves_running on repository_storage_moves (project_id)
    where state in ('scheduled', 'started', 'replicated')`.execute(db)
}
