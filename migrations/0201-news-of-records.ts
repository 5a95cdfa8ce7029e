import { sql, type Kysely } from 'kysely'

/**
 * What webhooks of the instance and of groups are told of accounts, projects, groups, keys and memberships. These rows
 * are written in many places (by hand, by directories, by identity providers, with what they hang on), so the database
 * announces them: nothing that changes them can forget it. It costs an index look-up where nobody listens.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await chains(db)
  await facts(db)
  await telling(db)
  await triggers(db)
}

/** Which webhooks were called in a chain of calls, so that it does not go round for ever. */
async function chains(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_chains (
      uuid uuid not null,
      webhook_id bigint not null references webhooks on delete cascade,
      -- Null: what happened first.
      link uuid,
      created_at timestamptz(3) not null default now(),
      constraint webhook_chains_once unique nulls not distinct (uuid, webhook_id, link)
    )`.execute(db)
  await sql`create index webhook_chains_created_at on webhook_chains (created_at)`.execute(db)
  await sql`create index webhook_chains_webhook on webhook_chains (webhook_id)`.execute(db)
}

/** What is told of a row, as it is in this moment: it may be gone when somebody reads the news. */
async function facts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function facts_of_user(u users) returns jsonb language sql stable as $$
      select jsonb_build_object('id', u.id, 'name', u.name, 'username', u.username, 'email', u.email,
        'public_email', u.public_email, 'state', u.state, 'created_at', u.created_at, 'updated_at', u.updated_at)
    $$`.execute(db)
  await sql`
    create function facts_of_project(p projects) returns jsonb language sql stable as $$
      select jsonb_build_object('id', p.id, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
        'namespace_id', p.namespace_id, 'visibility', p.visibility, 'created_at', p.created_at,
        'updated_at', p.updated_at,
        'home', case when n.kind = 'group' then jsonb_build_object('name', n.name) else (
          select facts_of_user(u) from users u where u.id = n.owner_id) end,
        'owners', coalesce((
          select jsonb_agg(facts_of_user(u) order by u.id) from users u
          where u.kind = 'human' and u.id in (
            select m.user_id from members m where m.access_level = 50 and m.state = 'active'
              and (m.project_id = p.id or m.namespace_id = any (n.traversal_ids)))), '[]'))
      from namespaces n where n.id = p.namespace_id
    $$`.execute(db)
  await sql`
    create function facts_of_group(n namespaces) returns jsonb language sql stable as $$
      select jsonb_build_object('id', n.id, 'name', n.name, 'path', n.path, 'full_path', n.full_path,
        'created_at', n.created_at, 'updated_at', n.updated_at,
        'parent', (select jsonb_build_object('id', a.id, 'name', a.name, 'path', a.path, 'full_path', a.full_path)
          from namespaces a where a.id = n.parent_id))
    $$`.execute(db)
  // Null for the bots that stand behind tokens.
  await sql`
    create function facts_of_membership(user_id bigint, project_id bigint, namespace_id bigint) returns jsonb
    language sql stable as $$
      select jsonb_build_object('user', facts_of_user(u),
        'project', (select jsonb_build_object('id', p.id, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
          'visibility', p.visibility) from projects p where p.id = $2),
        'group', (select jsonb_build_object('id', n.id, 'name', n.name, 'path', n.path, 'full_path', n.full_path)
          from namespaces n where n.id = $3))
      from users u where u.id = $1 and u.kind in ('human', 'service_account')
    $$`.execute(db)
  await sql`
    create function facts_of_member(m members) returns jsonb language sql stable as $$
      select facts_of_membership(m.user_id, m.project_id, m.namespace_id) || jsonb_build_object(
        'access_level', m.access_level, 'expires_at', m.expires_at, 'created_at', m.created_at,
        'updated_at', m.updated_at)
    $$`.execute(db)
}

