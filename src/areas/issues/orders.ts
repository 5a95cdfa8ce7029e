import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import type { Order } from './params.ts'

/** A part of the issues `i` of a list, and what its order goes by: of several parts each issue is in one. */
export interface OrderedPart {
  readonly key: RawBuilder<unknown>
  /** The same order told so that indexes can help; the key itself by default. None: all have one key. */
  readonly order?: readonly RawBuilder<unknown>[]
  readonly where: RawBuilder<unknown>
  /**
   * Groups `g` of milestones or labels, by what their issues go first: `at`. The list is read from one after the other,
   * and ends when there is enough.
   */
  readonly groups?: RawBuilder<unknown>
}

const milestoneDue = sql`(select m.due_date from milestones m where m.id = i.milestone_id)`

/** Labels with a priority are few, those without are many. */
const labelPriority = sql`(
  select min(pr.priority) from label_priorities pr
  where pr.project_id = i.project_id and exists (
    select from noteable_labels x
    where x.noteable_type = 'Issue' and x.noteable_id = i.id and x.label_id = pr.label_id))`

const never = sql`'infinity'::float8`
// First what is due first, then what matters most.
const priority = (due: RawBuilder<unknown>, label: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`array[coalesce(extract(epoch from ${due})::float8, ${never}), coalesce(${label}::float8, ${never})]`

const keys: Readonly<Record<Order, RawBuilder<unknown>>> = {
  created_at: sql`i.created_at`,
  updated_at: sql`i.updated_at`,
  due_date: sql`i.due_date`,
  relative_position: sql`i.relative_position`,
  title: sql`lower(i.title)`,
  weight: sql`i.weight`,
  popularity: sql`i.upvotes`,
  milestone_due: milestoneDue,
  label_priority: labelPriority,
  priority: priority(milestoneDue, labelPriority),
}

/** What the order goes by, of any issue. */
export function keyOf(order: Order): RawBuilder<unknown> {
  return keys[order]
}

/** Conditions on the milestones `dm` and the priorities `pr` that a list knows, where those are few. */
export interface KnownThere {
  readonly milestones: RawBuilder<unknown>
  readonly priorities: RawBuilder<unknown>
}

/** The same for very many issues `i` at once, where all have to be looked at. Undefined: a column of theirs does. */
export function joinedKey(
  order: Order,
  known: KnownThere,
): { readonly joins: RawBuilder<unknown>; readonly key: RawBuilder<unknown> } | undefined {
  const due = sql`
    left join (select dm.id, dm.due_date from milestones dm where ${known.milestones} offset 0) dm
      on dm.id = i.milestone_id`
  const rank = sql`
    left join (
      select x.noteable_id as id, min(pr.priority) as priority
      from label_priorities pr join noteable_labels x on x.label_id = pr.label_id and x.noteable_type = 'Issue'
      where ${known.priorities} group by x.noteable_id offset 0) pr on pr.id = i.id`
  switch (order) {
    case 'milestone_due':
      return { joins: due, key: sql`dm.due_date` }
    case 'label_priority':
      return { joins: rank, key: sql`pr.priority` }
    case 'priority':
      return { joins: sql`${due} ${rank}`, key: priority(sql`dm.due_date`, sql`pr.priority`) }
    default:
      return undefined
  }
}

/**
 * The milestones and labels that a list knows are few, and their issues are found by indexes: so a list is put together
 * from those of each of them and those of none, none of which has to be looked through as a whole. The parts come one
 * behind the other, as the order goes up. Undefined: a column of the issues does.
 */
export function partsOf(order: Order, known: KnownThere): readonly OrderedPart[] | undefined {
  const due = {
    key: sql`g.at`,
    order: [],
    groups: sql`
      select dm.due_date as at, array_agg(dm.id) as ids from milestones dm
      where dm.due_date is not null and ${known.milestones} group by dm.due_date`,
    where: sql`i.milestone_id = any (g.ids)`,
  }
  // Milestones without a date are as none. Asked of each issue as it comes, never joined.
  const dated = sql`exists (
    select from milestones dm where dm.id = i.milestone_id and dm.due_date is not null offset 0)`
  const labelled = {
    key: sql`g.at`,
    order: [],
    groups: sql`
      select pr.priority as at, array_agg(pr.label_id) as ids from label_priorities pr
      where ${known.priorities} group by pr.priority`,
    // Of several labels the first counts.
    where: sql`
      i.id in (
        select x.noteable_id from noteable_labels x where x.noteable_type = 'Issue' and x.label_id = any (g.ids))
      and not exists (
        select from noteable_labels x join label_priorities pr on pr.label_id = x.label_id and ${known.priorities}
        where x.noteable_type = 'Issue' and x.noteable_id = i.id and pr.priority < g.at offset 0)`,
  }
  const ranked = sql`exists (
    select from noteable_labels x join label_priorities pr on pr.label_id = x.label_id and ${known.priorities}
    where x.noteable_type = 'Issue' and x.noteable_id = i.id offset 0)`
  switch (order) {
    case 'milestone_due':
      return [due, { key: sql`null::date`, order: [], where: sql`not ${dated}` }]
    case 'label_priority':
      return [labelled, { key: sql`null::integer`, order: [], where: sql`not ${ranked}` }]
    case 'priority':
      return [
        {
          ...due,
          key: priority(sql`g.at`, labelPriority),
          order: [labelPriority],
        },
        {
          ...labelled,
          key: priority(sql`null::date`, sql`g.at`),
          where: sql`${labelled.where} and not ${dated}`,
        },
        { key: sql`array[${never}, ${never}]`, order: [], where: sql`not ${dated} and not ${ranked}` },
      ]
    default:
      return undefined
  }
}
