import { sql } from '../../kernel/db/index.ts'
import { endpoint, group, groupsWithCreation, project, type Actor } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import {
  Either,
  Fields,
  Id,
  ListOf,
  Optional,
  requireUnmodified,
  rows,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { permanentlyParams, takeIntoGroup } from '../projects/index.ts'
import { setArchived } from './archiving.ts'
import { deleteGroup, restoreGroup } from './deletion.ts'
import { GroupDetail, ProjectGroup, projectGroup } from './entities.ts'
import { groupsWhere } from './listing.ts'
import type { GroupServices } from './routes.ts'
import { transferGroup } from './transfer.ts'

const usual = { all_available: true, order_by: 'name', sort: 'asc' } as const
const search = { search: Optional(Text({ description: 'Part of the name or full path' })) }

/** Where groups and projects go, and how they end. */
export function movingEndpoints(
  services: GroupServices,
  detail: (actor: Actor, id: number) => Promise<Record<string, unknown>>,
): Endpoint[] {
  return [
    endpoint({
      method: 'DELETE',
      path: '/groups/:id',
      whileArchived: true,
      summary: 'Delete a group with all that lies below it',
      description:
        'With a paid plan it is marked and goes after `deletion_adjourned_period` days, unless it is restored before.',
      on: group,
      may: 'remove_group',
      params: Fields(permanentlyParams),
      status: 202,
      answers: Fields({ message: Text() }),
      refuses: { ...whenChanged, 400: 'It is to go at once and is not marked, or the path is not its own' },
      read: () =>
        rows<{ updated_at: string }>(sql`select n.updated_at from namespaces n where n.id = subject.id`),
      async handle({ actor, group, params, rows: [found], request }) {
        requireUnmodified(request, found!.updated_at)
        await deleteGroup(services, actor, group, params)
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      method: 'POST',
      path: '/groups/:id/restore',
      whileArchived: true,
      summary: 'Keep a group that is marked for deletion',
      on: group,
      may: 'remove_group',
      plan: planOf.delayed_deletion,
      answers: GroupDetail,
      refuses: { 400: 'It is not marked' },
      async handle({ actor, group }) {
        await restoreGroup(services, group.id)
        return detail(actor, group.id)
      },
    }),

    ...(['archive', 'unarchive'] as const).map((verb) =>
      endpoint({
        method: 'POST',
        path: `/groups/:id/${verb}`,
        whileArchived: true,
        summary:
          verb === 'archive'
            ? 'Archive a group: it and all that lies below it can only be read from then on'
            : 'Bring an archived group back to life, with what was archived with it',
        on: group,
        may: 'archive_group',
        status: 200,
        answers: GroupDetail,
        refuses: { 422: 'It is so already, or a group above it is archived' },
        async handle({ actor, group }) {
          await setArchived(services.db, group, verb === 'archive')
          return detail(actor, group.id)
        },
      }),
    ),

    endpoint({
      method: 'POST',
      path: '/groups/:id/transfer',
      summary: 'Put a group below another one, or at the top',
      on: group,
      may: 'transfer_group',
      params: Fields({ group_id: Optional(Id({ description: 'The new parent; without it: at the top' })) }),
      answers: GroupDetail,
      refuses: { 400: 'It can not go there', 404: 'No such parent' },
      async handle({ actor, group, params }) {
        await transferGroup(services, actor, group, params.group_id)
        return detail(actor, group.id)
      },
    }),

    endpoint({
      method: 'POST',
      path: '/groups/:id/projects/:project_id',
      summary: 'Put a project into a group',
      on: group,
      may: 'admin_group',
      params: Fields({ project_id: Either(Id(), Text({ description: 'Full path' })) }),
      answers: GroupDetail,
      refuses: { 400: 'It can not go there', 404: 'No such project' },
      async handle({ actor, group, params }) {
        await takeIntoGroup(services, actor, group, String(params.project_id))
        return detail(actor, group.id)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/transfer_locations',
      summary: 'List the groups that a group may be put below',
      on: group,
      may: 'transfer_group',
      paged: true,
      params: Fields(search),
      answers: ListOf(ProjectGroup),
      read: ({ params, page }) =>
        groupsWhere(
          sql`not (n.traversal_ids @> array[subject.id]) and n.id is distinct from subject.parent_id
            and ${groupsWithCreation('subgroups')}`,
          { ...usual, ...params },
          page,
        ),
      handle: async ({ rows }) => rows.map((row) => projectGroup(row, services.externalUrl())),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/transfer_locations',
      summary: 'List the groups that a project may be put into',
      on: project,
      may: 'transfer_project',
      paged: true,
      params: Fields(search),
      answers: ListOf(ProjectGroup),
      read: ({ params, page }) =>
        groupsWhere(
          sql`n.id <> subject.namespace_id and ${groupsWithCreation('projects')}`,
          { ...usual, ...params },
          page,
        ),
      handle: async ({ rows }) => rows.map((row) => projectGroup(row, services.externalUrl())),
    }),
  ]
}
