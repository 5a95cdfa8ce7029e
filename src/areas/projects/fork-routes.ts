import { decide, endpoint, find, project, userOf, visibilityNames } from '../../access/index.ts'
import {
  Answer,
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { AnyProject, Project } from './shapes.ts'
import { forksOfSubject } from './fork-store.ts'
import { forkProject, linkFork, unlinkFork } from './forking.ts'
import { filterParams, listParams } from './list-params.ts'
import { listed } from './list-routes.ts'
import { projectsWhere } from './listing.ts'
import type { ProjectServices } from './routes.ts'
import { showChanged } from './shown.ts'

/** Projects made from other ones. */
export function forkEndpoints(services: ProjectServices): Endpoint[] {
  const { db, settings } = services

  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/fork',
      whileArchived: true,
      summary: 'Make a project of your own with the code of this one',
      description:
        'The new project is complete when the answer comes. It is as open as its source and its namespace allow.',
      on: project,
      may: 'read_project',
      params: Fields({
        namespace_id: Optional(Id({ description: "Where to; by default the caller's own namespace" })),
        namespace_path: Optional(Text()),
        namespace: Optional(Either(Id(), Text({ description: 'Id or path', deprecated: true }))),
        path: Optional(Text({ maxLength: 255, description: 'By default that of the source' })),
        name: Optional(Text({ maxLength: 255, description: 'By default that of the source' })),
        description: Optional(Nullable(Text())),
        visibility: Optional(OneOf(visibilityNames, {})),
        mr_default_target_self: Optional(Flag()),
        branches: Optional(Text({ description: 'The one branch to take; by default all, and all tags' })),
      }),
      rules: { mutuallyExclusive: [['namespace_id', 'namespace_path']] },
      answers: Project,
      refuses: {
        400: 'A rule is broken',
        404: 'The project may not be forked, or there is no such target or branch',
        409: 'The name or path is in use',
      },
      async handle({ actor, project, params }) {
        const creator = { actor, user: userOf(actor) }
        const id = await forkProject({ ...services, settings: settings.values }, creator, project, params)
        return showChanged(services, actor, id)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/forks',
      summary: 'List the projects that were made from a project',
      on: project,
      may: 'read_project',
      anonymous: true,
      paged: true,
      params: Fields({ ...listParams, ...filterParams }),
      answers: ListOf(AnyProject),
      read: ({ params, page }) => projectsWhere(forksOfSubject, params, page),
      handle: async (call) => listed(services, call.rows, call),
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/fork/:forked_from_id',
      summary: 'Say that a project was made from another one',
      on: project,
      may: 'admin_fork',
      params: Fields({ forked_from_id: Id() }),
      answers: Project,
      refuses: { 404: 'There is no such source, or it may not be forked', 409: 'It is a fork already' },
      async handle({ actor, project: fork, params }) {
        const source = await find(db.reader, project, actor, String(params.forked_from_id))
        if (source === undefined || !decide(actor, 'fork_project', source, true).allowed) throw notFound()
        await linkFork(db, fork, source)
        return showChanged(services, actor, fork.id)
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/fork',
      summary: 'Forget what a project was made from',
      description: 'A project that is no fork stays as it is: 304.',
      on: project,
      may: 'admin_fork',
      answers: null,
      handle: async ({ project }) => ((await unlinkFork(db, project.id)) ? undefined : new Answer(304)),
    }),
  ]
}
