import { nameSearchIndex } from '../areas/search-index/index.ts'
import { createAccessToken, tokenScopes, type NewToken } from '../areas/tokens/index.ts'
import { createUser } from '../areas/users/index.ts'
import { sql, type Tx } from '../kernel/db/index.ts'
import type { Settings } from '../settings/index.ts'
import type { Services } from './services.ts'

/**
 * The administrator `root`, at the first start; several nodes may start at once. With a configured token root has this
 * one, with all scopes and no end.
 */
export async function seed({ db, settings }: Services, configured: string | undefined): Promise<void> {
  await db.transaction(async (tx) => {
    const existing = await lockRoot(tx)
    // Of all that migrations make only this differs from one instance to the next, and one may begin as another's copy.
    if (existing === undefined) await nameSearchIndex(tx)
    const userId =
      existing ??
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
    if (configured === undefined) return
    await createAccessToken(tx, { ...endless(userId, settings), name: 'ROOT_TOKEN', secret: configured })
  })
}

/**
 * A token for a root who never had one, to be shown once. It is made when all else of a start has succeeded: of a token
 * that was made and never shown only the digest would be left.
 */
export async function firstToken({ db, settings }: Services): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    const userId = await lockRoot(tx)
    if (userId === undefined) return undefined
    const known = await tx
      .selectFrom('personal_access_tokens as t')
      .select('t.id')
      .where('t.user_id', '=', userId)
      .limit(1)
      .executeTakeFirst()
    if (known !== undefined) return undefined
    return (await createAccessToken(tx, { ...endless(userId, settings), name: 'first token' })).secret
  })
}

/** The id of root, whom no other node makes, or makes a token for, until the transaction ends. */
async function lockRoot(tx: Tx): Promise<number | undefined> {
  await sql`lock table users in share row exclusive mode`.execute(tx)
  const root = await tx
    .selectFrom('users as u')
    .select('u.id')
    .where((eb) => eb(eb.fn('lower', ['u.username']), '=', 'root'))
    .executeTakeFirst()
  return root?.id
}

function endless(userId: number, settings: Settings): Omit<NewToken, 'name'> {
  const prefix = settings.values.personal_access_token_prefix ?? ''
  return { userId, scopes: [...tokenScopes], expiresAt: null, prefix }
}
