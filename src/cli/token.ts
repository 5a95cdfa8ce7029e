import { Command } from 'commander'
import { createAccessToken, tokenScopes, type TokenScope } from '../areas/tokens/index.ts'
import { defaults } from '../settings/index.ts'
import { withDatabase } from './open.ts'
import { Trouble } from './trouble.ts'
import { findUser } from '../access/index.ts'

function readScopes(list: string): TokenScope[] {
  return list.split(',').map((name) => {
    const scope = tokenScopes.find((one) => one === name.trim())
    if (scope === undefined)
      throw new Trouble(`there is no scope "${name}"; there are ${tokenScopes.join(', ')}.`)
    return scope
  })
}

function readDay(text: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(Date.parse(text))) {
    throw new Trouble(`"${text}" is not a day as YYYY-MM-DD.`)
  }
  return text
}

/** For operators: makes and revokes personal access tokens without the API, for instance when root's token is lost. */
export function tokenCommand(): Command {
  const command = new Command('token').description('make and revoke personal access tokens')
  command
    .command('create')
    .description('make a token and print it')
    .requiredOption('--user <name>', 'whose token it is')
    .option('--name <text>', 'what it is for', 'made on the command line')
    .option('--scopes <list>', 'scopes, separated by commas', 'api')
    .option('--expires-at <day>', 'last day, as YYYY-MM-DD (default: no end)')
    .action((options: { user: string; name: string; scopes: string; expiresAt?: string }) => {
      const scopes = readScopes(options.scopes)
      const expiresAt = options.expiresAt === undefined ? null : readDay(options.expiresAt)
      return withDatabase(async (db) => {
        const user = await findUser(db.reader, options.user)
        if (user === undefined) throw new Trouble(`there is no user ${options.user}.`)
        const { secret } = await db.transaction((tx) =>
          createAccessToken(tx, {
            userId: user.id,
            name: options.name,
            scopes,
            expiresAt,
            prefix: defaults.personal_access_token_prefix ?? '',
          }),
        )
        process.stdout.write(`${secret}\n`)
      })
    })
  command
    .command('revoke')
    .description('revoke a token')
    .argument('<id>', 'the number of the token')
    .action((id: string) =>
      withDatabase(async (db) => {
        const result = await db.writer
          .updateTable('personal_access_tokens as t')
          .set({ revoked: true })
          .where('t.id', '=', /^\d{1,15}$/.test(id) ? Number(id) : -1)
          .executeTakeFirst()
        if (result.numUpdatedRows === 0n) throw new Trouble(`there is no token ${id}.`)
        process.stdout.write(`Token ${id} is revoked.\n`)
      }),
    )
  return command
}
