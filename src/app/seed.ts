import { randomBytes } from 'node:crypto'
import { nameSearchIndex } from '../areas/search-index/index.ts'
import { setPassword } from '../areas/sessions/index.ts'
import { createAccessToken, tokenScopes, type NewToken } from '../areas/tokens/index.ts'
import { createUser, digestPassword, passwordFaults, passwordRules } from '../areas/users/index.ts'
import { ConfigError, type Config } from '../kernel/config/index.ts'
import { sql, type Tx } from '../kernel/db/index.ts'
import type { Settings } from '../settings/index.ts'
import type { Services } from './services.ts'

const administrator = {
  username: 'root',
  name: 'Administrator',
  email: 'admin@example.com',
}

/**
 * The administrator `root`, at the first start; several nodes may start at once. With a configured token root has this
 * one, with all scopes and no end; a configured password counts until there is one.
 */
export async function seed(
  { db, settings }: Services,
  { rootToken, rootPassword }: Pick<Config, 'rootToken' | 'rootPassword'>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const existing = await lockRoot(tx)
    // Of all that migrations make only this differs from one instance to the next, and one may begin as another's copy.
    if (existing === undefined) await nameSearchIndex(tx)
    const root = existing ?? (await makeRoot(tx, settings))
    if (rootToken !== undefined) {
      await createAccessToken(tx, { ...endless(root.id, settings), name: 'ROOT_TOKEN', secret: rootToken })
    }
    if (rootPassword !== undefined && !root.hasPassword) {
      const [fault] = passwordFaults(rootPassword, administrator, passwordRules(settings.values))
      if (fault !== undefined) throw new ConfigError(`ROOT_PASSWORD: it ${fault}.`)
      await setPassword(tx, root.id, await digestPassword(rootPassword))
    }
  })
}

/** What is shown once. */
export interface FirstCredentials {
  readonly token: string
  /** Undefined where there is one already. */
  readonly password: string | undefined
}

/**
 * For a root who never had a token. They are made when all else of a start has succeeded: of what was made and never
 * shown only the digest would be left.
 */
export async function firstCredentials({ db, settings }: Services): Promise<FirstCredentials | undefined> {
  return db.transaction(async (tx) => {
    const root = await lockRoot(tx)
    if (root === undefined) return undefined
    const known = await tx
      .selectFrom('personal_access_tokens as t')
      .select('t.id')
      .where('t.user_id', '=', root.id)
      .limit(1)
      .executeTakeFirst()
    if (known !== undefined) return undefined
    const { secret } = await createAccessToken(tx, { ...endless(root.id, settings), name: 'first token' })
    const password = root.hasPassword ? undefined : randomBytes(15).toString('base64url')
    if (password !== undefined) await setPassword(tx, root.id, await digestPassword(password))
    return { token: secret, password }
  })
}

interface Root {
  readonly id: number
  readonly hasPassword: boolean
}

/** Root, whom no other node makes, or makes a token for, until the transaction ends. */
async function lockRoot(tx: Tx): Promise<Root | undefined> {
  await sql`lock table users in share row exclusive mode`.execute(tx)
  const root = await tx
    .selectFrom('users as u')
    .select(['u.id', 'u.password_digest'])
    .where((eb) => eb(eb.fn('lower', ['u.username']), '=', administrator.username))
    .executeTakeFirst()
  return root && { id: root.id, hasPassword: root.password_digest !== null }
}

async function makeRoot(tx: Tx, settings: Settings): Promise<Root> {
  const { id } = await createUser(tx, {
    ...administrator,
    admin: true,
    canCreateGroup: true,
    projectsLimit: settings.values.default_projects_limit ?? 0,
  })
  return { id, hasPassword: false }
}

function endless(userId: number, settings: Settings): Omit<NewToken, 'name'> {
  const prefix = settings.values.personal_access_token_prefix ?? ''
  return { userId, scopes: [...tokenScopes], expiresAt: null, prefix }
}
