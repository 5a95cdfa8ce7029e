import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { largestPage, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { MemberRow } from './entities.ts'

/*
 * Pages of very many members, found without walking to them: `member_blocks` holds who is a direct member of a group,
 * 1,024 user ids a row, and `member_spans` how many memberships there are in spans of their ids (migration 0028).
 * Memberships that count for nothing any more stand in both until they are removed, and are taken away here.
 */

const expired = (alias: string): RawBuilder<unknown> =>
  sql`${sql.ref(`${alias}.expires_at`)} <= (now() at time zone 'utc')::date`

const setOf = (alias: string): RawBuilder<unknown> =>
  sql`bit_or(set_bit(0::bit(1024), (${sql.ref(`${alias}.user_id`)} & 1023)::int, 1))`

export interface SetPage {
  /** Rows of `namespace_id` and more: the groups whose members belong to the list. */
  readonly sources: RawBuilder<unknown>
  /** The project whose own members belong to it too, or null. */
  readonly project: RawBuilder<unknown>
  /** The group where minimal access counts, or null. */
  readonly minimalIn: RawBuilder<unknown>
  /** What is shown of the users in `on_page`, a row each with their `id`; `source` has the rows of `sources`. */
  readonly shown: RawBuilder<unknown>
}

/** A page of all users who are members in one of the sources, by their ids. */
export function pageOfUsers(
  { sources, project, minimalIn, shown }: SetPage,
  { limit, offset }: PageInput,
): Read<MemberRow> {
  const blocks = sql`
    select part.block, bit_or(part.users) as users from (
      select b.block, case when apart.users is null then b.users else b.users & ~ apart.users end as users
      from groups join member_blocks b on b.namespace_id = groups.namespace_id
      left join apart on apart.namespace_id = b.namespace_id and apart.block = b.block
      union all
      select m.user_id >> 10, ${setOf('m')} from members m
      where m.project_id = ${project} and not coalesce(${expired('m')}, false) group by 1
    ) part group by part.block`
  return {
    kind: 'page',
    sql: sql`(
      with source as materialized (${sources}),
      groups as materialized (select distinct s.namespace_id from source s),
      apart as materialized (
        select m.namespace_id, m.user_id >> 10 as block, ${setOf('m')} as users from (
          select x.namespace_id, x.user_id from groups join members x on x.namespace_id = groups.namespace_id
          where ${expired('x')}
          union all
          select x.namespace_id, x.user_id from groups join members x on x.namespace_id = groups.namespace_id
          where x.access_level = 5 and x.namespace_id is distinct from ${minimalIn}
        ) m group by 1, 2),
      counted as materialized (
        select b.block, b.users, bit_count(b.users) as live, sum(bit_count(b.users)) over (order by b.block) as upto
        from (${blocks}) b),
      on_page as materialized (
        select (c.block << 10) + place as user_id from counted c, generate_series(0, 1023) place
        where c.upto > ${offset} and c.upto - c.live < ${offset}::bigint + ${limit + 1}::bigint and get_bit(c.users, place) = 1
        order by 1
        offset ${offset}::bigint - coalesce((select min(c.upto - c.live) from counted c where c.upto > ${offset}), ${offset}::bigint)
        limit ${limit + 1})
      select json_build_object(
        'rows', (select coalesce(json_agg(shown order by shown.id), '[]'::json) from (${shown}) shown),
        'total', coalesce((select max(c.upto) from counted c), 0)))`,
  }
}

/** A page of the direct members of the group that is the subject, by the ids of their memberships. */
export function pageOfRows(columns: RawBuilder<unknown>, { limit, offset }: PageInput): Read<MemberRow> {
  const before = (shift: RawBuilder<unknown>, inside: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select s.span, s.live, sum(s.live) over (order by s.span) - s.live as before from member_spans s
    where s.namespace_id = subject.id and s.shift = ${shift} and ${inside}`
  return {
    kind: 'page',
    sql: sql`(
      with gone as materialized (
        select count(*) as number from members m where m.namespace_id = subject.id and ${expired('m')}),
      total as materialized (
        select coalesce(sum(s.live), 0) as number from member_spans s where s.namespace_id = subject.id and s.shift = 14),
      large as materialized (
        select wide.span, wide.before from (${before(sql`14`, sql`true`)}) wide
        where ${offset} >= wide.before and ${offset} < wide.before + wide.live),
      small as materialized (
        select narrow.span << 6 as id, ${offset}::bigint - large.before - narrow.before as skip
        from large cross join lateral (
          ${before(sql`6`, sql`s.span >= large.span << 8 and s.span < (large.span + 1) << 8`)}) narrow
        where ${offset} >= large.before + narrow.before and ${offset} < large.before + narrow.before + narrow.live),
      start as materialized (
        select small.id, small.skip from small, gone where gone.number = 0
        union all
        select 0, ${offset}::bigint from gone where gone.number > 0)
      select json_build_object(
        'rows', (
          select coalesce(json_agg(r order by r.membership_id), '[]'::json) from (
            select m.id as membership_id, ${columns} from start cross join lateral (
              select w.* from members w
              where w.namespace_id = subject.id and w.id >= start.id and not coalesce(${expired('w')}, false)
              order by w.id offset start.skip limit ${sql.lit(largestPage + 1)}) m
            join users u on u.id = m.user_id
            order by m.id limit ${limit + 1}) r),
        'total', total.number - gone.number)
      from total, gone)`,
  }
}
