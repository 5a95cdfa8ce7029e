import { sql, type Kysely } from 'kysely'

/** What a release is a part of, and how it was at certain moments. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table release_milestones (
      release_id bigint not null references releases on delete cascade,
      milestone_id bigint not null references milestones on delete cascade,
      primary key (release_id, milestone_id)
    )`.execute(db)
  await sql`create index release_milestones_milestone on release_milestones (milestone_id)`.execute(db)
  // summary: as text, since its digest is told.
  await sql`
    create table release_evidences (
      id bigint generated always as identity primary key,
      release_id bigint not null references releases on delete cascade,
      sha text not null,
      summary text not null,
      collected_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index release_evidences_release on release_evidences (release_id, id)`.execute(db)
}
