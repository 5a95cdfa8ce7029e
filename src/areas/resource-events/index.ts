import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  endpoint,
  epicVisible,
  group,
  issueVisible,
  project,
  subjectRequestsReadable,
} from '../../access/index.ts'
import { planOf, type Plan } from '../../kernel/config/index.ts'
import {
  Fields,
  Id,
  Int,
  ListOf,
  Nullable,
  Page,
  page,
  rows,
  Text,
  Timestamp,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { labelDetails, LabelDetails, type LabelDetailsRow } from '../labels/index.ts'
import { milestone, Milestone, milestoneJson, type MilestoneRow } from '../milestones/index.ts'
import type { NoteableType } from '../noteables/index.ts'
import { basicUser, BasicUser, basicUserJson, type BasicUserRow } from '../users/index.ts'

interface EventRow {
  readonly id: number | null
  readonly user: BasicUserRow | null
  readonly created_at: string
  readonly resource_type: string
  readonly resource_id: number
  readonly label?: LabelDetailsRow | null
  readonly milestone?: MilestoneRow | null
}

const common = {
  id: Id(),
  user: Nullable(BasicUser),
  created_at: Timestamp(),
  resource_type: Text(),
  resource_id: Id(),
}

/** One kind of change that is recorded (completions, 6.16). */
interface Kind {
  readonly name: string
  readonly called: string
  readonly shape: ReturnType<typeof Fields>
  /** Of `x`, besides what all have. */
  readonly columns: RawBuilder<unknown>
  readonly of: readonly NoteableType[]
}

const labelOf = sql`(
  select json_build_object('id', l.id, 'name', l.title, 'description', l.description, 'color', l.color)
  from labels l where l.id = x.label_id)`

const kinds: readonly Kind[] = [
  {
    name: 'label',
    called: 'labels',
    shape: Fields({
      ...common,
      label: Nullable(LabelDetails),
      action: Text({ description: 'add or remove' }),
    }),
    columns: sql`${labelOf} as label, x.action`,
    of: ['Issue', 'MergeRequest', 'Epic'],
  },
  {
    name: 'state',
    called: 'state',
    shape: Fields({
      ...common,
      source_commit: Nullable(Text()),
      source_merge_request_id: Nullable(Id()),
      state: Text({ description: 'opened, reopened, closed or merged' }),
    }),
    columns: sql`x.source_commit, x.source_merge_request_id, x.state`,
    of: ['Issue', 'MergeRequest', 'Epic'],
  },
  {
    name: 'milestone',
    called: 'milestone',
    shape: Fields({
      ...common,
      milestone: Nullable(Milestone),
      action: Text({ description: 'add or remove' }),
      state: Text(),
    }),
    columns: sql`${milestoneJson(sql`x.milestone_id`)} as milestone, x.action, x.state`,
    of: ['Issue', 'MergeRequest'],
  },
  {
    name: 'weight',
    called: 'weight',
    shape: Fields({ ...common, issue_id: Id(), weight: Nullable(Int()) }),
    columns: sql`x.noteable_id as issue_id, x.weight`,
    of: ['Issue'],
  },
]

/** A kind of noteable, as its endpoints name and find it. */
interface Place {
  readonly type: NoteableType
  readonly on: SubjectKind
  readonly may: string
  readonly path: string
  readonly param: string
  readonly called: string
  readonly plan?: Plan
  /** Its id by what the path names, where the caller may see it. */
  readonly find: (named: number) => RawBuilder<unknown>
}

const places: readonly Place[] = [
  {
    type: 'Issue',
    on: project,
    may: 'read_issue',
    path: '/projects/:id/issues/:issue_iid',
    param: 'issue_iid',
    called: 'an issue',
    find: (iid) => sql`
      select i.id from issues i where i.project_id = subject.id and i.iid = ${iid} and ${issueVisible}`,
  },
  {
    type: 'MergeRequest',
    on: project,
    // Whom merge requests are closed to does not learn which there are: that is asked where they are found.
    may: 'read_project',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    param: 'merge_request_iid',
    called: 'a merge request',
    find: (iid) => sql`
      select m.id from merge_requests m
      where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`,
  },
  {
    type: 'Epic',
    on: group,
    may: 'read_epic',
    // By the id, as discussions do; other endpoints take the number.
    path: '/groups/:id/epics/:epic_id',
    param: 'epic_id',
    called: 'an epic',
    plan: planOf.epics,
    find: (id) => sql`
      select e.id from epics e where e.namespace_id = subject.id and e.id = ${id} and ${epicVisible}`,
  },
]

export interface ResourceEventServices {
  readonly externalUrl: () => string
}

/** What became of labels, states, milestones and weights of issues, merge requests and epics, oldest first. */
export function resourceEvents({ externalUrl }: ResourceEventServices): { endpoints: Endpoint[] } {
  const shown = (row: EventRow): object => ({
    ...row,
    user: row.user === null ? null : basicUser(row.user, externalUrl()),
    ...(row.label != null && { label: labelDetails(row.label) }),
    ...(row.milestone != null && { milestone: milestone(row.milestone, externalUrl()) }),
  })
  return {
    endpoints: places.flatMap((place) =>
      kinds.filter(({ of }) => of.includes(place.type)).flatMap((kind) => eventEndpoints(place, kind, shown)),
    ),
  }
}

function eventEndpoints(place: Place, kind: Kind, shown: (row: EventRow) => object): Endpoint[] {
  const path = `${place.path}/resource_${kind.name}_events`
  const table = sql.table(`resource_${kind.name}_events`)
  const columns = sql`
    x.id, (select ${basicUserJson('u')} from users u where u.id = x.user_id) as "user", x.created_at,
    x.noteable_type as resource_type, x.noteable_id as resource_id, ${kind.columns}`
  const named = (params: object): number => Reflect.get(params, place.param) as number
  const from = (params: object, join: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    from (${place.find(named(params))}) found
    ${join} ${table} x on x.noteable_type = ${sql.lit(place.type)} and x.noteable_id = found.id`
  const about = {
    on: place.on,
    may: place.may as never,
    anonymous: true,
    ...(place.plan !== undefined && { plan: place.plan }),
  }
  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: `List the changes of the ${kind.called} of ${place.called}`,
      paged: true,
      params: Fields({ [place.param]: Id() }),
      answers: ListOf(kind.shape),
      refuses: { 404: 'Nothing that the caller may see: `404 Not found`' },
      read: ({ params, page: input }) =>
        page<EventRow>({ columns, from: from(params, sql`left join`), order: sql`x.id` }, input),
      // Of a noteable without changes comes one row without an id, of none that the caller sees no row.
      async handle({ rows: found, total, page: { page: number } }) {
        if (found.length === 0 && number === 1) throw recordNotFound()
        return found[0]?.id === null
          ? new Page([], { total: 0 })
          : new Page(found.map(shown), { total, hasMore: total === undefined })
      },
    }),
    endpoint({
      ...about,
      method: 'GET',
      path: `${path}/:event_id`,
      summary: `Get one change of the ${kind.called} of ${place.called}`,
      record: true,
      params: Fields({ [place.param]: Id(), event_id: Id() }),
      answers: kind.shape,
      read: ({ params }) =>
        rows<EventRow>(
          sql`select ${columns} ${from(params, sql`join`)} where x.id = ${Reflect.get(params, 'event_id')}`,
        ),
      async handle({ rows: [row] }) {
        if (row === undefined) throw recordNotFound()
        return shown(row)
      },
    }),
  ]
}
