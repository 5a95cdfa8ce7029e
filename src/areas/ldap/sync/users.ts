import { sql, type Tx } from '../../../kernel/db/index.ts'
import { parsePublicKey } from '../../ssh-keys/index.ts'
import type { LdapServer } from '../config.ts'
import { Connection, DirectoryError } from '../server/connection.ts'
import { DirectoryGroups } from '../server/groups.ts'
import { allPeople, type DirectoryPerson } from '../server/people.ts'
import type { SyncServices } from './sync.ts'

interface Known {
  readonly userId: number
  readonly key: string
  readonly name: string
  readonly email: string
  readonly state: string
  readonly admin: boolean
  readonly external: boolean
}

/**
 * Brings the accounts to what the directories say of their people: who is gone or switched off there is blocked, and
 * unblocked when he is back. A directory that does not answer, or that would block too many at once, changes nothing.
 */
export async function syncUsers(services: SyncServices): Promise<void> {
  for (const server of services.config.servers) {
    try {
      await syncServer(services, server)
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error
      services.log.warn(
        { provider: server.provider, reason: error.message },
        'the users of a directory were not synced',
      )
    }
  }
}

async function syncServer({ db, log, config }: SyncServices, server: LdapServer): Promise<void> {
  const { rows: known } = await sql<Known>`
    select i.user_id as "userId", i.uid_key as key, u.name, u.email, u.state, u.admin, u.external
    from user_identities i join users u on u.id = i.user_id where i.provider = ${server.provider} order by i.id`.execute(
    db.reader,
  )
  if (known.length === 0) return
  await using connection = await Connection.open(server)
  const people = await allPeople(connection)
  const groups = new DirectoryGroups(connection)
  const flagged = [...(server.adminGroup === undefined ? [] : [server.adminGroup]), ...server.externalGroups]
  const members = await groups.membersOf(flagged)
  const isIn = (cns: readonly string[], key: string): boolean =>
    cns.some((cn) => members.get(cn.toLowerCase())?.has(key) === true)

  const gone = known.filter(
    ({ key, state }) => ['active', 'deactivated'].includes(state) && !letsIn(people.get(key)),
  )
  const { removalShare, removalMinimum } = config.sync
  if (gone.length > removalMinimum && gone.length > known.length * removalShare) {
    throw new DirectoryError(
      server,
      `it would block ${gone.length} of ${known.length} users, which looks like a mistake`,
    )
  }
  for (const account of known) {
    const person = people.get(account.key)
    await db.transaction(async (tx) => {
      if (person === undefined || !letsIn(person)) {
        await block(tx, account.userId)
        return
      }
      const canBeSet = server.groupBase !== undefined
      await update(tx, server, account, person, {
        admin:
          canBeSet && server.adminGroup !== undefined
            ? isIn([server.adminGroup], account.key)
            : account.admin,
        external:
          canBeSet && server.externalGroups.length > 0
            ? isIn(server.externalGroups, account.key)
            : account.external,
      })
    })
  }
  if (gone.length > 0)
    log.info({ provider: server.provider, users: gone.length }, 'blocked users who left a directory')
}

function letsIn(person: DirectoryPerson | undefined): boolean {
  return person?.disabled === false
}

async function block(tx: Tx, userId: number): Promise<void> {
  await sql`
    update users set state = 'ldap_blocked', updated_at = now()
    where id = ${userId} and state in ('active', 'deactivated')`.execute(tx)
}

async function update(
  tx: Tx,
  server: LdapServer,
  account: Known,
  person: DirectoryPerson,
  { admin, external }: { readonly admin: boolean; readonly external: boolean },
): Promise<void> {
  const name = server.syncName ? person.name.slice(0, 255) : account.name
  const email = person.email ?? account.email
  const state = account.state === 'ldap_blocked' ? 'active' : account.state
  const same = [
    [name, account.name],
    [email.toLowerCase(), account.email.toLowerCase()],
    [state, account.state],
    [admin, account.admin],
    [external, account.external],
  ].every(([after, before]) => after === before)
  if (!same) {
    // An address that somebody else has is left where it is.
    await sql`
      update users u set name = ${name}, state = ${state}, admin = ${admin}, external = ${external}, updated_at = now(),
        email = case when exists (
          select from users o where lower(o.email) = lower(${email}) and o.id <> u.id) then u.email else ${email} end
      where u.id = ${account.userId}`.execute(tx)
  }
  if (server.sshKeys !== undefined) await syncKeys(tx, account.userId, person.sshKeys)
}

const keyTitle = 'LDAP'

/** Keys that the directory has are added, and those go that came from there and are there no more. */
async function syncKeys(tx: Tx, userId: number, texts: readonly string[]): Promise<void> {
  const keys = texts.flatMap((text) => parsePublicKey(text) ?? [])
  await sql`
    delete from ssh_keys k where k.user_id = ${userId} and k.title = ${keyTitle}
    and k.fingerprint_sha256 <> all (${keys.map(({ fingerprintSha256 }) => fingerprintSha256)}::text[])`.execute(
    tx,
  )
  for (const { text, fingerprint, fingerprintSha256 } of keys) {
    await sql`
      insert into ssh_keys (kind, user_id, title, key, fingerprint, fingerprint_sha256)
      values ('user', ${userId}, ${keyTitle}, ${text}, ${fingerprint}, ${fingerprintSha256})
      on conflict (fingerprint_sha256) do nothing`.execute(tx)
  }
}
