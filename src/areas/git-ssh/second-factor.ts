import type { Duplex } from 'node:stream'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { GitRefusal } from '../git-http/index.ts'
import { provesSecondFactor } from '../sessions/index.ts'
import type { SshServices } from './index.ts'
import type { KnownKey } from './store.ts'

/** Codes that may be tried with one key in so many seconds. */
const tries = { most: 10, period: 300 }
/** Milliseconds that somebody has to type a code, and characters that it has at most. */
const patience = 60_000
const longest = 64

const required = `OTP verification is required to access the repository.

   Use: ssh git@<host> 2fa_verify`

/** Refuses whoever has a second factor and has not shown it lately, where the instance asks for it. */
export async function requireSecondFactor({ db, settings }: SshServices, key: KnownKey): Promise<void> {
  if (key.user_id === null || !settings.isOn('two_factor_for_cli', `User:${key.user_id}`)) return
  const { lacking } = await stateOf(db.reader, key, settings.values.git_two_factor_session_expiry)
  if (lacking) throw new GitRefusal(403, required)
}

interface State {
  readonly has: boolean
  /** There is a second factor, and it was not shown within these minutes. */
  readonly lacking: boolean
}

async function stateOf(db: Reader, { id, user_id }: KnownKey, minutes: number): Promise<State> {
  const { rows } = await sql<State>`
    select u.two_factor_at is not null as has,
      u.two_factor_at is not null
        and (p.proven_at + make_interval(mins => ${minutes}::int) > now()) is not true as lacking
    from users u left join ssh_key_proofs p on p.key_id = ${id} where u.id = ${user_id}`.execute(db)
  return rows[0] ?? { has: false, lacking: false }
}

/** Asks on the channel for a code; with a right one the key is good for git for a while. */
export async function takeSecondFactor(
  services: SshServices,
  key: KnownKey,
  channel: Duplex,
  signal: AbortSignal,
): Promise<void> {
  const { db, cipher, settings, counts } = services
  const userId = key.user_id
  const minutes = settings.values.git_two_factor_session_expiry
  if (userId === null || !(await stateOf(db.reader, key, minutes)).has) {
    throw new GitRefusal(403, 'Two-factor authentication is not enabled for this user')
  }
  channel.write('OTP: ')
  const code = await readLine(channel, signal)
  const { count } = counts.add('2fa_verify', `key ${key.id}`, tries.period)
  if (count > tries.most) throw new GitRefusal(429, 'Too many attempts. Try again later.')
  const proven = await db.transaction(async (tx) => {
    if (!(await provesSecondFactor(tx, cipher, userId, code))) return false
    await sql`
      insert into ssh_key_proofs (key_id) values (${key.id})
      on conflict (key_id) do update set proven_at = now()`.execute(tx)
    return true
  })
  if (!proven) throw new GitRefusal(403, 'OTP validation failed.')
  channel.write('\nOTP validation successful. Git operations are now allowed.\n')
}

/** What somebody types, up to the end of the line; not for ever. */
export async function readLine(channel: Duplex, signal: AbortSignal): Promise<string> {
  const stop = AbortSignal.any([signal, AbortSignal.timeout(patience)])
  const end = (): void => void channel.push(null)
  stop.addEventListener('abort', end, { once: true })
  let text = ''
  try {
    for await (const chunk of channel.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1')
      if (/[\r\n]/.test(text) || text.length > longest) break
    }
  } finally {
    stop.removeEventListener('abort', end)
  }
  return text.split(/[\r\n]/, 1)[0]!.slice(0, longest)
}
