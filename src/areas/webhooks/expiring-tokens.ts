import { sql, type Database } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { AccessTokenEvent } from './payloads/access-token.ts'

/** Days before their end on which tokens of projects and groups are told of. */
const days = [7, 1]

/** Announces tokens that end soon, as long as somebody listens; called once a day. */
export async function announceExpiringTokens({
  db,
  events,
}: {
  db: Database
  events: Events
}): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await sql<{ id: number; project_id: number | null; namespace_id: number | null }>`
      select t.id, b.project_id, b.namespace_id
      from personal_access_tokens t join resource_bots b on b.user_id = t.user_id
      where not t.revoked
        and t.expires_at in (${sql.join(days.map((ahead) => sql`(now() at time zone 'utc')::date + ${ahead}::int`))})
        and exists (select from webhooks w where 'resource_access_token' = any (w.triggers))
      order by t.id`.execute(tx)
    await events.announceAll(
      tx,
      rows.map(({ id, project_id: projectId, namespace_id: groupId }) => {
        const payload: AccessTokenEvent = { tokenId: id, groupId }
        return { kind: 'access_token', projectId, payload }
      }),
    )
  })
}
