import type { SettingValues } from '../settings/index.ts'
import type { DeployKey } from './deploy-key.ts'
import type { DeployToken } from './deploy-token.ts'
import { insufficientScope, invalidToken, unauthorized } from '../kernel/errors/index.ts'

export interface User {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly publicEmail: string | null
  /** For commits made here; null: the first address. See `commitAddress`. */
  readonly commitEmail: string | null
  readonly state: string
  readonly kind: string
  readonly admin: boolean
  /** Sees internal projects only as a member. */
  readonly external: boolean
  readonly canCreateGroup: boolean
  /** Too many wrong passwords: nothing works until then. */
  readonly lockedUntil: Date | null
  /** Somebody else chose it; the user has to choose another one. */
  readonly passwordExpired: boolean
  /** The address is not known to be the user's own; since when. */
  readonly unconfirmedSince: Date | null
  /** Digest of the terms that the user accepted last. */
  readonly acceptedTerms: string | null
}

/** Who asks. Without a user it is somebody unknown. */
export interface Actor {
  readonly user: User | null
  /** Without an id it is one that the user granted an application. */
  readonly token: { readonly id: number | null; readonly scopes: readonly string[] } | null
  /** The running CI job that acts with its user's rights, on few endpoints. */
  readonly job: { readonly id: number; readonly projectId: number; readonly pipelineId: number } | null
  /** Git over SSH with a key that is no user's. */
  readonly deployKey?: DeployKey
  /** Git over HTTP, or the registry of images, with a token that is no user's. */
  readonly deployToken?: DeployToken
}

/** An actor that the endpoint's checks have found to be signed in. */
export interface SignedIn extends Actor {
  readonly user: User
}

export const anonymous: Actor = { user: null, token: null, job: null }

/** The user of an actor on an endpoint that takes no anonymous callers. */
export function userOf(actor: Actor): User {
  if (actor.user === null) throw unauthorized()
  return actor.user
}

export function isAdministrator(actor: Actor): boolean {
  return actor.user?.admin === true && actor.job === null
}

const stateReasons: Readonly<Record<string, string>> = {
  blocked: 'Your account has been blocked.',
  ldap_blocked: 'Your account has been blocked.',
  banned: 'Your account has been blocked.',
  blocked_pending_approval: 'Your account is pending approval from your administrator and hence blocked.',
}

/**
 * Why a user may not act any more, or undefined. The texts are those that git and the API show; where the address of the
 * service is given, it is told where there is something to be done about it.
 */
export function accountProblem(user: User, externalUrl?: string, now = new Date()): string | undefined {
  if (user.kind === 'internal') return 'This action cannot be performed by internal users'
  if (user.lockedUntil !== null && user.lockedUntil > now) return stateReasons['blocked']
  if (user.passwordExpired && user.state === 'active') {
    return 'Your password expired. Please access the service from a web browser to update your password.'
  }
  if (user.state === 'deactivated') {
    const where = externalUrl === undefined ? '.' : ` at ${externalUrl}`
    return `Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account${where}`
  }
  return user.state === 'active' ? undefined : (stateReasons[user.state] ?? stateReasons['blocked'])
}

export interface TokenFacts {
  readonly revoked: boolean
  readonly expired: boolean
}

/** Refuses a token that was revoked or whose time is over. */
export function checkToken({ revoked, expired }: TokenFacts): void {
  if (revoked) throw invalidToken('Token was revoked. You have to re-authorize from the user.')
  if (expired) throw invalidToken('Token is expired. You can either do re-authorization or token refresh.')
}

/** The instance may have done away with the tokens of people; those of projects, groups and services go on. */
export function isDisabledToken(
  { user, token }: Actor,
  { disable_personal_access_tokens: disabled }: SettingValues,
): boolean {
  return disabled && user?.kind === 'human' && token?.id !== null
}

/** The same as a question, for protocols that have one answer for every token that is no good. */
export function isTokenUsable({ revoked, expired }: TokenFacts): boolean {
  return !revoked && !expired
}

/** Refuses a token none of whose scopes the endpoint takes. */
export function checkScopes(held: readonly string[], acceptable: readonly string[]): void {
  if (!acceptable.some((scope) => held.includes(scope))) throw insufficientScope(acceptable)
}
