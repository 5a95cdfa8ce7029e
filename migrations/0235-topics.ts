import { sql, type Kysely } from 'kysely'

/** Topics of projects as things of their own, with a title and a picture. Projects keep the names, in their order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table topics (
      id bigint generated always as identity primary key,
      name text not null,
      title text not null,
      description text,
      avatar text,
      total_projects_count bigint not null default 0,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create unique index topics_name on topics (lower(name))`.execute(db)
  await sql`create index topics_order on topics (total_projects_count desc, id)`.execute(db)
  await sql`create index topics_search on topics using gin (name gin_trgm_ops)`.execute(db)

  await sql`alter table avatars add column topic_id bigint references topics on delete cascade`.execute(db)
  await sql`alter table avatars add constraint avatars_topic unique (topic_id)`.execute(db)
  await sql`alter table avatars drop constraint avatars_check`.execute(db)
  await sql`
    alter table avatars add constraint avatars_owner
    check (num_nonnulls(user_id, project_id, namespace_id, topic_id) = 1)`.execute(db)

  await spelling(db)
  await counting(db)

  await sql`
    insert into topics (name, title, total_projects_count)
    select min(named.name), min(named.name), count(distinct p.id)
    from projects p, unnest(p.topics) named (name) group by lower(named.name)`.execute(db)
  await sql`
    alter table projects disable trigger user`.execute(db)
  await sql`
    update projects set topics = spelled_topics(topics) where topics <> spelled_topics(topics)`.execute(db)
  await sql`
    alter table projects enable trigger user`.execute(db)
}

/** A topic is spelled as it was first: lists of projects look for the exact name. */
async function spelling(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function spelled_topics(names text[]) returns text[] language sql stable as $$
      select coalesce(array_agg(chosen.name order by chosen.at), '{}') from (
        select distinct on (lower(given.name)) coalesce(t.name, given.name) as name, given.at
        from unnest(names) with ordinality given (name, at) left join topics t on lower(t.name) = lower(given.name)
        order by lower(given.name), given.at) chosen
    $$`.execute(db)
  await sql`
    create function spell_topics() returns trigger language plpgsql as $$
    begin
      new.topics := spelled_topics(new.topics);
      return new;
    end $$`.execute(db)
  await sql`
    create trigger spell_topics before insert or update of topics on projects for each row
    when (new.topics <> '{}') execute function spell_topics()`.execute(db)
}

/** Topics come into being with the first project that has them. They are held in the order of their names always. */
async function counting(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function hold_topics(names text[]) returns void language sql as $$
      select from topics t
      where lower(t.name) = any (select lower(given.name) from unnest(names) given (name))
      order by lower(t.name) for no key update
    $$`.execute(db)
  await sql`
    create function add_topics(names text[]) returns void language sql as $$
      insert into topics as t (name, title, total_projects_count)
      select min(given.name), min(given.name), count(*) from unnest(names) given (name)
      group by lower(given.name) order by lower(given.name)
      on conflict ((lower(name))) do update
      set total_projects_count = t.total_projects_count + excluded.total_projects_count
    $$`.execute(db)
  await sql`
    create function drop_topics(names text[]) returns void language sql as $$
      update topics t set total_projects_count = t.total_projects_count - fewer.number
      from (select lower(given.name) as key, count(*) as number from unnest(names) given (name) group by 1) fewer
      where lower(t.name) = fewer.key
    $$`.execute(db)
  await sql`
    create function count_topics() returns trigger language plpgsql as $$
    declare
      names text[];
    begin
      case tg_op
        when 'INSERT' then
          perform add_topics(array_agg(named.name)) from made p, unnest(p.topics) named (name) having count(*) > 0;
        when 'UPDATE' then
          perform hold_topics(old.topics || new.topics);
          perform drop_topics(old.topics);
          perform add_topics(new.topics);
        else
          names := array(select named.name from gone p, unnest(p.topics) named (name));
          if names <> '{}' then
            perform hold_topics(names);
            perform drop_topics(names);
          end if;
      end case;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger count_new_topics after insert on projects referencing new table as made
    for each statement execute function count_topics()`.execute(db)
  await sql`
    create trigger count_changed_topics after update of topics on projects for each row
    when (old.topics is distinct from new.topics) execute function count_topics()`.execute(db)
  await sql`
    create trigger count_gone_topics after delete on projects referencing old table as gone
    for each statement execute function count_topics()`.execute(db)
}
