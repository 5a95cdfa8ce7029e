import { findUser } from '../access/index.ts'
import { setPassword } from '../areas/sessions/index.ts'
import {
  admit,
  createUser,
  digestPassword,
  endSessions,
  passwordFaults,
  passwordRules,
  requireAdministrator,
  usualUser,
} from '../areas/users/index.ts'
import { sql } from '../kernel/db/index.ts'
import { readSecretLine } from './secret-line.ts'
import { withDatabase, withSettings } from './open.ts'
import { Trouble } from './trouble.ts'

export interface NewUserOptions {
  username: string
  email: string
  name?: string
  admin?: true
}

/** Prints all users. */
export function listUsers(): Promise<void> {
  return withDatabase(async ({ db }) => {
    const users = await db.slow
      .selectFrom('users as u')
      .select(['u.id', 'u.username', 'u.email', 'u.state', 'u.admin'])
      .orderBy('u.id')
      .execute()
    for (const user of users) {
      const admin = user.admin ? '\tadministrator' : ''
      process.stdout.write(`${user.id}\t${user.username}\t${user.email}\t${user.state}${admin}\n`)
    }
  })
}

/** Makes a user without the API, by its rules. */
export function makeUser(options: NewUserOptions): Promise<void> {
  const username = options.username.trim()
  const email = options.email.trim()
  return withSettings(async ({ db, settings: { values } }) => {
    const user = {
      username,
      name: options.name?.trim() ?? username,
      email,
      publicEmail: null,
      commitEmail: null,
      ...usualUser(email, values),
    }
    await admit(db.reader, user, values)
    const { id } = await db.transaction((tx) => createUser(tx, { ...user, admin: options.admin ?? false }))
    process.stdout.write(
      `User ${username} has the id ${id}. Make a token: guildhall token create --user ${username}\n`,
    )
  })
}

/** Keeps a user out, or lets one in again. */
export function moveUser(username: string, state: 'blocked' | 'active'): Promise<void> {
  return withDatabase(async ({ db }) => {
    const known = await db.transaction(async (tx) => {
      const { rows } = await sql<{ admin: boolean }>`
        update users u set state = ${state}, updated_at = now()
        where lower(u.username) = ${username.toLowerCase()} and u.kind <> 'internal' returning u.admin`.execute(
        tx,
      )
      if (rows[0]?.admin === true && state === 'blocked') await requireAdministrator(tx)
      return rows.length > 0
    })
    if (!known) throw new Trouble(`there is no user ${username}.`)
    process.stdout.write(`${username} is ${state}.\n`)
  })
}

/** Gives a user a password, by the rules of the instance; who is signed in with another is signed out. */
export function changePassword(username: string): Promise<void> {
  return withSettings(async ({ db, settings: { values } }) => {
    const user = await findUser(db.reader, username)
    if (user?.kind !== 'human') throw new Trouble(`there is no user ${username}.`)
    const password = await readSecretLine(`New password of ${user.username}: `)
    if (password === undefined) throw new Trouble('there is no password on standard input.')
    const faults = passwordFaults(password, user, passwordRules(values))
    if (faults.length > 0) throw new Trouble(`the password ${faults.join(', ')}.`)
    const digest = await digestPassword(password)
    await db.transaction(async (tx) => {
      await setPassword(tx, user.id, digest)
      await endSessions(tx, user.id)
    })
    process.stdout.write(`${user.username} has a new password.\n`)
  })
}
