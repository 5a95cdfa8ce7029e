import { sql } from '../../kernel/db/index.ts'
import { endpoint, project } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import {
  Either,
  Fields,
  Id,
  requireUnmodified,
  rows,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { refused } from '../../kernel/errors/index.ts'
import { lockTree } from '../namespaces/index.ts'
import { deleteProject, restoreProject } from './deletion.ts'
import { Project } from './shapes.ts'
import { permanentlyParams } from './params.ts'
import type { ProjectServices } from './routes.ts'
import { showChanged } from './shown.ts'
import * as store from './store.ts'
import { transferProject } from './transfer.ts'

/** Where projects go, and how they rest and end. */
export function movingEndpoints(services: ProjectServices): Endpoint[] {
  const { db } = services

  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/archive',
      whileArchived: true,
      summary: 'Archive a project: it can only be read from then on',
      on: project,
      may: 'archive_project',
      answers: Project,
      refuses: { 400: 'It is archived' },
      async handle({ actor, project }) {
        const changed = await db.transaction((tx) => store.archive(tx, project.id))
        if (!changed) throw refused(400, 'Project is already archived.')
        return showChanged(services, actor, project.id)
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/unarchive',
      whileArchived: true,
      summary: 'Bring an archived project back to life',
      on: project,
      may: 'archive_project',
      answers: Project,
      refuses: { 400: 'A group above it is archived' },
      async handle({ actor, project }) {
        const atWork = await db.transaction(async (tx) => {
          await lockTree(tx, project.line[0]!, 'share')
          return store.unarchive(tx, project.id)
        })
        if (!atWork) {
          throw refused(400, 'Cannot unarchive project since one of the ancestor groups is archived!')
        }
        return showChanged(services, actor, project.id)
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/projects/:id/transfer',
      summary: 'Put a project into another namespace',
      description: 'The old path leads to the new one.',
      on: project,
      may: 'transfer_project',
      params: Fields({ namespace: Either(Id(), Text({ description: 'Id or full path' })) }),
      answers: Project,
      refuses: { 400: 'It can not go there', 404: 'No such namespace' },
      async handle({ actor, project, params }) {
        await transferProject(services, actor, project, params.namespace)
        return showChanged(services, actor, project.id)
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id',
      whileArchived: true,
      summary: 'Delete a project with all that belongs to it',
      description:
        'With a paid plan a project of a group is marked and goes after `deletion_adjourned_period` days, unless it is restored before.',
      on: project,
      may: 'remove_project',
      params: Fields(permanentlyParams),
      status: 202,
      answers: Fields({ message: Text() }),
      refuses: { ...whenChanged, 400: 'It is to go at once and is not marked, or the path is not its own' },
      read: () =>
        rows<{ updated_at: string }>(sql`select p.updated_at from projects p where p.id = subject.id`),
      async handle({ actor, project, params, rows: [found], request }) {
        requireUnmodified(request, found!.updated_at)
        await deleteProject(services, actor, project, params)
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/restore',
      whileArchived: true,
      summary: 'Keep a project that is marked for deletion',
      on: project,
      may: 'remove_project',
      plan: planOf.delayed_deletion,
      answers: Project,
      refuses: { 400: 'It is not marked' },
      async handle({ actor, project }) {
        await restoreProject(services, project.id)
        return showChanged(services, actor, project.id)
      },
    }),
  ]
}
