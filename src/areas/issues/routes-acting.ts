import {
  endpoint,
  find,
  issueVisible,
  project as projectKind,
  userOf,
  type Actor,
} from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import {
  Answer,
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  Optional,
  Nullable,
  page,
  rows,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { badRequest, invalidParameters, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import {
  parseDuration,
  resetSpentTime,
  setSubscription,
  setTimeEstimate,
  spendTime,
} from '../noteables/index.ts'
import { BasicUser, basicUser, basicUserJson, type BasicUserRow } from '../users/index.ts'
import { checkCopy, copyIssue } from './copies.ts'
import { issue, issueView, Issue, TimeStats, timeStats, type IssueRow } from './entities.ts'
import type { IssueAreaServices } from './index.ts'
import * as listing from './listing.ts'
import { place } from './positions.ts'
import { isSubscribed, issueColumns } from './rows.ts'
import * as store from './store.ts'
import { issueTarget, tell, toldOfEstimate, toldOfSpent, type Told } from './system-notes.ts'

/** What is done with an issue besides changing it. */
export function actingEndpoints(services: IssueAreaServices): Endpoint[] {
  const { db } = services
  const path = '/projects/:id/issues/:issue_iid'
  const issue_iid = Id()
  const one = {
    on: projectKind,
    record: true,
    read: ({ params }: { params: { issue_iid: number } }) =>
      listing.one(params.issue_iid, sql`${issueColumns()}, ${isSubscribed} as subscribed`),
  } as const
  const noteable = ({ id }: IssueRow) => ({ type: 'Issue', id }) as const

  const seconds = (text: string): number => {
    const parsed = parseDuration(text)
    if (parsed === undefined) throw invalidParameters(['duration is invalid'])
    return parsed
  }
  const told = (tx: Tx, actor: Actor, row: IssueRow, what: Told): Promise<void> =>
    tell(tx, issueTarget(row.id, row.project_id), userOf(actor).id, [what])
  const estimated = (actor: Actor, row: IssueRow, estimate: number): Promise<void> =>
    db.transaction(async (tx) => {
      await setTimeEstimate(tx, noteable(row), estimate)
      await told(tx, actor, row, toldOfEstimate(estimate))
    })
  const stats = async (id: number) => {
    const { rows } = await sql<{ time_estimate: number; total_time_spent: number }>`
      select i.time_estimate, i.total_time_spent from issues i where i.id = ${id}`.execute(db.reader)
    if (rows[0] === undefined) throw recordNotFound()
    return timeStats(rows[0], issueView(services))
  }

  const copies = (['move', 'clone'] as const).map((verb) =>
    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/${verb}`,
      summary:
        verb === 'move'
          ? 'Move an issue to another project'
          : 'Clone an issue, into another project or its own',
      description:
        verb === 'move'
          ? 'The old one is closed and names the new one.'
          : "The clone is the caller's; the issue stays as it is.",
      may: 'update_issue',
      params: Fields({
        issue_iid,
        to_project_id: Id(),
        ...(verb === 'clone' && { with_notes: Flag({ default: false }) }),
      }),
      answers: Issue,
      refuses: { 400: 'The caller may not do so in both projects', 404: 'No such project or issue' },
      async handle({ actor, project, params, rows }) {
        const to = await find(db.reader, projectKind, actor, String(params.to_project_id))
        if (to === undefined) throw notFound('Project')
        checkCopy(verb, actor, project, to)
        const { with_notes: withNotes } = params as { with_notes?: boolean }
        const id = await db.transaction((tx) =>
          copyIssue(services, tx, verb, rows[0]!.id, { actor, from: project, to, withNotes }),
        )
        const row = await store.find(db.reader, actor, id)
        return issue(row!, issueView(services, to.fullPath))
      },
    }),
  )

  const subscriptions = (['subscribe', 'unsubscribe'] as const).map((verb) =>
    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/${verb}`,
      whileArchived: true,
      summary: verb === 'subscribe' ? 'Subscribe to an issue' : 'Unsubscribe from an issue',
      may: 'read_issue',
      params: Fields({ issue_iid }),
      answers: Issue,
      async handle({ actor, rows, project }) {
        const row = rows[0]!
        const subscribed = verb === 'subscribe'
        if (row.subscribed === subscribed) return new Answer(304)
        await db.transaction((tx) => setSubscription(tx, noteable(row), userOf(actor).id, subscribed))
        return issue({ ...row, subscribed }, issueView(services, project.fullPath))
      },
    }),
  )

  return [
    ...copies,
    ...subscriptions,

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/reorder`,
      summary: 'Put an issue behind or before another one of its project',
      may: 'admin_issue',
      params: Fields({
        issue_iid,
        move_after_id: Optional(Id({ description: 'Id of the issue that it comes behind' })),
        move_before_id: Optional(Id({ description: 'Id of the issue that it comes before' })),
      }),
      answers: Issue,
      refuses: { 400: 'Neither place is given', 404: 'No such issue in the project' },
      async handle({ actor, project, params, rows }) {
        const { move_after_id: after, move_before_id: before } = params
        const { id } = rows[0]!
        if (after === undefined && before === undefined) throw badRequest()
        const others = [after, before].filter((other) => other !== undefined && other !== id)
        const { rows: known } = await sql<{ id: number }>`
          select i.id from issues i
          where i.project_id = ${project.id} and i.id = any (${others}::bigint[])`.execute(db.reader)
        if (known.length !== new Set(others).size || others.length === 0) throw recordNotFound()
        await db.transaction((tx) => place(tx, project.id, id, { after, before }))
        const row = await store.find(db.reader, actor, id)
        return issue(row!, issueView(services, project.fullPath))
      },
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/time_stats`,
      summary: 'Get the estimated and the spent time of an issue',
      may: 'read_issue',
      anonymous: true,
      params: Fields({ issue_iid }),
      answers: TimeStats,
      handle: async ({ rows }) => timeStats(rows[0]!, issueView(services)),
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/time_estimate`,
      summary: 'Set the estimated time of an issue',
      may: 'admin_issue',
      status: 200,
      params: Fields({ issue_iid, duration: Text({ blank: false, description: 'As in `3h30m`' }) }),
      answers: TimeStats,
      async handle({ actor, rows, params }) {
        const estimate = seconds(params.duration)
        if (estimate < 0) throw invalidParameters(['duration is invalid'])
        await estimated(actor, rows[0]!, estimate)
        return stats(rows[0]!.id)
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/reset_time_estimate`,
      summary: 'Remove the estimated time of an issue',
      may: 'admin_issue',
      status: 200,
      params: Fields({ issue_iid }),
      answers: TimeStats,
      async handle({ actor, rows }) {
        await estimated(actor, rows[0]!, 0)
        return stats(rows[0]!.id)
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/add_spent_time`,
      summary: 'Log time that was spent on an issue',
      description: 'With a minus it is taken back.',
      may: 'admin_issue',
      params: Fields({
        issue_iid,
        duration: Text({ blank: false, description: 'As in `3h30m`' }),
        summary: Optional(Text({ maxLength: 255 })),
        spent_at: Optional(DateTime({ description: 'Now unless told' })),
      }),
      answers: TimeStats,
      async handle({ actor, rows, params }) {
        const spent = seconds(params.duration)
        if (spent === 0) throw invalidParameters(['duration is invalid'])
        await db.transaction(async (tx) => {
          await spendTime(tx, noteable(rows[0]!), userOf(actor).id, {
            seconds: spent,
            summary: params.summary?.slice(0, 255) ?? null,
            at: params.spent_at,
          })
          await told(tx, actor, rows[0]!, toldOfSpent(spent, params.spent_at))
        })
        return stats(rows[0]!.id)
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/reset_spent_time`,
      summary: 'Remove all time that was spent on an issue',
      may: 'admin_issue',
      status: 200,
      params: Fields({ issue_iid }),
      answers: TimeStats,
      async handle({ actor, rows }) {
        await db.transaction(async (tx) => {
          await resetSpentTime(tx, noteable(rows[0]!))
          await told(tx, actor, rows[0]!, toldOfSpent(null))
        })
        return stats(rows[0]!.id)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/participants`,
      summary: 'List who takes part in an issue',
      description: 'Its author, its assignees and who commented on it.',
      on: projectKind,
      may: 'read_issue',
      anonymous: true,
      paged: true,
      params: Fields({ issue_iid }),
      answers: ListOf(BasicUser),
      read: ({ params, page: input }) =>
        page<BasicUserRow>(
          {
            columns: sql`${basicUserJson('u')} as person`,
            from: sql`
              from issues i cross join lateral (
                select i.author_id as user_id
                union select a.user_id from issue_assignees a where a.issue_id = i.id
                union select w.author_id from noteables d join notes w on w.noteable_id = d.id
                  join discussions t on t.id = w.discussion_id
                  where d.kind = 'Issue' and d.target_id = i.id and not w.system and not t.internal
              ) part join users u on u.id = part.user_id
              where i.project_id = subject.id and i.iid = ${params.issue_iid} and ${issueVisible}`,
            order: sql`u.id`,
          },
          input,
        ),
      async handle({ rows }) {
        const people = rows as unknown as readonly { readonly person: BasicUserRow }[]
        return people.map(({ person }) => basicUser(person, services.externalUrl()))
      },
    }),

    endpoint({
      on: projectKind,
      record: true,
      method: 'GET',
      path: `${path}/user_agent_detail`,
      summary: 'Get from where an issue was created',
      description: 'For administrators.',
      may: 'read_user_agent',
      params: Fields({ issue_iid }),
      answers: Fields({
        user_agent: Nullable(Text()),
        ip_address: Nullable(Text()),
        akismet_submitted: Flag(),
      }),
      read: ({ params }) =>
        rows<{ user_agent: string | null; ip_address: string | null }>(sql`
          select i.user_agent, i.ip_address from issues i
          where i.project_id = subject.id and i.iid = ${params.issue_iid}`),
      handle: async ({ rows: [origin] }) => ({ ...origin!, akismet_submitted: false }),
    }),
  ]
}
