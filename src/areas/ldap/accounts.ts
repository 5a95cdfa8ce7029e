import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import { cleanName, createUser, freeName } from '../users/index.ts'
import type { LdapServer } from './config.ts'
import type { DirectoryPerson } from './server/people.ts'

export interface AccountServices {
  readonly db: Database
  readonly settings: Settings
}

export interface Account {
  readonly id: number
  /** It came to be, or was tied to the directory, just now. */
  readonly isNew: boolean
}

/** The account of somebody who has shown his password to a directory: known by name, by address, or made now. */
export async function accountOf(
  services: AccountServices,
  server: LdapServer,
  person: DirectoryPerson,
): Promise<Account> {
  // Two first sign-ins at once: the second one finds what the first one made.
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await services.db.transaction((tx) => findOrMake(tx, services.settings, server, person))
    } catch (error) {
      if (attempt === 3 || !(error instanceof ApiError && error.status === 409)) throw error
    }
  }
}

async function findOrMake(
  tx: Tx,
  settings: Settings,
  server: LdapServer,
  person: DirectoryPerson,
): Promise<Account> {
  const known = await sql<{ id: number }>`
    select i.user_id as id from user_identities i
    where i.provider = ${server.provider} and i.uid_key = ${person.key} for update`.execute(tx)
  const knownId = known.rows[0]?.id
  if (knownId !== undefined) {
    await welcomeBack(tx, knownId)
    return { id: knownId, isNew: false }
  }
  const id = (await byAddress(tx, server, person)) ?? (await make(tx, settings, server, person))
  // Somebody whose name in the directory has changed keeps his account.
  await sql`
    insert into user_identities (user_id, provider, extern_uid, uid_key)
    values (${id}, ${server.provider}, ${person.dn}, ${person.key})
    on conflict (user_id, provider) do update set extern_uid = excluded.extern_uid, uid_key = excluded.uid_key`.execute(
    tx,
  )
  await welcomeBack(tx, id)
  return { id, isNew: true }
}

/** A sign-in shows that the directory lets him in again. */
async function welcomeBack(tx: Tx, id: number): Promise<void> {
  await sql`update users set state = 'active', updated_at = now() where id = ${id} and state = 'ldap_blocked'`.execute(
    tx,
  )
}

async function byAddress(
  tx: Tx,
  server: LdapServer,
  { email }: DirectoryPerson,
): Promise<number | undefined> {
  if (email === undefined) return undefined
  const { rows } = await sql<{ id: number }>`
    select u.id from users u where lower(u.email) = ${email.toLowerCase()} and u.kind = 'human'
      and not exists (
        select from user_identities i join users o on o.id = i.user_id
        where i.user_id = u.id and i.provider <> ${server.provider} and i.provider like 'ldap%')
    for update of u`.execute(tx)
  return rows[0]?.id
}

async function make(
  tx: Tx,
  { values }: Settings,
  server: LdapServer,
  person: DirectoryPerson,
): Promise<number> {
  const username = await freeName(tx, cleanName(person.username))
  const { id } = await createUser(tx, {
    username,
    name: person.name.slice(0, 255),
    email: person.email ?? `temp-email-for-ldap-${username}@localhost`,
    canCreateGroup: values.can_create_group,
    projectsLimit: values.default_projects_limit ?? 100_000,
    external: values.user_default_external,
  })
  if (server.blockAutoCreatedUsers) {
    await sql`update users set state = 'blocked_pending_approval' where id = ${id}`.execute(tx)
  }
  return id
}