async function telling(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index webhooks_of_records on webhooks (namespace_id)
    where triggers && '{system,member,project,subgroup}'::text[]`.execute(db)
  // line: ids of the groups whose webhooks may want to know.
  await sql`
    create function webhooks_want(names text[], line bigint[]) returns boolean language sql stable as $$
      select exists (
        select from webhooks w
        where w.triggers && '{system,member,project,subgroup}'::text[] and w.triggers && names
          and w.project_id is null and (w.namespace_id is null or w.namespace_id = any (line)))
    $$`.execute(db)
  await sql`
    create function line_of(namespace_id bigint) returns bigint[] language sql stable as $$
      select n.traversal_ids from namespaces n where n.id = $1
    $$`.execute(db)
  await sql`
    create function announce_record(of_kind text, news jsonb) returns void language plpgsql as $$
    declare
      event_id bigint;
      chain jsonb := nullif(current_setting('guildhall.chain', true), '')::jsonb;
    begin
      insert into events (kind, payload) values (of_kind, news) returning id into event_id;
      perform graphile_worker.add_job(
        identifier => 'event:webhooks:' || of_kind,
        payload => jsonb_strip_nulls(jsonb_build_object('event', event_id, '$chain', chain))::json);
    end $$`.execute(db)
}

async function triggers(db: Kysely<unknown>): Promise<void> {
  await ofProjects(db)
  await ofGroups(db)
  await ofMembers(db)
  await ofUsers(db)
}

async function ofProjects(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_project(action text, p projects, old_full_path text, group_id bigint) returns void
    language plpgsql as $$
    begin
      if webhooks_want(case when action in ('create', 'destroy') then '{system,project}'::text[] else '{system}' end,
          line_of(group_id)) then
        perform announce_record('project', jsonb_build_object('action', action, 'groupId', group_id,
          'oldFullPath', old_full_path, 'record', facts_of_project(p)));
      end if;
    end $$`.execute(db)
  await sql`
    create function projects_are_news() returns trigger language plpgsql as $$
    begin
      case tg_op
        when 'INSERT' then perform announce_project('create', new, null, new.namespace_id);
        when 'UPDATE' then perform announce_project(
          case when new.namespace_id <> old.namespace_id then 'transfer' when new.path <> old.path then 'rename'
            else 'update' end, new, old.full_path, new.namespace_id);
        -- Before it is deleted, while it still has owners.
        else
          perform announce_project('destroy', old, null, old.namespace_id);
          return old;
      end case;
      return null;
    end $$`.execute(db)
  const attributes = [
    'name',
    'path',
    'namespace_id',
    'description',
    'visibility',
    'topics',
    'archived',
    'default_branch',
    'settings',
    'feature_levels',
  ]
  const all = (row: string) => sql.raw(attributes.map((name) => `${row}.${name}`).join(', '))
  await sql`
    create trigger news_of_created after insert on projects for each row execute function projects_are_news()`.execute(
    db,
  )
  await sql`
    create trigger news_of_changed after update of ${sql.raw(attributes.join(', '))} on projects for each row
    when (row(${all('old')}) is distinct from row(${all('new')})) execute function projects_are_news()`.execute(
    db,
  )
  // What goes with its group is told with the group.
  await sql`
    create trigger news_of_deleted before delete on projects for each row
    when (pg_trigger_depth() = 0) execute function projects_are_news()`.execute(db)
}

