import { privateAddress } from '../../access/index.ts'
import { compilePattern } from '../../ci/text/regex.ts'
import { conflict, forbidden, invalid, refused } from '../../kernel/errors/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Profile } from './entities.ts'
import { commonPasswords, fileExtensions, reservedTopLevel } from './reserved.ts'

const longestText = 255
const longestNamePart = 127
const longestProfileText = 500
const longestPassword = 128

/** What a user will be once a write is done. */
export interface UserState {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly publicEmail: string | null
  readonly commitEmail: string | null
  readonly projectsLimit: number
  readonly profile: Profile
  /** Further addresses that the user has confirmed, in small letters. */
  readonly furtherEmails?: ReadonlySet<string>
}

export interface PasswordRules {
  readonly minimumLength: number
  /** Kinds of characters of which there must be one. */
  readonly kinds: readonly CharacterKind[]
}

const characterKinds = {
  number: { setting: 'password_number_required', pattern: /\p{Nd}/u },
  'uppercase letter': { setting: 'password_uppercase_required', pattern: /\p{Lu}/u },
  'lowercase letter': { setting: 'password_lowercase_required', pattern: /\p{Ll}/u },
  symbol: { setting: 'password_symbol_required', pattern: /[^\p{L}\p{Nd}\s]/u },
} as const
type CharacterKind = keyof typeof characterKinds

export function passwordRules(values: SettingValues): PasswordRules {
  const kinds = (Object.keys(characterKinds) as CharacterKind[]).filter(
    (kind) => values[characterKinds[kind].setting],
  )
  return { minimumLength: values.minimum_password_length, kinds }
}

