import { issueToken, tokenScopes, type TokenScope } from '../areas/tokens/index.ts'
import { isDayText } from '../kernel/endpoint/index.ts'
import { withDatabase, withSettings } from './open.ts'
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
  if (!isDayText(text)) throw new Trouble(`"${text}" is not a day as YYYY-MM-DD.`)
  // The API takes such days, as clients expect; here it can only be a slip.
  if (text <= new Date().toISOString().slice(0, 10))
    throw new Trouble(`a token that ends on ${text} would never work; choose a later day.`)
  return text
}

export interface NewTokenOptions {
  user: string
  name: string
  scopes: string
  expiresAt?: string
}

/** Makes a personal access token without the API, by its rules, for instance when root's is lost. */
export function makeToken(options: NewTokenOptions): Promise<void> {
  const scopes = readScopes(options.scopes)
  const expires_at = options.expiresAt === undefined ? undefined : readDay(options.expiresAt)
  return withSettings(async (services) => {
    const user = await findUser(services.db.reader, options.user)
    if (user === undefined) throw new Trouble(`there is no user ${options.user}.`)
    const { token } = await issueToken(services, user.id, { name: options.name, scopes, expires_at })
    process.stdout.write(`${token}\n`)
  })
}

export function revokeToken(id: string): Promise<void> {
  return withDatabase(async ({ db }) => {
    const result = await db.writer
      .updateTable('personal_access_tokens as t')
      .set({ revoked: true })
      .where('t.id', '=', /^\d{1,15}$/.test(id) ? Number(id) : -1)
      .executeTakeFirst()
    if (result.numUpdatedRows === 0n) throw new Trouble(`there is no token ${id}.`)
    process.stdout.write(`Token ${id} is revoked.\n`)
  })
}
