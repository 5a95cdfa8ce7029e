import { endpoint, mayGrant, project } from '../../access/index.ts'
import { Fields, Id, whenChanged, type Endpoint } from '../../kernel/endpoint/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import { refuseLocked } from '../members/index.ts'
import { findShare, ProjectShare, share, shareParams, unshare } from '../shares/index.ts'
import type { ProjectServices } from './routes.ts'

/** Groups let into a project. */
export function sharingEndpoints(services: Pick<ProjectServices, 'db' | 'plan' | 'settings'>): Endpoint[] {
  const { db, settings } = services
  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/share',
      summary: 'Let the members of a group into a project',
      on: project,
      may: 'admin_project_member',
      params: Fields(shareParams),
      answers: ProjectShare,
      refuses: {
        400: 'The group keeps its projects from being shared',
        404: 'No such group',
        409: 'It is shared with that group',
      },
      async handle({ actor, project, params }) {
        if (project.namespaceKind === 'group') refuseLocked(settings, actor)
        if (!mayGrant(actor, project, params.group_access)) throw forbidden()
        const made = await share(services, actor, project, params)
        return { ...made, project_id: project.id }
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/share/:group_id',
      summary: 'Let the members of a group in no longer',
      on: project,
      may: 'admin_project_member',
      params: Fields({ group_id: Id() }),
      answers: null,
      refuses: { ...whenChanged, 404: 'No such share' },
      async handle({ actor, project, params, request }) {
        if (project.namespaceKind === 'group') refuseLocked(settings, actor)
        const there = await findShare(db.reader, project, params.group_id)
        if (there === undefined) throw notFound('Group Link')
        if (!mayGrant(actor, project, there.group_access)) throw forbidden()
        await unshare(db, project, params.group_id, request)
      },
    }),
  ]
}
