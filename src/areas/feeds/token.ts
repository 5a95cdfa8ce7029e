import { timingSafeEqual } from 'node:crypto'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { SettingValues } from '../../settings/index.ts'

const prefix = 'glft-'
const form = /^glft-[0-9a-f]{32}-(\d{1,15})$/

/** Feed tokens may be off by themselves, or with all tokens of people. */
export function areOff({
  disable_feed_token: off,
  disable_personal_access_tokens: allOff,
}: Pick<SettingValues, 'disable_feed_token' | 'disable_personal_access_tokens'>): boolean {
  return off || allOff
}

/** Made of who it is for and of a number that goes up when it is taken back: none is kept anywhere. */
function tokenFor(cipher: Cipher, userId: number, version: number): string {
  return `${prefix}${cipher.uuid(`feed token ${version} of user ${userId}`).replaceAll('-', '')}-${userId}`
}

async function versionOf(db: Reader, userId: number): Promise<number | undefined> {
  const { rows } = await sql<{ version: number }>`
    select u.feed_token_version as version from users u where u.id = ${userId}`.execute(db)
  return rows[0]?.version
}

export async function feedTokenOf(db: Reader, cipher: Cipher, userId: number): Promise<string> {
  return tokenFor(cipher, userId, (await versionOf(db, userId)) ?? 0)
}

/** The one before opens nothing any more. */
export async function renewFeedToken(db: Database, cipher: Cipher, userId: number): Promise<string> {
  const [row] = await db.rows(sql<{ version: number }>`
    update users set feed_token_version = feed_token_version + 1 where id = ${userId}
    returning feed_token_version as version`)
  return tokenFor(cipher, userId, row!.version)
}

/** Id of the user whose token it is now. */
export async function userOfToken(db: Reader, cipher: Cipher, token: string): Promise<number | undefined> {
  const [, id] = form.exec(token) ?? []
  const version = id === undefined ? undefined : await versionOf(db, Number(id))
  if (id === undefined || version === undefined) return undefined
  const expected = Buffer.from(tokenFor(cipher, Number(id), version))
  const shown = Buffer.from(token)
  return shown.length === expected.length && timingSafeEqual(shown, expected) ? Number(id) : undefined
}
