import { sql, type Kysely } from 'kysely'

/**
 * A push is one event, with all refs that it moved; there was one a ref. Those of small pushes stay apart, since some may
 * still have to be told; of a large one the first tells all, for each of many would now be heeded as a push of its own.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create temporary table told_pushes on commit drop as
    select e.id, (e.payload ->> 'refUpdateId')::bigint as push,
      jsonb_build_object('ref', e.payload ->> 'ref', 'oldOid', e.payload ->> 'oldOid', 'newOid', e.payload ->> 'newOid')
        as moved,
      count(*) over w > 4 as large, row_number() over (w order by e.id) as place
    from events e where e.kind = 'push' and e.payload ? 'ref'
    window w as (partition by (e.payload ->> 'refUpdateId')::bigint)`.execute(db)
  await sql`
    update events e set payload = jsonb_build_object(
      'updates', case when t.large then
        (select jsonb_agg(o.moved order by o.id) from told_pushes o where o.push = t.push)
        else jsonb_build_array(t.moved) end,
      'pushOptions', coalesce(e.payload -> 'pushOptions', '[]'),
      'byJob', exists (select from ref_updates u where u.id = t.push and u.push ->> 'by_job' is not null))
    from told_pushes t where t.id = e.id and (not t.large or t.place = 1)`.execute(db)
  await sql`delete from events e using told_pushes t where t.id = e.id and t.large and t.place > 1`.execute(
    db,
  )
}
