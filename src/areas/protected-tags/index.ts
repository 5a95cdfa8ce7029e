import { admits, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database, Reader } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { protectedTagEndpoints } from './routes.ts'
import { creatorsOf } from './rules.ts'
import { rulesOf } from './store.ts'

export { tagGuard } from './guard.ts'
export { creatorsOf, tagIsProtected, type TagRule } from './rules.ts'
export { allTagRules, rulesOf as tagRulesOf, tagRulesIn } from './store.ts'

/** Whether a tag of this name is protected. */
export async function isProtectedTag(db: Reader, projectId: number, tag: string): Promise<boolean> {
  return creatorsOf(tag, await rulesOf(db, projectId, null)) !== undefined
}

/** Whether the caller may create a tag of this name, were it not there. */
export async function mayCreateTag(
  db: Reader,
  actor: Actor,
  project: ProjectSubject,
  tag: string,
): Promise<boolean> {
  const creators = creatorsOf(tag, await rulesOf(db, project.id, actor.user?.id ?? null))
  return creators === undefined || admits(creators, actor, project)
}

/** Protected tags of projects. */
export function protectedTags(services: { db: Database; plan: Plan }): { endpoints: Endpoint[] } {
  return { endpoints: protectedTagEndpoints(services) }
}
