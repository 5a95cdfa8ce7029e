import type { Duplex } from 'node:stream'
import { ApiError } from '../../kernel/errors/index.ts'
import { GitRefusal } from '../git-http/index.ts'
import { renewRecoveryCodes } from '../sessions/index.ts'
import { administratorScopes, issueToken, tokenScopes } from '../tokens/index.ts'
import { admitHolder } from './admission.ts'
import type { AccountCommand } from './command.ts'
import type { SshServices } from './index.ts'
import { readLine, requireSecondFactor, takeSecondFactor } from './second-factor.ts'
import type { KnownKey } from './store.ts'

/** What the holder of a key does about his account with nothing but the key. */
export async function answerAccount(
  services: SshServices,
  key: KnownKey,
  { about, words }: AccountCommand,
  channel: Duplex,
  signal: AbortSignal,
): Promise<void> {
  if (about === 'second-factor') return takeSecondFactor(services, key, channel, signal)
  const userId = await admitHolder(services, key)
  if (services.settings.values.maintenance_mode) {
    throw new GitRefusal(403, 'The instance is read-only at the moment.')
  }
  return about === 'token'
    ? makeToken(services, { key, userId }, words, channel)
    : renewCodes(services, userId, channel, signal)
}

const question = `Are you sure you want to generate new two-factor recovery codes?
Any existing recovery codes you saved will be invalidated. (yes/no)
`

async function renewCodes(
  { db }: SshServices,
  userId: number,
  channel: Duplex,
  signal: AbortSignal,
): Promise<void> {
  channel.write(question)
  if ((await readLine(channel, signal)).trim().toLowerCase() !== 'yes') {
    channel.write('\nNew recovery codes have *not* been generated. Existing codes will remain valid.\n')
    return
  }
  const codes = await db.transaction((tx) => renewRecoveryCodes(tx, userId))
  if (codes === undefined) throw new GitRefusal(403, 'Two-factor authentication is not enabled for this user')
  channel.write(`
Your two-factor authentication recovery codes are:

${codes.join('\n')}

During sign in, use one of the codes above when prompted for
your two-factor code. Then register a new authenticator, so
that you do not lose access to your account again.
`)
}

const usage = 'Usage: personal_access_token <name> <scope1[,scope2,...]> [ttl_days]'
/** Days that a token lives where nothing else is said. */
const usualLife = 30

async function makeToken(
  services: SshServices,
  { key, userId }: { readonly key: KnownKey; readonly userId: number },
  [name, scopeList, life = String(usualLife), ...more]: readonly string[],
  channel: Duplex,
): Promise<void> {
  await requireSecondFactor(services, key)
  if (name === undefined || scopeList === undefined || more.length > 0) throw new GitRefusal(422, usage)
  if (!/^\d{1,4}$/.test(life)) throw new GitRefusal(422, `Invalid value for days_ttl: '${life}'`)
  const scopes = scopeList.split(',').filter((scope) => scope !== '')
  const known: readonly string[] = tokenScopes.filter((scope) => !administratorScopes.includes(scope))
  const unknown = scopes.find((scope) => !known.includes(scope))
  if (unknown !== undefined) {
    throw new GitRefusal(422, `Invalid scope: '${unknown}'. Valid scopes are: ${known.join(', ')}`)
  }
  const expires_at = new Date(Date.now() + Number(life) * 86_400_000).toISOString().slice(0, 10)
  const made = await issueToken(services, userId, { name, scopes, expires_at }).catch((error: unknown) => {
    if (error instanceof ApiError) throw new GitRefusal(422, error.message)
    throw error
  })
  channel.write(
    `Token:   ${made.token}\nScopes:  ${scopes.join(',')}\nExpires: ${made.expires_at ?? 'never'}\n`,
  )
}
