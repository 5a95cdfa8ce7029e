import { sql } from '../../kernel/db/index.ts'
import {
  actorRow,
  endpoint,
  epicVisibleAnywhere,
  instance,
  project,
  userOf,
  type Actor,
} from '../../access/index.ts'
import {
  DateOnly,
  DateTime,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden, invalidParameters, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import { continueThreads, threadsToContinue } from '../notes/index.ts'
import { descriptionOf } from './continuing.ts'
import { healthStatuses, issue, issueView, Issue, issueTypes } from './entities.ts'
import type { IssueAreaServices } from './index.ts'
import * as listing from './listing.ts'
import { isSubscribed, issueColumns } from './rows.ts'
import { mayChangeIssue } from './rules.ts'
import { checkSpam, takenForSpam } from './spam.ts'
import * as store from './store.ts'
import { changeIssue, createIssue } from './write.ts'

const titles = () => ListOf(Text(), { commaSeparated: true, single: true })

const settable = {
  description: Optional(Nullable(Text())),
  confidential: Optional(Flag()),
  discussion_locked: Optional(Flag()),
  issue_type: Optional(OneOf(issueTypes, {})),
  due_date: Optional(Nullable(DateOnly())),
  milestone_id: Optional(Nullable(Id({ description: '0 for none' }))),
  epic_id: Optional(Nullable(Id({ description: '0 for none' }))),
  epic_iid: Optional(Nullable(Int({ deprecated: true, description: 'Use `epic_id`' }))),
  weight: Optional(Nullable(Int({ minimum: 0, maximum: 2 ** 31 - 1 }))),
  health_status: Optional(Nullable(OneOf(healthStatuses, {}))),
  assignee_id: Optional(Nullable(Id({ description: '0 for nobody' }))),
  assignee_ids: Optional(ListOf(Id(), { commaSeparated: true, single: true })),
  labels: Optional(Nullable(titles())),
  add_labels: Optional(titles()),
  remove_labels: Optional(titles()),
}

const changes = ['title', ...Object.keys(settable), 'state_event', 'updated_at']

const issue_iid = Id()
const path = '/projects/:id/issues'

/** The parameters of an issue as `write.ts` takes them. */
function fieldsOf<
  P extends { assignee_id?: number | null; assignee_ids?: number[]; labels?: string[] | null },
>({ assignee_id, assignee_ids, labels, ...rest }: P) {
  return {
    ...rest,
    labels: labels === null ? [] : labels,
    assignee_ids: assignee_ids ?? (assignee_id === undefined ? undefined : [assignee_id ?? 0]),
  }
}

export function issueEndpoints(services: IssueAreaServices): Endpoint[] {
  const { db } = services

  const shown = async (actor: Actor, id: number, from: string): Promise<unknown> => {
    const row = await store.find(db.reader, actor, id)
    // Who makes an issue confidential may no longer see it himself.
    if (row === undefined) throw recordNotFound()
    return issue(row, issueView(services, from))
  }

  /** An epic can be named only by who sees it. */
  const checkEpic = async (
    actor: Actor,
    line: readonly number[],
    id: number | null | undefined,
  ): Promise<void> => {
    if (!id) return
    const { rows } = await sql`
      select from ${actorRow(actor)} cross join epics e join namespaces n on n.id = e.namespace_id
      where e.id = ${id} and n.id = any (${[...line]}::bigint[]) and ${epicVisibleAnywhere}`.execute(
      db.reader,
    )
    if (rows.length === 0) throw notFound('Epic')
  }

  const epicOf = async (
    line: readonly number[],
    iid: number | null | undefined,
  ): Promise<number | null | undefined> => {
    if (!iid) return iid
    const { rows } = await sql<{ id: number }>`
      select e.id from epics e where e.namespace_id = ${line.at(-1) ?? 0} and e.iid = ${iid}`.execute(
      db.reader,
    )
    return rows[0]?.id ?? -1
  }

  const one = {
    on: project,
    record: true,
    read: ({ params }: { params: { issue_iid: number } }) => listing.one(params.issue_iid),
  } as const

  return [
    endpoint({
      method: 'GET',
      path: '/issues/:issue_id',
      summary: 'Get any issue by its id',
      description: 'For administrators.',
      on: instance,
      may: 'admin_instance',
      params: Fields({ issue_id: Id() }),
      answers: Issue,
      async handle({ actor, params }) {
        const row = await store.find(db.reader, actor, params.issue_id)
        if (row === undefined) throw recordNotFound()
        return issue(row, issueView(services, row.full_path))
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:issue_iid`,
      summary: 'Get an issue of a project',
      on: project,
      may: 'read_issue',
      anonymous: true,
      record: true,
      params: Fields({ issue_iid }),
      answers: Issue,
      read: ({ params }) =>
        listing.one(params.issue_iid, sql`${issueColumns()}, ${isSubscribed} as subscribed`),
      handle: async ({ rows, project: { fullPath } }) => issue(rows[0]!, issueView(services, fullPath)),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create an issue',
      description:
        'What the caller may not say of it is left out: who is no member says nothing but its texts.',
      on: project,
      may: 'create_issue',
      params: Fields({
        title: Text({ blank: false }),
        ...settable,
        iid: Optional(Id({ minimum: 1, description: 'For Owners and administrators' })),
        created_at: Optional(DateTime({ description: 'For Owners and administrators' })),
        merge_request_to_resolve_discussions_of: Optional(
          Id({ description: 'Number of a merge request whose open threads go on in the issue' }),
        ),
        discussion_to_resolve: Optional(Text({ description: 'Of these threads only the one of that id' })),
      }),
      rules: { mutuallyExclusive: [['epic_id', 'epic_iid']] },
      answers: Issue,
      refuses: { 404: 'No such merge request or discussion, or epic', ...takenForSpam },
      async handle({ actor, project, params, request }) {
        const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve: key, ...fields } = params
        if (key !== undefined && iid === undefined)
          throw invalidParameters(['merge_request_to_resolve_discussions_of is missing'])
        services.creation.use(`${userOf(actor).id} ${project.id}`)
        const epic_id = params.epic_id ?? (await epicOf(project.line, params.epic_iid))
        await checkEpic(actor, project.line, epic_id)
        const continued =
          iid === undefined ? undefined : await threadsToContinue(db.reader, actor, project, { iid, key })
        const described =
          iid !== undefined && continued?.threads.length
            ? descriptionOf(continued.threads, { iid, confidential: params.confidential ?? false })
            : null
        await checkSpam(services.spam, { actor, project, request }, params)
        const { id } = await db.transaction(async (tx) => {
          const made = await createIssue(
            services,
            tx,
            { actor, project },
            {
              ...fieldsOf(fields),
              title: params.title.trim(),
              description: params.description || described,
              epic_id,
              origin: { userAgent: request.headers['user-agent'], ip: request.ip },
            },
          )
          if (continued !== undefined)
            await continueThreads(services.events, tx, continued, {
              by: userOf(actor).id,
              issue: `#${made.iid}`,
            })
          return made
        })
        return shown(actor, id, project.fullPath)
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:issue_iid`,
      summary: 'Change an issue',
      description:
        'Its author and its assignees change its texts and its state, members from Planner on all of it.',
      may: 'update_issue',
      params: Fields({
        issue_iid,
        title: Optional(Text({ blank: false })),
        ...settable,
        state_event: Optional(OneOf('close', 'reopen')),
        updated_at: Optional(DateTime({ description: 'For Owners and administrators' })),
      }),
      rules: { atLeastOneOf: [changes], mutuallyExclusive: [['epic_id', 'epic_iid']] },
      answers: Issue,
      refuses: { 404: 'No such issue that the caller may see: `404 Not found`', ...takenForSpam },
      async handle({ actor, project, params, rows, request }) {
        const row = rows[0]!
        if (!mayChangeIssue(actor, project, row)) throw forbidden()
        const epic_id =
          params.epic_id === undefined ? await epicOf(project.line, params.epic_iid) : params.epic_id
        await checkEpic(actor, project.line, epic_id)
        await checkSpam(services.spam, { actor, project, request }, params, row)
        const change = { ...fieldsOf(params), title: params.title?.trim(), epic_id }
        await db.transaction((tx) => changeIssue(services, tx, { actor, project }, row.id, change))
        return shown(actor, row.id, project.fullPath)
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:issue_iid`,
      summary: 'Delete an issue',
      may: 'destroy_issue',
      params: Fields({ issue_iid }),
      answers: null,
      async handle({ actor, project, rows, request }) {
        const { id, updated_at } = rows[0]!
        requireUnmodified(request, updated_at)
        await db.transaction(async (tx) => {
          await store.remove(tx, id)
          await services.events.announce(tx, 'issue', {
            projectId: project.id,
            userId: userOf(actor).id,
            payload: { action: 'delete', issue_id: id },
          })
        })
      },
    }),
  ]
}