async function ofGroups(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_group(action text, n namespaces, was jsonb, above bigint) returns void
    language plpgsql as $$
    begin
      if n.kind = 'group' and webhooks_want(
          case when action = 'rename' then '{system}'::text[] else '{system,subgroup}' end, line_of(above)) then
        perform announce_record('group', jsonb_build_object('action', action, 'groupId', above, 'old', was,
          'record', facts_of_group(n)));
      end if;
    end $$`.execute(db)
  // With a group all goes that lies below it; the webhooks that hear of it are those of the groups above.
  await sql`
    create function groups_are_news() returns trigger language plpgsql as $$
    declare
      p projects;
      n namespaces;
    begin
      case tg_op
        when 'INSERT' then perform announce_group('create', new, null, new.parent_id);
        when 'UPDATE' then perform announce_group('rename', new,
          jsonb_build_object('path', old.path, 'full_path', old.full_path), new.parent_id);
        else
          if webhooks_want('{system,project,subgroup}', line_of(old.parent_id)) then
            for p in
              select x.* from projects x join namespaces b on b.id = x.namespace_id
              where b.traversal_ids @> array[old.id] order by x.id
            loop
              perform announce_project('destroy', p, null, old.parent_id);
            end loop;
            for n in
              select b.* from namespaces b where b.traversal_ids @> array[old.id]
              order by cardinality(b.traversal_ids) desc, b.id
            loop
              perform announce_group('destroy', n, null, old.parent_id);
            end loop;
          end if;
          return old;
      end case;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger news_of_created after insert on namespaces for each row
    when (new.kind = 'group') execute function groups_are_news()`.execute(db)
  await sql`
    create trigger news_of_renamed after update of path on namespaces for each row
    when (new.kind = 'group' and new.path <> old.path) execute function groups_are_news()`.execute(db)
  await sql`
    create trigger news_of_deleted before delete on namespaces for each row
    when (pg_trigger_depth() = 0) execute function groups_are_news()`.execute(db)
}

async function ofMembers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function announce_membership(of_kind text, action text, group_id bigint, record jsonb) returns void
    language plpgsql as $$
    begin
      if record is not null then
        perform announce_record(of_kind, jsonb_build_object('action', action, 'groupId', group_id, 'record', record));
      end if;
    end $$`.execute(db)
  // Who waits for a seat is no member yet; who comes back after the last day is a new one.
  await sql`
    create function members_are_news() returns trigger language plpgsql as $$
    declare
      m members := coalesce(new, old);
      what text := case
        when tg_op = 'DELETE' or new.state <> 'active' then 'remove'
        when tg_op = 'INSERT' or old.state <> 'active' or new.created_at <> old.created_at then 'add'
        else 'update' end;
    begin
      if webhooks_want('{system,member}', line_of(m.namespace_id)) then
        perform announce_membership('member', what, m.namespace_id, facts_of_member(m));
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger news_of_created after insert on members for each row
    when (new.state = 'active') execute function members_are_news()`.execute(db)
  await sql`
    create trigger news_of_changed after update of access_level, expires_at, state, created_at on members for each row
    when (row(old.access_level, old.expires_at, old.state, old.created_at)
        is distinct from row(new.access_level, new.expires_at, new.state, new.created_at)
      and 'active' in (old.state, new.state)) execute function members_are_news()`.execute(db)
  // What goes with its user, group or project is not told one by one.
  await sql`
    create trigger news_of_deleted after delete on members for each row
    when (pg_trigger_depth() = 0 and old.state = 'active') execute function members_are_news()`.execute(db)

  // A request that made a member is not denied.
  await sql`
    create function access_requests_are_news() returns trigger language plpgsql as $$
    declare
      r access_requests := coalesce(new, old);
    begin
      if webhooks_want('{system,member}', line_of(r.namespace_id)) and not (tg_op = 'DELETE' and exists (
          select from members m where m.user_id = r.user_id
            and (m.project_id = r.project_id or m.namespace_id = r.namespace_id))) then
        perform announce_membership('access_request', case when tg_op = 'INSERT' then 'request' else 'revoke' end,
          r.namespace_id, facts_of_membership(r.user_id, r.project_id, r.namespace_id) || jsonb_build_object(
            'access_level', 30, 'expires_at', null, 'created_at', r.requested_at, 'updated_at', r.requested_at));
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger news_of_created after insert on access_requests for each row
    execute function access_requests_are_news()`.execute(db)
  await sql`
    create trigger news_of_deleted after delete on access_requests for each row
    when (pg_trigger_depth() = 0) execute function access_requests_are_news()`.execute(db)
}

async function ofUsers(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function users_are_news() returns trigger language plpgsql as $$
    declare
      u users := coalesce(new, old);
    begin
      if u.kind in ('human', 'service_account') and webhooks_want('{system}', null) then
        perform announce_record('user', jsonb_build_object(
          'action', case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'rename' else 'destroy' end,
          'oldUsername', old.username, 'record', facts_of_user(u)));
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger news_of_created after insert on users for each row execute function users_are_news()`.execute(
    db,
  )
  await sql`
    create trigger news_of_renamed after update of username on users for each row
    when (new.username <> old.username) execute function users_are_news()`.execute(db)
  await sql`
    create trigger news_of_deleted after delete on users for each row execute function users_are_news()`.execute(
    db,
  )

  await sql`
    create function ssh_keys_are_news() returns trigger language plpgsql as $$
    declare
      k ssh_keys := coalesce(new, old);
    begin
      if k.kind = 'user' and webhooks_want('{system}', null) then
        perform announce_record('ssh_key', (
          select jsonb_build_object('action', case when tg_op = 'INSERT' then 'create' else 'destroy' end,
            'record', jsonb_build_object('id', k.id, 'key', k.key, 'username', u.username, 'created_at', k.created_at))
          from users u where u.id = k.user_id));
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger news_of_created after insert on ssh_keys for each row execute function ssh_keys_are_news()`.execute(
    db,
  )
  await sql`
    create trigger news_of_deleted after delete on ssh_keys for each row
    when (pg_trigger_depth() = 0) execute function ssh_keys_are_news()`.execute(db)
}
