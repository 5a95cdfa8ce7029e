import { sql } from '../../kernel/db/index.ts'
import { endpoint, issueVisible, issueVisibleAnywhere } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import {
  Fields,
  Id,
  Int,
  ListOf,
  Nullable,
  page,
  Text,
  Timestamp,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { groupPlace, projectPlace, requireMilestone, type Place } from '../milestones/index.ts'
import { issue, issueView, Issue } from './entities.ts'
import type { IssueAreaServices } from './index.ts'
import * as listing from './listing.ts'

const BurndownEvent = Fields({
  created_at: Timestamp(),
  weight: Nullable(Int()),
  action: Text({ description: 'created, closed or reopened' }),
})

interface BurndownRow {
  readonly created_at: string
  readonly weight: number | null
  readonly action: string
}

/** What is planned for a milestone, and how it came and went. */
export function milestoneEndpoints(services: IssueAreaServices): Endpoint[] {
  return [...endpointsOf(services, projectPlace), ...endpointsOf(services, groupPlace)]
}

function endpointsOf<Kind extends SubjectKind>(
  services: IssueAreaServices,
  { kind, on, path, called, reading, owner }: Place<Kind>,
): Endpoint[] {
  const about = {
    method: 'GET',
    on,
    may: reading,
    anonymous: true,
    paged: true,
    params: Fields({ milestone_id: Id() }),
    refuses: { 404: `No such milestone of ${called}` },
  } as const
  const [joins, visible] =
    kind === 'project'
      ? [sql``, sql`i.project_id = subject.id and ${issueVisible}`]
      : [sql`join projects p on p.id = i.project_id`, issueVisibleAnywhere]
  return [
    endpoint({
      ...about,
      path: `${path}/:milestone_id/issues`,
      summary: `List the issues of a milestone of ${called}`,
      answers: ListOf(Issue),
      read: ({ params, page: input }) =>
        listing.list(
          kind,
          {
            planned_for: params.milestone_id,
            state: 'all',
            order_by: 'created_at',
            sort: 'desc',
            with_labels_details: false,
            pagination: 'legacy',
          },
          input,
        ),
      async handle(call) {
        const { fullPath } = await requireMilestone(services.db.reader, owner(call), call.params.milestone_id)
        return call.rows.map((row) => issue(row, issueView(services, fullPath)))
      },
    }),

    endpoint({
      ...about,
      path: `${path}/:milestone_id/burndown_events`,
      summary: `List when the issues of a milestone of ${called} were created, closed and opened again`,
      plan: planOf.burndown,
      answers: ListOf(BurndownEvent),
      read: ({ params, page: input }) =>
        page<BurndownRow>(
          {
            columns: sql`e.created_at, e.weight, e.action`,
            from: sql`
              from issues i ${joins} cross join lateral (
                select i.created_at, i.weight, 'created' as action, 0::bigint as id
                union all
                select x.created_at, i.weight, case x.state when 'closed' then 'closed' else 'reopened' end, x.id
                from resource_state_events x where x.noteable_type = 'Issue' and x.noteable_id = i.id
              ) e where i.milestone_id = ${params.milestone_id} and ${visible}`,
            order: sql`e.created_at, e.id, i.id`,
          },
          input,
        ),
      async handle(call) {
        await requireMilestone(services.db.reader, owner(call), call.params.milestone_id)
        return call.rows
      },
    }),
  ]
}
