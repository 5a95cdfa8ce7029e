import { sql } from 'kysely'
import { nameSearchIndex } from '../areas/search-index/index.ts'
import { createAccessToken, tokenScopes } from '../areas/tokens/index.ts'
import { createUser } from '../areas/users/index.ts'
import type { Services } from './services.ts'

/**
 * The administrator `root`, at the first start; several nodes may start at once. With a configured token root has this
 * one, with all scopes and no end; else one is made with the user, and returned so that it can be shown once.
 */
export async function seed(
  { db, settings }: Services,
  configured: string | undefined,
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await sql`lock table users in share row exclusive mode`.execute(tx)
    const existing = await tx
      .selectFrom('users as u')
      .select('u.id')
      .where((eb) => eb(eb.fn('lower', ['u.username']), '=', 'root'))
      .executeTakeFirst()
    // Of all that migrations make only this differs from one instance to the next, and one may begin as another's copy.
    if (existing === undefined) await nameSearchIndex(tx)
    const id =
      existing?.id ??
      (
        await createUser(tx, {
          username: 'root',
          name: 'Administrator',
          email: 'admin@example.com',
          admin: true,
          canCreateGroup: true,
          projectsLimit: settings.values.default_projects_limit ?? 0,
        })
      ).id
    if (configured === undefined && existing !== undefined) return undefined
    const token = await createAccessToken(tx, {
      userId: id,
      name: configured === undefined ? 'first token' : 'ROOT_TOKEN',
      scopes: [...tokenScopes],
      expiresAt: null,
      prefix: settings.values.personal_access_token_prefix ?? '',
      ...(configured !== undefined && { secret: configured }),
    })
    return configured === undefined ? token.secret : undefined
  })
}
