import { sql } from 'kysely'
import { createUser } from '../areas/users/index.ts'
import { ApiError } from '../kernel/errors/index.ts'
import { defaults } from '../settings/index.ts'
import { withDatabase } from './open.ts'
import { Trouble } from './trouble.ts'

export interface NewUserOptions {
  username: string
  email: string
  name?: string
  admin?: true
}

/** Prints all users. */
export function listUsers(): Promise<void> {
  return withDatabase(async (db) => {
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

/** Makes a user without the API. */
export function makeUser(options: NewUserOptions): Promise<void> {
  return withDatabase(async (db) => {
    const { id } = await db
      .transaction((tx) =>
        createUser(tx, {
          username: options.username,
          name: options.name ?? options.username,
          email: options.email,
          admin: options.admin ?? false,
          canCreateGroup: defaults.can_create_group,
          projectsLimit: defaults.default_projects_limit ?? 0,
        }),
      )
      .catch(inWords)
    process.stdout.write(
      `User ${options.username} has the id ${id}. Make a token: guildhall token create --user ${options.username}\n`,
    )
  })
}

/** Keeps a user out, or lets one in again. */
export function moveUser(username: string, state: 'blocked' | 'active'): Promise<void> {
  return withDatabase(async (db) => {
    const { rows } = await sql<{ id: number }>`
      update users u set state = ${state}, updated_at = now()
      where lower(u.username) = ${username.toLowerCase()} and u.kind <> 'internal' returning u.id`.execute(
      db.writer,
    )
    if (rows.length === 0) throw new Trouble(`there is no user ${username}.`)
    process.stdout.write(`${username} is ${state}.\n`)
  })
}

function inWords(error: unknown): never {
  throw error instanceof ApiError ? new Trouble(`${error.message}.`) : error
}
