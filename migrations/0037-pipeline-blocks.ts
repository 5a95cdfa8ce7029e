import { sql, type Kysely } from 'kysely'

/** Pipelines are counted in blocks of two sizes, so that finding a page far down looks at few of either. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table ci_pipeline_blocks`.execute(db)
  await sql`
    create table ci_pipeline_blocks (
      project_id bigint not null references projects on delete cascade,
      size integer not null,
      block bigint not null,
      live integer not null,
      created_at timestamptz(3) not null default now(),
      primary key (project_id, size, block)
    )`.execute(db)
  await sql`
    insert into ci_pipeline_blocks (project_id, size, block, live, created_at)
    select p.project_id, size.of, p.iid / size.of, count(*) filter (where p.source <> 'parent_pipeline'),
      min(p.created_at)
    from ci_pipelines p, (values (100), (10000)) size (of) group by 1, 2, 3`.execute(db)
}
