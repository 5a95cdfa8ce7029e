import {
  endpoint,
  find,
  group,
  may,
  project,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Either, Fields, Id, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { securityPolicies, SecurityPolicies } from './entities.ts'
import * as store from './store.ts'
import { syncPolicies } from './sync.ts'

export interface PolicyServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly settings: Pick<Settings, 'values'>
}

/** From where a project, or a group for all that is below it, takes its policies. */
export function policyEndpoints(services: PolicyServices, place: store.PolicyPlace): Endpoint[] {
  const { db, settings } = services
  const about = {
    on: place === 'project' ? project : group,
    path: `/${place}s/:id/security_policies`,
    may: 'admin_security_policy_link',
  } as const
  const paid = { plan: planOf.security_policies } as const
  const shown = (links: readonly store.LinkRow[]): Record<string, unknown> =>
    securityPolicies(links, settings.values.security_approval_policies_limit)
  type Subject = ProjectSubject | GroupSubject
  const idOf = (call: { readonly project?: Subject; readonly group?: Subject }): number =>
    (call.project ?? call.group!).id
  return [
    endpoint({
      ...about,
      ...paid,
      method: 'GET',
      summary: `Get the security policies that hold for a ${place}`,
      description: 'Its own and those of the groups above, each with whether it takes effect, and why not.',
      answers: SecurityPolicies,
      read: () => store.links(place),
      handle: async ({ rows }) => shown(rows),
    }),

    endpoint({
      ...about,
      ...paid,
      method: 'PUT',
      summary: `Take the security policies of a ${place} from a project`,
      description:
        'They are read from `.gitlab/security-policies/policy.yml` on its default branch, now and when that moves.',
      params: Fields({
        policy_project_id: Either(Id(), Text({ description: 'Id or full path' })),
      }),
      answers: SecurityPolicies,
      refuses: { 404: 'No such project, or one whose code the caller may not read' },
      async handle(call) {
        const source = await find(db.reader, project, call.actor, String(call.params.policy_project_id))
        if (source === undefined || !may(call.actor, 'read_code', source)) throw notFound('Project')
        await store.link(db.writer, place, idOf(call), source.id)
        await syncPolicies(services, source.id)
        return shown(await store.findLinks(db.writer, place, idOf(call)))
      },
    }),

    // On any plan: who has no use of policies any more has to be able to end them.
    endpoint({
      ...about,
      method: 'DELETE',
      summary: `Take no security policies for a ${place} any more`,
      description: 'Those of the groups above hold as before.',
      answers: null,
      refuses: { 404: 'It takes none' },
      async handle(call) {
        if (!(await store.unlink(db.writer, place, idOf(call)))) throw notFound('Security policy project')
      },
    }),
  ]
}
