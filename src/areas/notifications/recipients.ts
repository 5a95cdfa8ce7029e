import type { RawBuilder } from 'kysely'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { readsSubject, type Subject } from '../todos/index.ts'
import type { EventName } from './levels.ts'

export interface Recipient {
  readonly id: number
  readonly name: string
  readonly address: string
  readonly mentioned: boolean
  readonly takesPart: boolean
}

export interface Occasion {
  readonly on: Subject & { readonly kind: 'Issue' | 'MergeRequest' | 'Epic' }
  readonly event: EventName
  /** Who did it, and is not told of it. */
  readonly by: number | null
  readonly mentioned: readonly number[]
  /** Whether `actor` hears of the place, as far as the policy server is concerned. */
  readonly open: RawBuilder<unknown>
}

const tables = { Issue: 'issues', MergeRequest: 'merge_requests', Epic: 'epics' } as const

function participants({ kind, id }: Occasion['on']): RawBuilder<unknown> {
  const people = {
    Issue: sql`union select a.user_id from issue_assignees a where a.issue_id = ${id}`,
    MergeRequest: sql`
      union select a.user_id from merge_request_assignees a where a.merge_request_id = ${id}
      union select r.user_id from merge_request_reviewers r where r.merge_request_id = ${id}`,
    Epic: sql``,
  }[kind]
  return sql`
    select t.author_id as user_id from ${sql.table(tables[kind])} t where t.id = ${id}
    ${people}
    union select w.author_id from noteables b join notes w on w.noteable_id = b.id
      where b.kind = ${kind} and b.target_id = ${id} and not w.system
    union select s.user_id from subscriptions s
      where s.subscribable_type = ${kind} and s.subscribable_id = ${id} and s.subscribed`
}

/**
 * Who is told of something: who takes part or is named, and who watches the place, each as far as he chose, and only
 * who may read it. Who unsubscribed is not.
 */
export async function recipientsOf(
  tx: Tx,
  { on, event, by, mentioned, open }: Occasion,
): Promise<Recipient[]> {
  const { rows } = await sql<Recipient>`
    with place (line) as (
      select n.traversal_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${on.projectId}::bigint
      union all select n.traversal_ids from namespaces n where n.id = ${on.namespaceId}::bigint),
    part (user_id) as (${participants(on)}),
    candidate (user_id) as (
      select user_id from part where user_id is not null
      union select unnest(${[...mentioned]}::bigint[])
      union select s.user_id from notification_settings s
        where s.level in ('watch', 'custom') and (s.project_id = ${on.projectId}::bigint
          or s.namespace_id = any ((select line from place)::bigint[]))
      union select s.user_id from notification_settings s
        join place on true cross join lateral effective_memberships(place.line, ${on.projectId}::bigint) m
        where s.project_id is null and s.namespace_id is null and s.level in ('watch', 'custom')
          and m.user_id = s.user_id),
    chosen as (
      select c.user_id, c.user_id in (select user_id from part where user_id is not null) as part, setting.level,
        setting.events, account.notification_email
      from candidate c
      left join notification_settings account on account.user_id = c.user_id and account.project_id is null
        and account.namespace_id is null
      left join lateral (
        select s.level, s.events from notification_settings s
        where s.user_id = c.user_id and s.level <> 'global' and (s.project_id = ${on.projectId}::bigint
          or s.namespace_id = any ((select line from place)::bigint[])
          or (s.project_id is null and s.namespace_id is null))
        order by s.project_id nulls last, array_position((select line from place), s.namespace_id) desc nulls last
        limit 1) setting on true)
    select actor.id, actor.name, coalesce(chosen.notification_email, actor.email) as address,
      actor.id = any (${[...mentioned]}::bigint[]) as mentioned, chosen.part as "takesPart"
    from chosen join users actor on actor.id = chosen.user_id
    where actor.id is distinct from ${by}::bigint and actor.kind = 'human' and ${open} and ${readsSubject(on)}
      and not exists (
        select from subscriptions s where s.user_id = actor.id and s.subscribable_type = ${on.kind}
          and s.subscribable_id = ${on.id} and not s.subscribed)
      and case coalesce(chosen.level, 'participating')
        when 'disabled' then false
        when 'watch' then true
        when 'mention' then actor.id = any (${[...mentioned]}::bigint[])
        when 'custom' then chosen.part or actor.id = any (${[...mentioned]}::bigint[])
          or coalesce((chosen.events ->> ${event})::boolean, false)
        else chosen.part or actor.id = any (${[...mentioned]}::bigint[]) end
    order by actor.id`.execute(tx)
  return rows
}
