import { sql, type Kysely } from 'kysely'

/** Who wants to come in, who was asked to, and whether somebody may see a group. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const place = sql`
    namespace_id bigint references namespaces on delete cascade,
    project_id bigint references projects on delete cascade`
  await sql`
    create table access_requests (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      ${place},
      requested_at timestamptz(3) not null default now(),
      check (num_nonnulls(namespace_id, project_id) = 1),
      constraint access_requests_group unique (user_id, namespace_id),
      constraint access_requests_project unique (user_id, project_id)
    )`.execute(db)
  await sql`create index access_requests_namespace on access_requests (namespace_id, id)`.execute(db)
  await sql`create index access_requests_in_project on access_requests (project_id, id)`.execute(db)

  // Addresses that nobody here has yet; who signs up with one becomes a member.
  await sql`
    create table invitations (
      id bigint generated always as identity primary key,
      email text not null,
      ${place},
      access_level smallint not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
      expires_at date,
      created_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(namespace_id, project_id) = 1)
    )`.execute(db)
  await sql`
    create unique index invitations_group on invitations (lower(email), namespace_id)
    where namespace_id is not null`.execute(db)
  await sql`
    create unique index invitations_project on invitations (lower(email), project_id)
    where project_id is not null`.execute(db)
  await sql`create index invitations_namespace on invitations (namespace_id, id)`.execute(db)
  await sql`create index invitations_in_project on invitations (project_id, id)`.execute(db)
  await sql`create index invitations_created on invitations (created_at)`.execute(db)

  // For answers that name groups which few things have, such as those they are shared with.
  await sql`
    create function sees_group(wanted bigint, member bigint, admin boolean, is_external boolean)
    returns boolean language plpgsql stable as $$
    begin
      return exists (
        select from namespaces n
        where n.id = wanted and (
          n.visibility = 20 or admin or (n.visibility = 10 and member is not null and not is_external)
          or exists (select from effective_memberships(n.traversal_ids, null) m where m.user_id = member)
          or is_member_inside(member, n.id)));
    end $$`.execute(db)
}
