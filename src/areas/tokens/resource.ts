import { randomBytes } from 'node:crypto'
import type { User } from '../../access/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { createBot } from '../users/index.ts'
import { createAccessToken } from './create.ts'
import { settle, type Resource } from './resource-store.ts'
import * as rules from './rules.ts'
import type { TokenServices } from './services.ts'

export interface ResourceOrder {
  readonly name: string
  readonly description?: string | null | undefined
  readonly scopes: readonly string[]
  readonly expires_at?: string | null | undefined
  readonly access_level: number
}

/** Makes a bot, a member of the project or group, and its token. The caller's right to do so is decided already. */
export async function issueForResource(
  { db, settings, externalUrl, plan }: TokenServices,
  resource: Resource,
  creator: User,
  order: ResourceOrder,
): Promise<{ id: number; secret: string }> {
  const asked = {
    name: order.name.trim(),
    description: order.description ?? null,
    scopes: [...new Set(order.scopes)],
  }
  rules.check(asked, { admin: false })
  const life = rules.lifeOf(settings.values, plan, 'project_bot')
  if (life.required && (order.expires_at ?? null) === null) throw badRequest('expires_at is missing')
  const expiresAt = rules.endOfLife(order.expires_at, { now: new Date(), ...life })
  const username = `${resource.kind}_${resource.id}_bot_${randomBytes(16).toString('hex')}`
  return db.transaction(async (tx) => {
    const userId = await createBot(tx, {
      username,
      name: asked.name,
      email: `${username}@noreply.${new URL(externalUrl()).hostname}`,
      createdById: creator.id,
    })
    await settle(tx, resource, { userId, accessLevel: order.access_level, createdById: creator.id })
    return createAccessToken(tx, {
      ...asked,
      userId,
      expiresAt,
      prefix: settings.values.personal_access_token_prefix ?? '',
    })
  })
}
