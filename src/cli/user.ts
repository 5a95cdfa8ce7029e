import { Command } from 'commander'
import { sql } from 'kysely'
import { createUser } from '../areas/users/index.ts'
import { ApiError } from '../kernel/errors/index.ts'
import { defaults } from '../settings/index.ts'
import { withDatabase } from './open.ts'
import { Trouble } from './trouble.ts'

interface NewUserOptions {
  username: string
  email: string
  name?: string
  admin?: true
}

/** For operators: users without the API. */
export function userCommand(): Command {
  const command = new Command('user').description('list, make, block and unblock users')
  command
    .command('list')
    .description('print all users')
    .action(() =>
      withDatabase(async (db) => {
        const users = await db.slow
          .selectFrom('users as u')
          .select(['u.id', 'u.username', 'u.email', 'u.state', 'u.admin'])
          .orderBy('u.id')
          .execute()
        for (const user of users) {
          const admin = user.admin ? '\tadministrator' : ''
          process.stdout.write(`${user.id}\t${user.username}\t${user.email}\t${user.state}${admin}\n`)
        }
      }),
    )
  command
    .command('create')
    .description('make a user')
    .requiredOption('--username <name>', 'name to sign in and to be mentioned by')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <text>', 'full name (default: the user name)')
    .option('--admin', 'make an administrator')
    .action((options: NewUserOptions) =>
      withDatabase(async (db) => {
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
      }),
    )
  for (const [name, state, about] of [
    ['block', 'blocked', 'keep a user out: tokens stop working at once'],
    ['unblock', 'active', 'let a blocked user in again'],
  ] as const) {
    command
      .command(name)
      .description(about)
      .argument('<name>', 'the user')
      .action((username: string) =>
        withDatabase(async (db) => {
          const { rows } = await sql<{ id: number }>`
            update users u set state = ${state}, updated_at = now()
            where lower(u.username) = ${username.toLowerCase()} and u.kind <> 'internal' returning u.id`.execute(
            db.writer,
          )
          if (rows.length === 0) throw new Trouble(`there is no user ${username}.`)
          process.stdout.write(`${username} is ${state}.\n`)
        }),
      )
  }
  return command
}

function inWords(error: unknown): never {
  throw error instanceof ApiError ? new Trouble(`${error.message}.`) : error
}
