import { accountProblem, confirmationProblem, owesTerms, type UniqueAddresses } from '../../access/index.ts'
import { digestToken, newToken, type Cipher } from '../../kernel/lib/secrets.ts'
import { digestPassword, matchesPassword, passwordFaults, passwordRules } from '../users/index.ts'
import type { Events } from '../../tasks/index.ts'
import { warnOfUnknown, type SignInPlace } from './known-devices.ts'
import { isRight, type PasswordServices } from './passwords.ts'
import type { Logger } from '../../kernel/log/index.ts'
import { takeSecondFactor } from './second-factor.ts'
import * as store from './store.ts'
import type { Account } from './store.ts'
import { sendCode, unlock, unlocksByMail } from './unlocking.ts'

export interface SignInServices extends PasswordServices {
  readonly cipher: Cipher
  readonly events: Events
  readonly addresses: UniqueAddresses
  readonly log: Logger
  readonly externalUrl: () => string
  /** Who else knows people and their passwords, such as a directory: the id of the user. */
  readonly elsewhere?: (login: string, password: string) => Promise<number | undefined>
}

export interface SignInForm {
  readonly login: string
  readonly password: string
  /** Of the authenticator, or a recovery code. */
  readonly code: string | undefined
  /** Mailed to the owner of a locked account. */
  readonly unlockCode: string | undefined
  /** In the place of one that has expired. */
  readonly newPassword: string | undefined
  /** The session is to outlive the browser. */
  readonly remember: boolean
}

export interface OpenSession {
  readonly session: string
  readonly account: Account
  /** A second factor is to be set up. */
  readonly mustEnrol: boolean
  readonly mustAcceptTerms: boolean
  /** Seconds that the browser keeps it when it is closed; undefined: not at all. */
  readonly rememberedFor: number | undefined
}

/** Days that somebody is remembered who wants to be. */
const rememberedDays = 14

interface Refusal {
  readonly refused: string
  readonly needs?: 'code' | 'new_password' | 'unlock_code'
}

export type SignedIn = OpenSession | Refusal

const wrong = { refused: 'Invalid login or password.' }

/** A password takes as long to find wrong where there is nobody of that name. */
const nobodys = digestPassword('nobody')

/** Who is kept out by hand or by a directory; webhooks of the instance are told that they tried. */
const blocked: ReadonlySet<string> = new Set(['blocked', 'ldap_blocked', 'banned'])

/** Opens a session for who shows the password of an account, and its second factor where it has one. */
export async function signIn(
  services: SignInServices,
  form: SignInForm,
  place: SignInPlace,
): Promise<SignedIn> {
  const found = await byPassword(services, form, place.ip)
  if ('refused' in found) return found
  const { account } = found
  if (account.two_factor) {
    if (form.code === undefined) return { refused: 'A code of the second factor is needed.', needs: 'code' }
    if (!(await provesCode(services, account, form.code)))
      return { refused: 'Invalid two-factor code.', needs: 'code' }
  }
  const renewed = await renew(services, account, form.newPassword)
  if (renewed !== undefined) return { refused: renewed, needs: 'new_password' }
  return openSession(services, account, place, form.remember)
}

/** The account that a password is of, if it may come in; a second factor, or a new password, is for the caller to ask for. */
export async function byPassword(
  services: SignInServices,
  form: Pick<SignInForm, 'login' | 'password'> & Partial<Pick<SignInForm, 'unlockCode'>>,
  ip: string,
): Promise<{ readonly account: Account } | Refusal> {
  const found = await known(services, form)
  if (found === undefined) return wrong
  const { account } = found
  if (found.locked) {
    const refused = await openLocked(services, account, form.unlockCode)
    if (refused !== undefined) return { refused, needs: 'unlock_code' }
  }
  const problem = await problemOf(services, account, ip)
  return problem === undefined ? { account } : { refused: problem }
}

/** Why somebody who has shown who he is may not come in all the same; it is told who tried and was kept out. */
export async function problemOf(
  services: SignInServices,
  account: Account,
  ip: string,
): Promise<string | undefined> {
  const house = { values: services.settings.values, externalUrl: services.externalUrl() }
  const problem =
    (account.state === 'deactivated' ? undefined : accountProblem(standingOf(account))) ??
    confirmationProblem({ unconfirmedSince: account.unconfirmed_since }, house)
  if (problem !== undefined && blocked.has(account.state)) {
    const news = { userId: account.id, payload: { state: account.state } }
    await services.db.transaction((tx) => services.events.announce(tx, 'failed_login', news))
  }
  if (problem !== undefined || (await services.addresses.admits(account.id, ip))) return problem
  return 'You have come from too many addresses. Please try again later.'
}

