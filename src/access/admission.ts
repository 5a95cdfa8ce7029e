import { enforcedTerms, type SettingValues } from '../settings/index.ts'
import { accountProblem, type Actor, type User } from './actor.ts'

/** What the instance asks of people who come in, besides that their account is in order. */
export interface House {
  readonly values: SettingValues
  readonly externalUrl: string
}

/** Days that somebody may come in for before the address is confirmed, where that is not asked for at once. */
const unconfirmedDays = 3

/** Why somebody is not let in, or undefined. The texts are those that git and the API show. */
export function entryProblem(user: User, house: House, now = new Date()): string | undefined {
  return (
    accountProblem(user, house.externalUrl, now) ??
    confirmationProblem(user, house, now) ??
    termsProblem(user, house)
  )
}

/** The address is to be confirmed first. */
export function confirmationProblem(
  { unconfirmedSince }: Pick<User, 'unconfirmedSince'>,
  { values, externalUrl }: House,
  now = new Date(),
): string | undefined {
  const { email_confirmation_setting: when } = values
  if (unconfirmedSince === null || when === 'off') return undefined
  const days = (now.getTime() - unconfirmedSince.getTime()) / 86_400_000
  if (when === 'soft' && days < unconfirmedDays) return undefined
  return (
    'Your primary email address is not confirmed. Please check your inbox for the confirmation instructions. ' +
    `In case the link is expired, you can request a new confirmation email at ${externalUrl}/users/confirmation/new`
  )
}

/** Whether users are kept from a caller: nobody who just passes by sees them where `public` is for administrators only. */
export function hidesUsers({ user }: Actor, values: SettingValues): boolean {
  return user === null && values.restricted_visibility_levels.includes('public')
}

/** Whether there are terms that a user has yet to accept; only people do. */
export function owesTerms(
  { kind, acceptedTerms }: Pick<User, 'kind' | 'acceptedTerms'>,
  values: SettingValues,
): boolean {
  const terms = enforcedTerms(values)
  return terms !== undefined && kind === 'human' && acceptedTerms !== terms.digest
}

function termsProblem(user: User, { values, externalUrl }: House): string | undefined {
  if (!owesTerms(user, values)) return undefined
  return (
    `You (@${user.username}) must accept the Terms of Service in order to perform this action. ` +
    `To accept these terms, please access Guildhall from a web browser at ${externalUrl}.`
  )
}
