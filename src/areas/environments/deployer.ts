import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { guessTier } from '../../ci/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import { isRefused } from '../protected-environments/index.ts'
import { protects } from './deployments.ts'

/** Refuses who may not deploy to an environment that is protected, or will be once it is there. */
export function deployerCheck({ db, plan }: { readonly db: Database; readonly plan: Plan }) {
  return async (
    { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
    { name }: { readonly name: string },
  ): Promise<void> => {
    if (!protects(plan)) return
    const of = { projectId: project.id, name, tier: guessTier(name) }
    const refused = await isRefused(db.reader, of, userOf(actor).id)
    if (refused) throw forbidden()
  }
}
