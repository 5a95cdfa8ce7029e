import { sql, type RawBuilder } from 'kysely'
import { countLimit, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { blockSize } from './create-store.ts'
import type { PipelineSummaryRow } from './entities.ts'
import { summaryColumns } from './store.ts'

export interface ListFilter {
  readonly scope?: 'running' | 'pending' | 'finished' | 'branches' | 'tags' | undefined
  readonly status?: string | undefined
  readonly ref?: string | undefined
  readonly sha?: string | undefined
  readonly source?: string | undefined
  readonly name?: string | undefined
  readonly username?: string | undefined
  readonly yaml_errors?: boolean | undefined
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  readonly order_by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id'
  readonly sort: 'asc' | 'desc'
}

const scopeStatuses = {
  running: ['running', 'canceling'],
  pending: ['pending'],
  finished: ['success', 'failed', 'canceled'],
} as const

/** Conditions on `p`, without project and source of children. */
export function conditionsOf(filter: ListFilter): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = []
  if (filter.scope !== undefined && filter.scope in scopeStatuses) {
    const statuses = scopeStatuses[filter.scope as keyof typeof scopeStatuses]
    conditions.push(sql`p.status = any (${[...statuses]}::text[])`)
  }
  // A pipeline that is being canceled is shown as running.
  if (filter.status === 'running') conditions.push(sql`p.status in ('running', 'canceling')`)
  else if (filter.status !== undefined) conditions.push(sql`p.status = ${filter.status}`)
  if (filter.ref !== undefined) conditions.push(sql`p.ref = ${filter.ref}`)
  if (filter.sha !== undefined) conditions.push(sql`p.sha = ${filter.sha}`)
  if (filter.source !== undefined) conditions.push(sql`p.source = ${filter.source}`)
  if (filter.name !== undefined) conditions.push(sql`p.name = ${filter.name}`)
  if (filter.username !== undefined) {
    conditions.push(
      sql`p.user_id = (select u.id from users u where lower(u.username) = lower(${filter.username}))`,
    )
  }
  if (filter.yaml_errors !== undefined) {
    conditions.push(filter.yaml_errors ? sql`p.yaml_errors is not null` : sql`p.yaml_errors is null`)
  }
  if (filter.updated_after !== undefined) conditions.push(sql`p.updated_at > ${filter.updated_after}`)
  if (filter.updated_before !== undefined) conditions.push(sql`p.updated_at < ${filter.updated_before}`)
  if (filter.created_after !== undefined) conditions.push(sql`p.created_at > ${filter.created_after}`)
  if (filter.created_before !== undefined) conditions.push(sql`p.created_at < ${filter.created_before}`)
  return conditions
}

/** Ties are broken by id, in the same direction, so that an index on the column answers both. */
export function orderOf({ order_by, sort }: ListFilter): RawBuilder<unknown> {
  const direction = sql.raw(sort)
  return order_by === 'id'
    ? sql`p.id ${direction}`
    : sql`${sql.ref(`p.${order_by}`)} ${direction}, p.id ${direction}`
}

/**
 * One page of a project's pipelines. The ids of the page come from an index alone, then its rows; the total of an
 * unfiltered list is known, and where its page begins is found in the counts of `ci_pipeline_blocks`, so that no page
 * of a million costs more than the first.
 */
export function list(filter: ListFilter, { limit, offset }: PageInput): Read<PipelineSummaryRow> {
  const conditions = conditionsOf(filter)
  if (conditions.length === 0 && filter.order_by === 'id') return unfiltered(filter.sort, limit, offset)
  const children = filter.source === 'parent_pipeline'
  const where = sql`
    from ci_pipelines p where ${sql.join(
      [
        sql`p.project_id = subject.id`,
        children ? sql`p.source = 'parent_pipeline'` : sql`p.source <> 'parent_pipeline'`,
        ...conditions,
      ],
      sql` and `,
    )}`
  const counted = sql`(select count(*) from (select ${where} limit ${countLimit + 1}) c)`
  return pageOf(sql`select p.id ${where} order by ${orderOf(filter)} limit ${limit + 1} offset ${offset}`, {
    order: orderOf(filter),
    total: conditions.length === 0 ? known : counted,
    limit,
    offset,
  })
}

const known = sql`coalesce((
  select c.live from project_counters c where c.project_id = subject.id and c.kind = 'pipeline'), 0)`

function unfiltered(sort: 'asc' | 'desc', limit: number, offset: number): Read<PipelineSummaryRow> {
  const direction = sql.raw(sort)
  const ids =
    offset < blockSize
      ? sql`
          select p.id from ci_pipelines p where p.project_id = subject.id and p.source <> 'parent_pipeline'
          order by p.iid ${direction} limit ${limit + 1} offset ${offset}`
      : sql`
          select p.id from (
            select b.block, b.skipped from (
              select b.block, b.live, sum(b.live) over (order by b.block ${direction}) - b.live as skipped
              from ci_pipeline_blocks b where b.project_id = subject.id) b
            where b.skipped <= ${offset} and b.skipped + b.live > ${offset}) first
          cross join lateral (
            select p.id, p.iid from ci_pipelines p
            where p.project_id = subject.id and p.source <> 'parent_pipeline'
              and ${
                sort === 'desc'
                  ? sql`p.iid < (first.block + 1) * ${blockSize}`
                  : sql`p.iid >= first.block * ${blockSize}`
              }
            order by p.iid ${direction} limit ${limit + 1} offset ${offset} - first.skipped) p`
  return pageOf(ids, { order: sql`p.id ${direction}`, total: known, limit, offset })
}

function pageOf(
  ids: RawBuilder<unknown>,
  {
    order,
    total,
    limit,
    offset,
  }: { order: RawBuilder<unknown>; total: RawBuilder<unknown>; limit: number; offset: number },
): Read<PipelineSummaryRow> {
  return {
    kind: 'page',
    sql: sql`(
      select json_build_object('rows', coalesce(json_agg(r), '[]'::json), 'total',
        case
          when count(*) between 1 and ${limit} or ${offset}::int = 0 and count(*) = 0 then ${offset}::int + count(*)
          else ${total}
        end)
      from (
        select ${summaryColumns} from (${ids}) page join ci_pipelines p on p.id = page.id order by ${order}) r)`,
  }
}