/** Whether a code is right for the second factor of an account; wrong ones count towards its lock. */
export function provesCode(services: SignInServices, account: Account, code: string): Promise<boolean> {
  return isRight(services, account.id, account, () =>
    services.db.transaction((tx) => takeSecondFactor(tx, services.cipher, account, code)),
  )
}

interface Known {
  readonly account: Account
  /** The password is right, and the account is to be opened first. */
  readonly locked: boolean
}

async function known(
  services: SignInServices,
  { login, password }: Pick<SignInForm, 'login' | 'password'>,
): Promise<Known | undefined> {
  const { db, settings, elsewhere } = services
  const account = await store.byLogin(db.reader, login)
  if (settings.values.password_authentication_enabled_for_web) {
    const digest = account?.password_digest ?? (await nobodys)
    const check = () => matchesPassword(password, digest)
    const closed = account === undefined || (await mustUseProvider(services, account.id))
    if (closed || account.password_digest === null) await check()
    else if (account.locked) {
      if ((await check()) && unlocksByMail(settings.values, services)) return { account, locked: true }
    } else if (await isRight(services, account.id, account, check)) return { account, locked: false }
  }
  const userId = await elsewhere?.(login, password)
  const user = userId === undefined ? undefined : await db.transaction((tx) => store.lock(tx, userId))
  return user && { account: user, locked: false }
}

/** Whether somebody who is known at a provider of identities has to sign in there. */
async function mustUseProvider({ db, settings }: SignInServices, userId: number): Promise<boolean> {
  const { sign_in_restrictions: switches } = settings.values
  return (
    switches['disable_password_authentication_for_users_with_sso_identities'] === true &&
    (await store.hasIdentity(db.reader, userId))
  )
}

/** Opens a locked account with the code that was mailed. Without one it is mailed; gives what to say then. */
async function openLocked(
  services: SignInServices,
  account: Account,
  code: string | undefined,
): Promise<string | undefined> {
  if (code === undefined) {
    await services.db.transaction((tx) => sendCode(tx, services, account))
    return 'Your account is locked. A code was mailed to you.'
  }
  const opened = await services.db.transaction((tx) => unlock(tx, services, account.id, code))
  return opened ? undefined : 'The code is wrong, or too old.'
}

/** What is wrong with the new password where there must be one; undefined when all is well. */
async function renew(
  { db, settings }: SignInServices,
  account: Account,
  password: string | undefined,
): Promise<string | undefined> {
  if (!account.password_expired) return undefined
  if (password === undefined) return 'Your password expired. Choose another one.'
  const [fault] = passwordFaults(password, account, passwordRules(settings.values))
  if (fault !== undefined) return `The new password ${fault}.`
  if (account.password_digest !== null && (await matchesPassword(password, account.password_digest))) {
    return 'The new password is the old one.'
  }
  const digest = await digestPassword(password)
  await db.transaction((tx) => store.setPassword(tx, account.id, digest))
  return undefined
}

/** A session of somebody who has shown who he is. */
export async function openSession(
  services: Pick<SignInServices, 'db' | 'settings' | 'mail' | 'cipher' | 'externalUrl'>,
  account: Account,
  place: SignInPlace,
  remember = false,
): Promise<OpenSession> {
  const { db, settings } = services
  const { values } = settings
  const required =
    values.require_two_factor_authentication ||
    (account.admin && values.require_admin_two_factor_authentication)
  const mustEnrol = required && !account.two_factor
  const askedAt = account.two_factor_asked_at ?? new Date()
  const enrolBy = mustEnrol ? new Date(askedAt.getTime() + values.two_factor_grace_period * 3_600_000) : null
  const session = newToken('')
  const digest = digestToken(session)
  const remembered = remember && values.remember_me_enabled
  await db.transaction(async (tx) => {
    if (values.notify_on_unknown_sign_in) await warnOfUnknown(services, tx, account, place, digest)
    await store.open(tx, account.id, {
      ip: place.ip,
      userAgent: place.userAgent,
      digest,
      minutes: values.session_expire_delay,
      enrolBy,
      rememberedDays: remembered ? rememberedDays : null,
    })
  })
  return {
    session,
    account,
    mustEnrol,
    mustAcceptTerms: owesTerms({ kind: account.kind, acceptedTerms: account.accepted_terms }, values),
    rememberedFor: remembered ? rememberedDays * 86_400 : undefined,
  }
}

/** As access looks at it; an expired password is looked at later. */
function standingOf(account: Account) {
  return {
    id: account.id,
    username: account.username,
    name: account.name,
    email: account.email,
    publicEmail: null,
    commitEmail: null,
    state: account.state,
    kind: account.kind,
    admin: account.admin,
    external: false,
    canCreateGroup: false,
    lockedUntil: null,
    passwordExpired: false,
    unconfirmedSince: null,
    acceptedTerms: null,
  }
}
