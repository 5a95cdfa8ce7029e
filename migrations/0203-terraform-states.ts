import { sql, type Kysely } from 'kysely'

/** What Terraform and OpenTofu know of the infrastructure of a project, by names, every version of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table terraform_states (
      id bigint generated always as identity primary key,
      project_id bigint not null,
      name text not null,
      -- Of whoever changes it now.
      lock_id text,
      lock_info jsonb,
      locked_by_id bigint references users on delete set null,
      locked_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint terraform_states_project foreign key (project_id) references projects on delete cascade,
      constraint terraform_states_name unique (project_id, name),
      check ((lock_id is null) = (locked_at is null))
    )`.execute(db)
  await sql`
    create index terraform_states_locked_by on terraform_states (locked_by_id) where locked_by_id is not null`.execute(
    db,
  )
  await sql`
    create table terraform_state_versions (
      id bigint generated always as identity primary key,
      state_id bigint not null references terraform_states on delete cascade,
      serial bigint not null,
      -- Sealed: states hold the secrets of what they describe.
      content text not null,
      created_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      constraint terraform_state_versions_serial unique (state_id, serial)
    )`.execute(db)
  await sql`
    create index terraform_state_versions_author on terraform_state_versions (created_by_id)
    where created_by_id is not null`.execute(db)
}
