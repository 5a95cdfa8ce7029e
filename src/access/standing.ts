import { sql, type Reader } from '../kernel/db/index.ts'

/** By what somebody is known who was given something that others take for a while without asking again. */
export interface Bearer {
  readonly userId: number | null
  readonly tokenId: number | null
  readonly jobId: number | null
  readonly deployTokenId: number | null
}

const today = sql`(now() at time zone 'utc')::date`

/**
 * What such a gift hangs on, as a text: it is another one as soon as the account, the token or the job, a membership or
 * the tree, or one of the projects is another.
 */
export async function standingOf(
  db: Reader,
  { userId, tokenId, jobId, deployTokenId }: Bearer,
  projectIds: readonly number[],
): Promise<string> {
  const { rows } = await sql<{ standing: string }>`
    select concat_ws(' ',
      (select concat_ws('.', u.state, u.admin, u.external, u.password_expired, u.locked_until > now())
        from users u where u.id = ${userId}::bigint),
      (select not t.revoked and (t.expires_at is null or t.expires_at > ${today})
        from personal_access_tokens t where t.id = ${tokenId}::bigint),
      (select j.status in ('running', 'canceling') from ci_jobs j where j.id = ${jobId}::bigint),
      (select not t.revoked and (t.expires_at is null or t.expires_at > now())
        from deploy_tokens t where t.id = ${deployTokenId}::bigint),
      (select sum(m.version) from access_marks m where m.user_id in (0, ${userId}::bigint)),
      (select string_agg(concat_ws('.', p.id, p.namespace_id, p.visibility, p.archived,
          p.feature_levels ->> 'container_registry'), ' ' order by p.id)
        from projects p where p.id = any (${projectIds}::bigint[])),
      ${today}) as standing`.execute(db)
  return rows[0]!.standing
}
