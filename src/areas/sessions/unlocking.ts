import { randomInt, timingSafeEqual } from 'node:crypto'
import { sql, type Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { letter, type Mailer } from '../../mail/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Account } from './store.ts'

const context = 'account_unlocks.sealed_code'
/** Minutes that a code is good for. */
const codeLife = 60
const mostAttempts = 5
/** Minutes until another code is sent. */
const pause = 1

interface UnlockServices {
  readonly cipher: Cipher
  readonly mail: Mailer
}

/** Minutes that an account stays locked whose owner can open it by mail. */
export const lockedForMail = 24 * 60

/** Whether owners of locked accounts open them by a code that is mailed to them, instead of waiting. */
export function unlocksByMail(values: SettingValues, { mail }: Pick<UnlockServices, 'mail'>): boolean {
  return values.require_email_verification_on_account_locked && mail.enabled
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

interface Sent {
  readonly sealed_code: string
  readonly attempts: number
  readonly minutes: number
}

/** Opens a locked account with the code that was mailed; false for a wrong or old one. */
export async function unlock(tx: Tx, { cipher }: UnlockServices, id: number, code: string): Promise<boolean> {
  const sent = await find(tx, id)
  if (sent === undefined || sent.minutes >= codeLife || sent.attempts >= mostAttempts) return false
  if (!isEqual(code.trim(), cipher.open(sent.sealed_code, context))) {
    await sql`update account_unlocks set attempts = attempts + 1 where user_id = ${id}`.execute(tx)
    return false
  }
  await sql`delete from account_unlocks where user_id = ${id}`.execute(tx)
  await sql`update users set locked_until = null, failed_attempts = 0 where id = ${id}`.execute(tx)
  return true
}

/** Mails a code to the owner of a locked account, unless one has just been sent. */
export async function sendCode(tx: Tx, { cipher, mail }: UnlockServices, account: Account): Promise<void> {
  const sent = await find(tx, account.id)
  if (sent !== undefined && sent.minutes < pause) return
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  await sql`
    insert into account_unlocks (user_id, sealed_code) values (${account.id}, ${cipher.seal(code, context)})
    on conflict (user_id) do update set sealed_code = excluded.sealed_code, attempts = 0, sent_at = now()`.execute(
    tx,
  )
  await mail.queue(tx, {
    key: `unlock:${account.id}:${Date.now()}`,
    to: { name: account.name, address: account.email, userId: account.id },
    subject: 'Your code to sign in',
    text: letter({
      paragraphs: [
        'Your account was locked after too many wrong passwords.',
        `To open it, sign in with this code: ${code}`,
        `It is good for ${codeLife} minutes. If it was not you who tried to sign in, choose another password.`,
      ],
    }),
  })
}

async function find(tx: Tx, userId: number): Promise<Sent | undefined> {
  const { rows } = await sql<Sent>`
    select a.sealed_code, a.attempts, extract(epoch from now() - a.sent_at)::int / 60 as minutes
    from account_unlocks a where a.user_id = ${userId} for update`.execute(tx)
  return rows[0]
}
