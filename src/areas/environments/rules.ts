import { invalid } from '../../kernel/errors/index.ts'

export const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const
export const autoStopSettings = ['always', 'with_action'] as const

const longestName = 255
const longestUrl = 255
const nameRule =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"

/** Why a name of an environment is none, or undefined. */
export function nameFault(name: string): string | undefined {
  if (name === '') return "can't be blank"
  if (name.length > longestName) return `is too long (maximum is ${longestName} characters)`
  return /^[\w\-${}. ]+(?:\/+[\w\-${}. ]+)*$/.test(name) ? undefined : nameRule
}

/** Where an environment can be looked at: an address of the web. */
export function urlFault(url: string): string | undefined {
  if (url.length > longestUrl) return `is too long (maximum is ${longestUrl} characters)`
  const parsed = URL.parse(url)
  if (parsed === null) return 'is blocked: URI is invalid'
  return ['http:', 'https:'].includes(parsed.protocol)
    ? undefined
    : 'is blocked: Only allowed schemes are http, https'
}

/** Refuses what breaks a rule, all faults at once. */
export function check({
  name,
  externalUrl,
}: {
  name?: string
  externalUrl?: string | null | undefined
}): void {
  const faults = {
    name: name === undefined ? undefined : nameFault(name),
    external_url: externalUrl == null || externalUrl === '' ? undefined : urlFault(externalUrl),
  }
  const found = Object.entries(faults).flatMap(([key, fault]) =>
    fault === undefined ? [] : [[key, [fault]] as [string, string[]]],
  )
  if (found.length > 0) throw invalid(Object.fromEntries(found))
}
