import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/**
 * `ci_pipeline_blocks` counts the listed pipelines of each 100, 1,000 and 10,000 iids. The largest blocks also know how
 * many are listed before them, so where a page begins is found by one look-up among these and two looks at ten rows,
 * however many pipelines there are.
 */
export const blockSizes = [10_000, 1_000, 100] as const
const [largest, ...smaller] = blockSizes
const smallest = blockSizes.at(-1)!

/** A block of every size to each iid: the row source `size (of)`. */
export const sizes: RawBuilder<unknown> = sql`(values ${sql.join(blockSizes.map((size) => sql`(${sql.lit(size)})`))}) size (of)`

/** How many pipelines are listed before a new block that begins with a pipeline; null for the smaller blocks. */
export function beforeNew(listed: 0 | 1, live: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when size.of = ${sql.lit(largest)} then ${live} - ${listed} end`
}

/** Takes pipelines that are gone out of the counts: `gone (project_id, iid, listed)`, `listed` being 1 or 0. */
export function uncount(gone: RawBuilder<unknown>): RawBuilder<unknown> {
  const own = sql`gone.iid / size.of`
  return sql`
    update ci_pipeline_blocks b set
      live = b.live - case when b.block = ${own} then gone.listed else 0 end,
      before = b.before - case when b.block > ${own} then gone.listed else 0 end
    from ${gone} gone, ${sizes}
    where b.project_id = gone.project_id and b.size = size.of
      and b.block between ${own} and case when size.of = ${sql.lit(largest)} then ${2 ** 53 - 1}::bigint else ${own} end`
}

/** Counts all blocks anew, of all projects. */
export const countBlocks: RawBuilder<unknown> = sql`
  insert into ci_pipeline_blocks (project_id, size, block, live, created_at, before)
  select b.*, case when b.size = ${sql.lit(largest)}
    then sum(b.live) over (partition by b.project_id, b.size order by b.block) - b.live end
  from (
    select p.project_id, size.of as size, p.iid / size.of as block,
      count(*) filter (where p.source <> 'parent_pipeline') as live, min(p.created_at) as created_at
    from ci_pipelines p, ${sizes} group by 1, 2, 3) b`

/** The ten blocks of the next smaller size in one of a larger size. */
function within(size: number, outer: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`b.project_id = subject.id and b.size = ${sql.lit(size)}
    and b.block >= ${outer}.block * 10 and b.block < (${outer}.block + 1) * 10`
}

/**
 * The pipelines from the one at `offset` on, as conditions and a number to skip: rows `(iid, skipped)`, where `iid` is
 * the end of its block that a walk in the direction of `sort` begins at. No row when the list is shorter.
 */
export function startOf(offset: number, sort: 'asc' | 'desc'): RawBuilder<unknown> {
  const place =
    sort === 'asc'
      ? sql`select ${offset}::bigint as at`
      : sql`
          select c.live - 1 - ${offset}::bigint as at from project_counters c
          where c.project_id = subject.id and c.kind = 'pipeline'`
  const narrowed = smaller.map((size, index) => {
    const outer = sql.ref(`of_${blockSizes[index]!}`)
    return sql`
      cross join lateral (
        select b.* from (
          select b.block, b.live, (${outer}.before + sum(b.live) over (order by b.block) - b.live)::bigint as before
          from ci_pipeline_blocks b where ${within(size, outer)}) b
        where b.before <= place.at and b.before + b.live > place.at) ${sql.ref(`of_${size}`)}`
  })
  const found = sql.ref(`of_${smallest}`)
  const begin =
    sort === 'asc'
      ? sql`${found}.block * ${sql.lit(smallest)} as iid, place.at - ${found}.before as skipped`
      : sql`
          (${found}.block + 1) * ${sql.lit(smallest)} - 1 as iid,
          ${found}.before + ${found}.live - 1 - place.at as skipped`
  return sql`
    select ${begin} from (${place}) place
    cross join lateral (
      select b.block, b.before from ci_pipeline_blocks b
      where b.project_id = subject.id and b.size = ${sql.lit(largest)} and b.before <= place.at
      order by b.before desc, b.block desc limit 1) ${sql.ref(`of_${largest}`)}
    ${sql.join(narrowed, sql` `)}`
}

/** The iid that all pipelines created before `time` are below. */
export function iidBefore(time: Date): RawBuilder<unknown> {
  const last = (size: number, place: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select b.block from ci_pipeline_blocks b where ${place} and b.created_at < ${time}
    order by b.block desc limit 1`
  const outermost = sql`(${last(largest, sql`b.project_id = subject.id and b.size = ${sql.lit(largest)}`)}) ${sql.ref(`of_${largest}`)}`
  const inner = smaller.map((size, index) => {
    const outer = sql.ref(`of_${blockSizes[index]!}`)
    return sql`cross join lateral (${last(size, within(size, outer))}) ${sql.ref(`of_${size}`)}`
  })
  return sql`coalesce((
    select (${sql.ref(`of_${smallest}`)}.block + 1) * ${sql.lit(smallest)}
    from ${outermost} ${sql.join(inner, sql` `)}), 0)`
}
