import { sql, type Kysely } from 'kysely'

/** Three sizes of blocks, the largest with the number of pipelines before it: no page is further away than another. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ci_pipeline_blocks add column before bigint`.execute(db)
  await sql`
    insert into ci_pipeline_blocks (project_id, size, block, live, created_at)
    select b.project_id, 1000, b.block / 10, sum(b.live), min(b.created_at)
    from ci_pipeline_blocks b where b.size = 100 group by 1, 3`.execute(db)
  await sql`
    update ci_pipeline_blocks b set before = s.before
    from (
      select project_id, size, block, sum(live) over (partition by project_id order by block) - live as before
      from ci_pipeline_blocks where size = 10000) s
    where b.project_id = s.project_id and b.size = s.size and b.block = s.block`.execute(db)
  await sql`
    create index ci_pipeline_blocks_before on ci_pipeline_blocks (project_id, before, block)
    where size = 10000`.execute(db)
}
