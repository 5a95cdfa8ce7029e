import { sql } from '../../../kernel/db/index.ts'
import { groupOf, hookTime, sceneOf, shownGroup, shownProject, type Builder } from './parts.ts'

/** The news that a token of a project or group ends soon: event kind `access_token`. */
export interface AccessTokenEvent {
  readonly tokenId: number
  readonly groupId: number | null
}

export const buildAccessToken: Builder<AccessTokenEvent> = async (services, event) => {
  const { tokenId, groupId } = event.payload
  const { reader } = services.db
  const { rows } = await sql<{
    id: number
    user_id: number
    name: string
    created_at: Date
    expires_at: string
  }>`
    select t.id, t.user_id, t.name, t.created_at, t.expires_at from personal_access_tokens t
    where t.id = ${tokenId} and not t.revoked`.execute(reader)
  const scene = await sceneOf(reader, event)
  const group = groupId === null ? undefined : await groupOf(reader, groupId)
  const [token] = rows
  if (token === undefined || (scene === undefined && group === undefined)) return []
  const payload = {
    object_kind: 'access_token',
    ...(scene !== undefined && { project: shownProject(services, scene.project) }),
    ...(group !== undefined && { group: shownGroup(group) }),
    object_attributes: {
      user_id: token.user_id,
      created_at: hookTime(token.created_at),
      id: token.id,
      name: token.name,
      expires_at: token.expires_at,
    },
    event_name: 'expiring_access_token',
  }
  return [{ trigger: 'resource_access_token', payload }]
}
