import { sql, type RawBuilder } from 'kysely'

/**
 * `ci_pipeline_blocks` counts the listed pipelines of each 100 iids and of each 10,000, so that where a page begins
 * is found by a look at a hundred large blocks, a hundred small ones and a hundred pipelines, in a list of a million.
 */
export const smallBlock = 100
export const largeBlock = 10_000

/** The sizes as a row source `size (of)`. */
export const blockSizes: RawBuilder<unknown> = sql`(values (${sql.lit(smallBlock)}), (${sql.lit(largeBlock)})) size (of)`

/** The small block that the pipeline at `offset` stands in, and how many are listed before it: `(block, skipped)`. */
export function blockAt(offset: number, sort: 'asc' | 'desc'): RawBuilder<unknown> {
  const direction = sql.raw(sort)
  const at = (
    size: number,
    within: RawBuilder<unknown>,
    before: RawBuilder<unknown>,
  ): RawBuilder<unknown> => sql`
    select b.block, b.skipped from (
      select b.block, b.live, ${before} + sum(b.live) over (order by b.block ${direction}) - b.live as skipped
      from ci_pipeline_blocks b where b.project_id = subject.id and b.size = ${sql.lit(size)} ${within}) b
    where b.skipped <= ${offset} and b.skipped + b.live > ${offset}`
  const perLarge = sql.lit(largeBlock / smallBlock)
  return sql`
    select small.block, small.skipped from (${at(largeBlock, sql``, sql`0`)}) large
    cross join lateral (${at(
      smallBlock,
      sql`and b.block >= large.block * ${perLarge} and b.block < (large.block + 1) * ${perLarge}`,
      sql`large.skipped`,
    )}) small`
}

/** The iid that all pipelines created before `time` are below. */
export function iidBefore(time: Date): RawBuilder<unknown> {
  const last = (size: number, within: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select max(b.block) from ci_pipeline_blocks b
    where b.project_id = subject.id and b.size = ${sql.lit(size)} and b.created_at < ${time} ${within}`
  const large = sql`(${last(largeBlock, sql``)})`
  return sql`((coalesce((${last(
    smallBlock,
    sql`and b.block >= ${large} * ${sql.lit(largeBlock / smallBlock)}`,
  )}), -1) + 1) * ${sql.lit(smallBlock)})`
}
