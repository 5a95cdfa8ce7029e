import { endpoint, project as projectKind, userOf } from '../../../access/index.ts'
import type { Tx } from '../../../kernel/db/index.ts'
import { Fields, Flag, Optional, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { protectByFlags, rulesOf, unprotect } from '../../protected-branches/index.ts'
import { Branch } from '../branch-entity.ts'
import type { RepositoryServices } from '../services.ts'
import { branchNamed, one } from './branches.ts'

const path = '/projects/:id/repository/branches/:branch'

/** What clients called before there were rules with names of their own. */
export function oldProtectionEndpoints(services: RepositoryServices): Endpoint[] {
  const { db } = services
  return [
    endpoint({
      method: 'PUT',
      path: `${path}/protect`,
      summary: 'Protect a branch (old form)',
      description: 'Use `POST /projects/:id/protected_branches`.',
      on: projectKind,
      may: 'admin_protected_branch',
      params: Fields({ developers_can_push: Optional(Flag()), developers_can_merge: Optional(Flag()) }),
      answers: Branch,
      refuses: { 404: 'No such branch' },
      async handle({ actor, project, params }) {
        const found = await branchNamed(services, project, params.branch)
        const flags = {
          developersCanPush: params.developers_can_push,
          developersCanMerge: params.developers_can_merge,
        }
        const rules = await db.transaction(async (tx: Tx) => {
          await protectByFlags(tx, actor, project, found.name, flags)
          return rulesOf(tx, project.id, userOf(actor).id)
        })
        return one(services, { actor, project, rules }, found)
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/unprotect`,
      summary: 'Unprotect a branch (old form)',
      description: 'Use `DELETE /projects/:id/protected_branches/:name`.',
      on: projectKind,
      may: 'admin_protected_branch',
      answers: Branch,
      refuses: { 404: 'No such branch' },
      async handle({ actor, project, params }) {
        const found = await branchNamed(services, project, params.branch)
        const rules = await db.transaction(async (tx: Tx) => {
          await unprotect(tx, actor, project, found.name)
          return rulesOf(tx, project.id, userOf(actor).id)
        })
        return one(services, { actor, project, rules }, found)
      },
    }),
  ]
}
