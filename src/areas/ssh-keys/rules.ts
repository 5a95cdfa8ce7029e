import { invalid } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { parsePublicKey, type KeyType, type PublicKey } from './public-key.ts'

const longestKey = 5000
const longestTitle = 255
const day = 86_400_000

const names: Readonly<Record<KeyType, string>> = {
  rsa: 'RSA',
  dsa: 'DSA',
  ecdsa: 'ECDSA',
  ed25519: 'ED25519',
  ecdsa_sk: 'ECDSA_SK',
  ed25519_sk: 'ED25519_SK',
}
const types = Object.keys(names) as KeyType[]
/** As `RSA or ECDSA`, and `RSA, ECDSA, or ED25519`. */
const either = new Intl.ListFormat('en', { type: 'disjunction' })

/** Why a key may not be used, by the settings of the instance; undefined when it may. */
export function restrictionOf(
  { values }: Settings,
  key: Pick<PublicKey, 'type' | 'bits'>,
): string | undefined {
  const least = values[`${key.type}_key_restriction`]
  if (least === -1) {
    const allowed = types
      .filter((type) => values[`${type}_key_restriction`] !== -1)
      .map((type) => names[type])
    return allowed.length === 0
      ? 'type is forbidden.'
      : `type is forbidden. Must be ${either.format(allowed)}`
  }
  return key.bits < least ? `must be at least ${least} bits` : undefined
}

export interface NewKey extends PublicKey {
  readonly title: string
  readonly expiresAt: Date | null
}

/** A key that is to be added; all that is wrong with it is refused at once. `prefix`: how its faults are named. */
export function checkKey(
  settings: Settings,
  wanted: { readonly key: string; readonly title: string; readonly expiresAt: Date | undefined },
  prefix = '',
): NewKey {
  const faults: Record<string, string[]> = {}
  const fault = (name: string, text: string): void => {
    faults[prefix + name] = [...(faults[prefix + name] ?? []), text]
  }
  const title = wanted.title.trim()
  const parsed = wanted.key.length > longestKey ? undefined : parsePublicKey(wanted.key)
  if (title === '') fault('title', "can't be blank")
  if (title.length > longestTitle) fault('title', `is too long (maximum is ${longestTitle} characters)`)
  if (wanted.key.length > longestKey) fault('key', `is too long (maximum is ${longestKey} characters)`)
  if (parsed === undefined) {
    fault('key', 'is invalid')
    fault('fingerprint_sha256', 'cannot be generated')
  } else {
    const restriction = restrictionOf(settings, parsed)
    if (restriction !== undefined) fault('key', restriction)
  }
  const expiresAt = endOf(settings, wanted.expiresAt)
  if (expiresAt !== null && expiresAt.getTime() <= Date.now()) fault('key', 'has expired')
  if (parsed === undefined || Object.keys(faults).length > 0) throw invalid(faults)
  return { ...parsed, title, expiresAt }
}

/** The end of a key: what was asked for, but no later than the instance allows. */
function endOf({ values }: Settings, wanted: Date | undefined): Date | null {
  const longest = values.max_ssh_key_lifetime
  if (longest === null) return wanted ?? null
  const latest = new Date(Date.now() + longest * day)
  return wanted !== undefined && wanted < latest ? wanted : latest
}

export function taken(prefix = ''): Error {
  return invalid({ [`${prefix}fingerprint_sha256`]: ['has already been taken'] })
}