/** Refuses what breaks a rule; all faults at once. */
export function check(state: UserState, password: string | undefined, passwords: PasswordRules): void {
  const faults = faultsOf(state, password, passwords)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** What is wrong with a user by field, in the texts of the supporting resources (3.1). */
export function faultsOf(
  state: UserState,
  password: string | undefined,
  passwords: PasswordRules,
): Record<string, string[]> {
  const faults: Record<string, string[]> = {}
  const fault = (attribute: string, text: string): void => {
    faults[attribute] = [...(faults[attribute] ?? []), text]
  }
  checkEmails(state, fault)
  if (password !== undefined) {
    for (const text of passwordFaults(password, state, passwords)) fault('password', text)
  }
  checkName(state.name, fault)
  checkUsername(state.username, fault)
  if (state.projectsLimit < 0) fault('projects_limit', 'must be greater than or equal to 0')
  for (const [field, value] of Object.entries(state.profile)) {
    const longest =
      field === 'bio' || field === 'location' || field === 'organization' ? longestText : longestProfileText
    if (typeof value === 'string' && value.length > longest) fault(field, tooLong(longest))
  }
  const website = state.profile['website_url']
  if (
    typeof website === 'string' &&
    website !== '' &&
    !/^https?:$/.test(URL.parse(website)?.protocol ?? '')
  ) {
    fault('website_url', 'is not a valid URL')
  }
  return faults
}

type Fault = (attribute: string, text: string) => void

const tooLong = (longest: number): string => `is too long (maximum is ${longest} characters)`

const addressPattern = /^[^\s@<>(),;:\\"]+@[^\s@<>(),;:\\"]+$/

/** An address besides the first one, trimmed. */
export function checkFurtherEmail(sent: string): string {
  const email = sent.trim()
  if (email === '') throw invalid({ email: ["can't be blank"] })
  if (email.length > longestText) throw invalid({ email: [tooLong(longestText)] })
  if (!addressPattern.test(email)) throw invalid({ email: ['is invalid'] })
  return email
}

function checkEmails({ email, publicEmail, commitEmail, furtherEmails }: UserState, fault: Fault): void {
  if (email === '') fault('email', "can't be blank")
  else if (email.length > longestText) fault('email', tooLong(longestText))
  else if (!addressPattern.test(email)) fault('email', 'is invalid')
  const owns = (other: string): boolean =>
    other.toLowerCase() === email.toLowerCase() || furtherEmails?.has(other.toLowerCase()) === true
  if (publicEmail !== null && !owns(publicEmail)) fault('public_email', 'is not an email you own')
  if (commitEmail !== null && commitEmail !== privateAddress && !owns(commitEmail))
    fault('commit_email', 'is not an email you own')
}

/** What is wrong with a new password of somebody. */
export function passwordFaults(
  password: string,
  { username, name, email }: Pick<UserState, 'username' | 'name' | 'email'>,
  { minimumLength: minimum, kinds }: PasswordRules,
): string[] {
  const faults: string[] = []
  if (password.length < minimum) faults.push(`is too short (minimum is ${minimum} characters)`)
  if (password.length > longestPassword) faults.push(tooLong(longestPassword))
  for (const kind of kinds) {
    if (!characterKinds[kind].pattern.test(password)) faults.push(`requires at least one ${kind}`)
  }
  const lower = password.toLowerCase()
  const own = [username, ...name.split(/\s+/), ...email.split('@')].map((word) => word.toLowerCase())
  if (commonPasswords.has(lower) || own.some((word) => word.length >= 4 && lower.includes(word))) {
    faults.push('must not contain commonly used combinations of words and letters')
  }
  return faults
}

function checkName(name: string, fault: Fault): void {
  if (name.trim() === '') fault('name', "can't be blank")
  if (name.length > longestText) fault('name', tooLong(longestText))
  const [first = '', ...rest] = name.split(' ')
  if (first.length > longestNamePart) fault('first_name', tooLong(longestNamePart))
  if (rest.join(' ').length > longestNamePart) fault('last_name', tooLong(longestNamePart))
}

function checkUsername(username: string, fault: Fault): void {
  if (username === '') {
    fault('username', "can't be blank")
    return
  }
  if (username.length < 2) fault('username', 'is too short (minimum is 2 characters)')
  if (username.length > longestText) fault('username', tooLong(longestText))
  const lower = username.toLowerCase()
  if (reservedTopLevel.has(lower)) fault('username', `${username} is a reserved name`)
  if (!/^[a-zA-Z0-9_.]([a-zA-Z0-9_.-]*[a-zA-Z0-9_-])?$/.test(username) || /\.(git|atom)$/.test(lower)) {
    fault(
      'username',
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.",
    )
  } else if (fileExtensions.has(/\.([^.]+)$/.exec(lower)?.[1] ?? '')) {
    fault('username', 'ending with a reserved file extension is not allowed.')
  }
}

export const emailTaken = (): Error => conflict('Email has already been taken')
export const usernameTaken = (): Error => conflict('Username has already been taken')

export const lastAdministrator = (): Error =>
  refused(403, 'The last administrator has to stay: make another one first')

/** Whether a new user without a word about it is external: by setting, unless the address is an internal one. */
export function startsExternal(
  email: string,
  settings: { byDefault: boolean; internalPattern: string | null },
): boolean {
  if (!settings.byDefault) return false
  if (settings.internalPattern === null || settings.internalPattern === '') return true
  return compilePattern(settings.internalPattern, 'i')?.test(email) !== true
}

/** The act on an account that changes its state. */
export type StateAct = 'block' | 'unblock' | 'ban' | 'unban' | 'activate' | 'deactivate'

export interface Account {
  readonly state: string
  readonly kind: string
  /** The caller himself. */
  readonly self: boolean
  /** Day of the last activity, `YYYY-MM-DD`. */
  readonly lastActivityOn: string | null
}

const shutOut = new Set(['blocked', 'ldap_blocked', 'blocked_pending_approval', 'banned'])

/** The state that an act leads to, which may be the one there is; throws the refusal. */
export function nextState(act: StateAct, account: Account, dormancy: { days: number; today: Date }): string {
  const { state } = account
  switch (act) {
    case 'block':
      if (state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be modified by the API')
      if (account.self) throw forbidden('The API initiating user cannot be blocked by the API')
      if (account.kind === 'internal') throw refused(403, 'An internal user cannot be blocked')
      // A ban keeps out already, and hides what the user wrote besides.
      return state === 'banned' ? state : 'blocked'
    case 'unblock':
      if (state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be unblocked by the API')
      if (state === 'deactivated') throw forbidden('Deactivated users cannot be unblocked by the API')
      return 'active'
    case 'activate':
      if (shutOut.has(state))
        throw refused(403, 'Error occurred. A blocked user must be unblocked to be activated')
      return 'active'
    case 'deactivate':
      if (shutOut.has(state)) throw refused(403, 'Error occurred. A blocked user cannot be deactivated')
      if (account.kind === 'internal') throw refused(403, 'Internal users cannot be deactivated')
      if (state === 'active' && !isDormant(account.lastActivityOn, dormancy)) {
        throw refused(
          403,
          `The user you are trying to deactivate has been active in the past ${dormancy.days} days and cannot be deactivated`,
        )
      }
      return 'deactivated'
    case 'ban':
      if (state !== 'active' || account.kind === 'internal')
        throw refused(403, `You cannot ban ${state} users.`)
      return 'banned'
    case 'unban':
      if (state !== 'banned') throw refused(403, `You cannot unban ${state} users.`)
      return 'active'
  }
}

function isDormant(lastActivityOn: string | null, { days, today }: { days: number; today: Date }): boolean {
  if (lastActivityOn === null) return true
  return Date.parse(lastActivityOn) <= today.getTime() - days * 86_400_000
}
