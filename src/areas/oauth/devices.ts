import { randomBytes, randomInt } from 'node:crypto'
import { sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import type { Application } from './applications.ts'
import * as grants from './grants.ts'
import { invalidGrant, OAuthError } from './refusal.ts'
import { findById } from './store.ts'

/** Seconds for the user to say yes, and between two questions of the device (RFC 8628). */
export const deviceLife = 300
export const deviceInterval = 5

/** Letters that are not taken for one another. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

/** The code that the device keeps, and the one that its user types in. */
export async function addDevice(
  tx: Tx,
  applicationId: number,
  scopes: readonly string[],
): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
  const deviceCode = randomBytes(32).toString('hex')
  const userCode = Array.from({ length: 8 }, () => letters[randomInt(letters.length)]).join('')
  await sql`
    insert into oauth_devices (application_id, digest, user_code, scopes, expires_at)
    values (${applicationId}, ${digestToken(deviceCode)}, ${userCode}, ${scopes}::text[],
      now() + make_interval(secs => ${deviceLife}))`.execute(tx)
  return { deviceCode, userCode }
}

export interface Device {
  readonly id: number
  readonly application: Application
  readonly scopes: readonly string[]
}

/** The device that waits for a decision; people write the code in their own ways. */
export async function findWaiting(db: Reader, userCode: string): Promise<Device | undefined> {
  const written = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '')
  const { rows } = await sql<{ id: number; application_id: number; scopes: string[] }>`
    select d.id, d.application_id, d.scopes from oauth_devices d
    where d.user_code = ${written} and d.user_id is null and not d.denied and d.expires_at > now()`.execute(
    db,
  )
  const [row] = rows
  const application = row && (await findById(db, row.application_id))
  return application && { id: row.id, application, scopes: row.scopes }
}

export async function decide(tx: Tx, id: number, userId: number, allowed: boolean): Promise<void> {
  await sql`
    update oauth_devices d set user_id = case when ${allowed} then ${userId}::bigint end, denied = ${!allowed}
    where d.id = ${id} and d.user_id is null and not d.denied`.execute(tx)
}

interface Asked {
  readonly id: number
  readonly user_id: number | null
  readonly scopes: readonly string[]
  readonly denied: boolean
  readonly expired: boolean
  readonly hasty: boolean
}

/** The tokens of a device whose user has said yes, once; throws what it has to wait for. */
export async function takeDevice(
  db: Database,
  application: Application,
  deviceCode: string,
): Promise<{ tokens: grants.Tokens; userId: number; application: Application }> {
  const taken = await db.transaction(async (tx) => {
    const { rows } = await sql<Asked>`
      select d.id, d.user_id, d.scopes, d.denied, d.expires_at <= now() as expired,
        coalesce(d.asked_at > now() - make_interval(secs => ${deviceInterval}), false) as hasty
      from oauth_devices d
      where d.digest = ${digestToken(deviceCode)} and d.application_id = ${application.id} for update`.execute(
      tx,
    )
    const [device] = rows
    if (device === undefined) return invalidGrant()
    if (device.expired) return new OAuthError('expired_token', 'The device code has expired.')
    if (device.denied) return new OAuthError('access_denied', 'The user did not allow this.')
    if (device.user_id === null) {
      await sql`update oauth_devices set asked_at = now() where id = ${device.id}`.execute(tx)
      return device.hasty
        ? new OAuthError('slow_down', 'The device asks too often.')
        : new OAuthError('authorization_pending', 'The user has not decided yet.')
    }
    await sql`delete from oauth_devices where id = ${device.id}`.execute(tx)
    const { user_id: userId, scopes } = device
    return { tokens: await grants.addTokens(tx, { applicationId: application.id, userId, scopes }), userId }
  })
  if (taken instanceof OAuthError) throw taken
  return { ...taken, application }
}
