import { endpoint, findGroup, require } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
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
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { badRequest, notFound } from '../../kernel/errors/index.ts'
import { milestone, Milestone } from './entities.ts'
import { announce } from './news.ts'
import { projectPlace, type Place } from './places.ts'
import { checkMilestone } from './rules.ts'
import * as store from './store.ts'

export interface MilestoneServices {
  readonly db: Database
  readonly events: Events
  readonly externalUrl: () => string
}

const settable = {
  description: Optional(Nullable(Text())),
  due_date: Optional(Nullable(DateOnly())),
  start_date: Optional(Nullable(DateOnly())),
}

/** The endpoints of projects or groups. */
export function milestoneEndpoints<Kind extends SubjectKind>(
  { db, events, externalUrl }: MilestoneServices,
  { kind, on, path, called, reading, writing, removing, owner }: Place<Kind>,
): Endpoint[] {
  const one = {
    on,
    record: true,
    read: ({ params }: { params: { milestone_id: number } }) => store.one(kind, params.milestone_id),
  } as const
  const milestone_id = Id()

  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the milestones of ${called}`,
      on,
      may: reading,
      anonymous: true,
      paged: true,
      params: Fields({
        iids: Optional(ListOf(Int(), { commaSeparated: true, single: true })),
        state: Optional(OneOf('active', 'closed', 'all')),
        title: Optional(Text()),
        search: Optional(Text({ description: 'Part of the title or description' })),
        search_title: Optional(Text({ description: 'Part of the title' })),
        containing_date: Optional(DateOnly({ description: 'That go on at this day' })),
        include_ancestors: Optional(Flag({ description: 'Also those of the groups above' })),
        include_parent_milestones: Optional(
          Flag({ deprecated: true, description: 'Use `include_ancestors`' }),
        ),
        ...(kind === 'group' && {
          include_descendants: Optional(Flag({ description: 'Also those of subgroups and projects inside' })),
        }),
        updated_before: Optional(DateTime()),
        updated_after: Optional(DateTime()),
      }),
      answers: ListOf(Milestone),
      read: ({ params, page }) =>
        store.list(
          kind,
          {
            ...(params as typeof params & { include_descendants?: boolean }),
            include_ancestors: params.include_ancestors ?? params.include_parent_milestones,
          },
          page,
        ),
      handle: async ({ rows }) => rows.map((row) => milestone(row, externalUrl())),
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: `${path}/:milestone_id`,
      summary: `Get a milestone of ${called}`,
      may: reading,
      anonymous: true,
      params: Fields({ milestone_id }),
      answers: Milestone,
      handle: async ({ rows }) => milestone(rows[0]!, externalUrl()),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a milestone of ${called}`,
      on,
      may: writing,
      params: Fields({ title: Text(), ...settable }),
      answers: Milestone,
      async handle(call) {
        const { params } = call
        const values = {
          title: params.title.trim(),
          description: params.description ?? null,
          start_date: params.start_date ?? null,
          due_date: params.due_date ?? null,
        }
        checkMilestone('create', values)
        const row = await db.transaction(async (tx) => {
          const made = await store.create(tx, owner(call), values)
          await announce(events, tx, call.actor, 'create', made)
          return made
        })
        return milestone(row, externalUrl())
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:milestone_id`,
      summary: `Change a milestone of ${called}`,
      may: writing,
      params: Fields({
        milestone_id,
        title: Optional(Text()),
        ...settable,
        state_event: Optional(OneOf('close', 'activate')),
      }),
      rules: { atLeastOneOf: [['title', 'description', 'start_date', 'due_date', 'state_event']] },
      answers: Milestone,
      async handle(call) {
        const { params, rows } = call
        const before = rows[0]!
        const values = {
          title: params.title?.trim() ?? before.title,
          description: params.description === undefined ? before.description : params.description,
          start_date: params.start_date === undefined ? before.start_date : params.start_date,
          due_date: params.due_date === undefined ? before.due_date : params.due_date,
          state: states[params.state_event ?? ''] ?? before.state,
        }
        checkMilestone('update', values)
        const row = await db.transaction(async (tx) => {
          const after = await store.change(tx, owner(call), before, values)
          if (after.state !== before.state)
            await announce(events, tx, call.actor, after.state === 'closed' ? 'close' : 'reopen', after)
          return after
        })
        return milestone(row, externalUrl())
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:milestone_id`,
      summary: `Delete a milestone of ${called}`,
      may: removing,
      params: Fields({ milestone_id }),
      answers: null,
      async handle({ actor, rows, request }) {
        requireUnmodified(request, rows[0]!.updated_at)
        await db.transaction(async (tx) => {
          await store.remove(tx, rows[0]!.id)
          await announce(events, tx, actor, 'delete', rows[0]!)
        })
      },
    }),
  ]
}

const states: Readonly<Record<string, string>> = { close: 'closed', activate: 'active' }

export function promotionEndpoint({
  db,
  externalUrl,
}: Pick<MilestoneServices, 'db' | 'externalUrl'>): Endpoint {
  const { on, path, writing } = projectPlace
  return endpoint({
    method: 'POST',
    path: `${path}/:milestone_id/promote`,
    summary: 'Make a milestone of a project one of its group',
    description: 'Milestones of the same title in other projects of the group become the same one.',
    on,
    may: writing,
    record: true,
    status: 200,
    params: Fields({ milestone_id: Id() }),
    answers: Milestone,
    refuses: { 400: 'The project is in no group' },
    read: ({ params }) => store.one('project', params.milestone_id),
    async handle({ actor, project, rows }) {
      if (project.namespaceKind !== 'group') throw badRequest('Project does not belong to a group')
      const parent = await findGroup(db.reader, actor, project.namespaceId)
      if (parent === undefined) throw notFound('Group')
      require(actor, 'admin_milestone', parent)
      const row = await db.transaction((tx) => store.promote(tx, rows[0]!.id, parent.id))
      return milestone(row, externalUrl())
    },
  })
}
