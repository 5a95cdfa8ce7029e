import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { isAdmitted } from '../sign-up/index.ts'
import {
  cleanName,
  createUser,
  faultsOf,
  freeName,
  identify,
  identityKey,
  passwordRules,
  startsExternal,
  taken,
} from '../users/index.ts'
import type { ProviderConfig } from './config.ts'
import type { Claims } from './provider.ts'

export interface AccountServices {
  readonly db: Database
  readonly settings: Pick<Settings, 'values'>
}

/** The id of the account, or why there is none. */
export type Found = { readonly userId: number } | { readonly refused: string }

/** The account of somebody whom a provider has told of: known by name, by address where that is enough, or made now. */
export async function accountOf(
  { db, settings }: AccountServices,
  provider: ProviderConfig,
  claims: Claims,
): Promise<Found> {
  // Two first sign-ins at once: the second one finds what the first one made.
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction((tx) => findOrMake(tx, settings, provider, claims))
    } catch (error) {
      if (attempt === 3 || !(error instanceof ApiError && [400, 409].includes(error.status))) throw error
    }
  }
}

/** As OpenID Connect Core has it (2). */
const longestSubject = 255

async function findOrMake(
  tx: Tx,
  { values }: Pick<Settings, 'values'>,
  provider: ProviderConfig,
  claims: Claims,
): Promise<Found> {
  if (claims.sub.length > longestSubject) return { refused: 'The provider calls you by too long a name.' }
  // Subjects that differ in case are different people.
  const known = await sql<{ userId: number; externUid: string }>`
    select i.user_id as "userId", i.extern_uid as "externUid" from user_identities i
    where i.provider = ${provider.name} and i.uid_key = ${identityKey(provider.name, claims.sub)}`.execute(tx)
  const [identity] = known.rows
  if (identity !== undefined) {
    return identity.externUid === claims.sub
      ? { userId: identity.userId }
      : { refused: 'Somebody else is known by a name that differs in its letters only.' }
  }
  const { email } = claims
  if (email === undefined || !(claims.emailVerified ?? provider.trustEmail)) {
    return { refused: 'The provider has not verified an e-mail address of yours.' }
  }
  const linked = provider.linkByEmail ? await byAddress(tx, provider, email) : undefined
  if (linked !== undefined) return linkTo(tx, linked, provider, claims.sub)
  if (!provider.createUsers) return { refused: 'There is no account for you here.' }
  if (!isAdmitted(email, values)) return { refused: 'Your e-mail address is not allowed for sign-up.' }
  if ((await taken(tx, { email, username: '' }, null)).email) {
    return { refused: 'There is an account with your e-mail address that is not linked to this provider.' }
  }
  const external = startsExternal(email, {
    byDefault: values.user_default_external,
    internalPattern: values.user_default_internal_regex,
  })
  const username = await freeName(tx, cleanName(claims.username ?? email.slice(0, email.lastIndexOf('@'))))
  const name = (claims.name ?? username).slice(0, 255)
  const faults = faultsOf(
    { name, username, email, publicEmail: null, commitEmail: null, projectsLimit: 0, profile: {} },
    undefined,
    passwordRules(values),
  )
  const [fault] = Object.entries(faults)
  if (fault !== undefined)
    return { refused: `The provider tells what cannot be taken: ${fault[0]} ${fault[1][0]!}.` }
  const { id } = await createUser(tx, {
    username,
    name,
    email,
    external,
    privateProfile: values.user_defaults_to_private_profile,
    canCreateGroup: values.can_create_group,
    projectsLimit: values.default_projects_limit ?? 0,
    unapproved: provider.blockAutoCreatedUsers,
  })
  return linkTo(tx, id, provider, claims.sub)
}

async function linkTo(tx: Tx, userId: number, { name }: ProviderConfig, sub: string): Promise<Found> {
  await identify(tx, userId, name, sub)
  return { userId }
}

/** Somebody with the address who confirmed it, and is nobody else at this provider. */
async function byAddress(tx: Tx, { name }: ProviderConfig, email: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select u.id from users u
    where lower(u.email) = ${email.toLowerCase()} and u.kind = 'human' and u.confirmed_at is not null
      and not exists (select from user_identities i where i.user_id = u.id and i.provider = ${name})
    for update of u`.execute(tx)
  return rows[0]?.id
}
