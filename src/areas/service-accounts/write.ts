import { randomBytes } from 'node:crypto'
import type { User } from '../../access/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import { renameNamespace } from '../namespaces/index.ts'
import { createUser, faultsOf, lockUser, passwordRules, sendConfirmation, taken } from '../users/index.ts'
import type { ServiceAccountRow } from './entities.ts'
import * as store from './store.ts'

export interface WriteServices {
  readonly db: Database
  readonly settings: Settings
  readonly mail: Mailer
  readonly externalUrl: () => string
}

/** What may be said of an account; what is left out is made up, or stays. */
export interface Wanted {
  readonly name?: string | undefined
  readonly username?: string | undefined
  readonly email?: string | undefined
}

interface Names {
  readonly username: string
  readonly name: string
  readonly email: string
}

/** Makes an account of the instance, or of a group. */
export async function createServiceAccount(
  services: WriteServices,
  groupId: number | null,
  creator: User,
  wanted: Wanted,
): Promise<ServiceAccountRow> {
  const host = new URL(services.externalUrl()).hostname
  const of = groupId === null ? 'service_account' : `service_account_group_${groupId}`
  const given = wanted.email?.trim() ?? ''
  const username = wanted.username?.trim() || `${of}_${randomBytes(16).toString('hex')}`
  const names: Names = {
    username,
    name: wanted.name?.trim() || 'Service account user',
    email: given || `${username}@noreply.${host}`,
  }
  return services.db.transaction(async (tx) => {
    await refuseFaults(services, tx, names, null)
    const unconfirmed = given !== '' && (await mustConfirm(services, tx, groupId, given))
    const { id } = await createUser(tx, {
      ...names,
      kind: 'service_account',
      // One of a group sees internal projects as a member only: whoever made it may see no more.
      external: groupId !== null,
      canCreateGroup: false,
      projectsLimit: 0,
      createdById: creator.id,
      unconfirmed,
    })
    await store.keep(tx, id, groupId)
    if (unconfirmed) await sendConfirmation(tx, services, { id, ...names })
    return (await store.find(tx, id))!
  })
}

/** Changes an account; another address has to be confirmed like that of a new one. */
export async function changeServiceAccount(
  services: WriteServices,
  groupId: number | null,
  { id }: ServiceAccountRow,
  wanted: Wanted,
): Promise<ServiceAccountRow> {
  return services.db.transaction(async (tx) => {
    const before = (await lockUser(tx, id))!
    const { namespace_id: namespaceId } = before
    const names: Names = {
      username: wanted.username?.trim() ?? before.username,
      name: wanted.name?.trim() ?? before.name,
      email: wanted.email?.trim() ?? before.email,
    }
    await refuseFaults(services, tx, names, { userId: id, namespaceId })
    const readdressed = names.email !== before.email
    const unconfirmed = readdressed && (await mustConfirm(services, tx, groupId, names.email))
    await store.change(tx, id, {
      ...names,
      confirmed: readdressed ? !unconfirmed : before.confirmed_at !== null,
    })
    if (namespaceId !== null && names.username !== before.username) {
      await renameNamespace(tx, namespaceId, names.username).catch(() => {
        throw invalid({ username: ['has already been taken'] })
      })
    }
    if (unconfirmed) await sendConfirmation(tx, services, { id, ...names })
    return (await store.find(tx, id))!
  })
}

/** An address that nobody knows to be the group's, where the instance has addresses confirmed. */
async function mustConfirm(
  { settings, mail }: WriteServices,
  tx: Tx,
  groupId: number | null,
  email: string,
): Promise<boolean> {
  if (settings.values.email_confirmation_setting === 'off' || !mail.enabled) return false
  return groupId === null || !(await store.answersFor(tx, groupId, email))
}

async function refuseFaults(
  { settings }: WriteServices,
  tx: Tx,
  names: Names,
  except: Parameters<typeof taken>[2],
): Promise<void> {
  const state = { ...names, publicEmail: null, commitEmail: null, projectsLimit: 0, profile: {} }
  const faults = faultsOf(state, undefined, passwordRules(settings.values))
  const found = await taken(tx, names, except)
  for (const field of ['username', 'email'] as const) {
    if (found[field]) faults[field] = [...(faults[field] ?? []), 'has already been taken']
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
