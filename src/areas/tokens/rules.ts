import { invalid, refused } from '../../kernel/errors/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import { administratorScopes } from './scopes.ts'

const longestText = 255
/** Days that a token may live while the setting asks for an end. */
const longestLife = 365
/** Days that a token lives after its rotation, unless another end is asked for. */
export const lifeAfterRotation = 7

/** What is asked for a new token. */
export interface TokenRequest {
  readonly name: string
  readonly description: string | null
  readonly scopes: readonly string[]
}

/** Refuses, with the texts of the supporting resources (3.3), what no token may be. */
export function check({ name, description, scopes }: TokenRequest, owner: { readonly admin: boolean }): void {
  if (scopes.length === 0) throw refused(400, "Scopes can't be blank")
  const faults: Record<string, string[]> = {}
  if (name.trim() === '') faults['name'] = ["can't be blank"]
  if (name.length > longestText) faults['name'] = [`is too long (maximum is ${longestText} characters)`]
  if ((description?.length ?? 0) > longestText) {
    faults['description'] = [`is too long (maximum is ${longestText} characters)`]
  }
  if (!owner.admin && scopes.some((scope) => (administratorScopes as readonly string[]).includes(scope))) {
    faults['scopes'] = ['can only contain available scopes']
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** The day, in UTC, that is so many days after `now`. */
export function dayAfter(now: Date, days: number): string {
  return new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10)
}

/** How long tokens may live: whether they must end, and after how many days at the latest. */
export interface Life {
  readonly required: boolean
  readonly longest: number
}

type LifeSettings = Pick<
  SettingValues,
  | 'require_personal_access_token_expiry'
  | 'max_personal_access_token_lifetime'
  | 'service_access_tokens_expiration_enforced'
>

/** `kind`: of the user that the token is for. The instance may let those of service accounts live for ever. */
export function lifeOf(values: LifeSettings, plan: Plan, kind: string): Life {
  if (kind === 'service_account' && !values.service_access_tokens_expiration_enforced) {
    return { required: false, longest: longestLife }
  }
  const ownLimit = offers(plan, 'own_token_lifetime') ? values.max_personal_access_token_lifetime : null
  return {
    required: values.require_personal_access_token_expiry || ownLimit !== null,
    longest: ownLimit ?? longestLife,
  }
}

/**
 * The day on which a new token ends: the one asked for; without one `usual`, or else the last day that is allowed, or
 * never where the instance does not ask for an end. Throws when it is later than allowed.
 */
export function endOfLife(
  asked: string | null | undefined,
  { now, required, longest, usual }: Life & { now: Date; usual?: string },
): string | null {
  const last = dayAfter(now, longest)
  const day = asked ?? usual ?? (required ? last : null)
  if (required && day !== null && day > last) throw refused(400, `Expiration date must be before ${last}`)
  return day
}
