import type { PasswordProof, Passwords } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import { matchesPassword } from '../users/index.ts'
import { lockedForMail, unlocksByMail } from './unlocking.ts'

export interface PasswordServices {
  readonly db: Database
  readonly settings: Settings
  readonly mail: Mailer
}

/** Attempts and minutes of a lock where the settings say nothing. */
const usual = { attempts: 10, minutes: 10 }

interface Standing {
  readonly locked: boolean
  readonly two_factor: boolean
  readonly failed_attempts: number
}

/** For git and the registry: a password alone is not enough of users with a second factor, whoever knows it. */
export function passwordsForGit(services: PasswordServices, elsewhere: Passwords['authenticate']): Passwords {
  return {
    matches: matchesForGit(services),
    async authenticate(username, password) {
      if (!services.settings.values.password_authentication_enabled_for_git) return undefined
      const userId = await elsewhere(username, password)
      const known = userId === undefined ? undefined : await standing(services, userId)
      return known === undefined || known.two_factor || known.locked ? undefined : userId
    },
  }
}

function matchesForGit(services: PasswordServices): PasswordProof {
  return async (userId, password, digest) => {
    if (!services.settings.values.password_authentication_enabled_for_git) return false
    const known = await standing(services, userId)
    if (known === undefined || known.two_factor || known.locked) return false
    return isRight(services, userId, known, () => matchesPassword(password, digest))
  }
}

/** Whether this is the password of somebody who is signed in already. */
export async function confirmsPassword(
  services: PasswordServices,
  userId: number,
  password: string,
): Promise<boolean> {
  const known = await standing(services, userId)
  if (known === undefined || known.locked) return false
  const { rows } = await sql<{ digest: string | null }>`
    select u.password_digest as digest from users u where u.id = ${userId}`.execute(services.db.reader)
  const digest = rows[0]?.digest ?? ''
  return isRight(services, userId, known, () => matchesPassword(password, digest))
}

async function standing({ db }: Pick<PasswordServices, 'db'>, userId: number): Promise<Standing | undefined> {
  const { rows } = await sql<Standing>`
    select coalesce(u.locked_until > now(), false) as locked, u.two_factor_at is not null as two_factor, u.failed_attempts
    from users u where u.id = ${userId}`.execute(db.reader)
  return rows[0]
}

/** Whether what a user shows is right. Wrong ones in a row lock the account for a while; a right one ends the row. */
export async function isRight(
  { db, settings, mail }: PasswordServices,
  userId: number,
  { failed_attempts: before }: Pick<Standing, 'failed_attempts'>,
  check: () => Promise<boolean>,
): Promise<boolean> {
  const right = await check()
  if (right) {
    if (before > 0) await sql`update users set failed_attempts = 0 where id = ${userId}`.execute(db.writer)
    return true
  }
  const attempts = settings.values.max_login_attempts ?? usual.attempts
  const minutes = unlocksByMail(settings.values, { mail })
    ? lockedForMail
    : (settings.values.failed_login_attempts_unlock_period_in_minutes ?? usual.minutes)
  await sql`
    update users set
      failed_attempts = case when failed_attempts + 1 >= ${attempts} then 0 else failed_attempts + 1 end,
      locked_until = case when failed_attempts + 1 >= ${attempts}
        then now() + make_interval(mins => ${minutes}::int) else locked_until end
    where id = ${userId}`.execute(db.writer)
  return false
}
