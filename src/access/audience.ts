import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../kernel/db/index.ts'
import type { User } from './actor.ts'
import { userColumnsWith, userFromRow } from './caller.ts'
import { isAdmitted } from './policy-server.ts'
import type { AnyKind, AnySubject } from './subjects.ts'

/** Somebody who waits for news of a subject. `admin`: he asked as an administrator, if he still is one. */
export interface Listener {
  readonly id: number
  readonly admin: boolean
}

/** A listener as he is now. `each` is what was asked about him. */
export interface Attendant<Subject, Each> {
  /** In the list that was given. */
  readonly at: number
  readonly user: User
  /** With his role in it. */
  readonly subject: Subject
  readonly each: Each
}

/**
 * Many users and one subject as they are now, in one statement and one snapshot: those who may know of the subject,
 * with what `each` says of everyone (SQL beside `actor`, `subject` and `membership`), and once what `once` says, beside
 * `subject` and the row source `audience`, which has the columns of `actor`, `at` and `role`.
 */
export async function audienceOf<Subject, Each, Once>(
  db: Reader,
  kind: AnyKind,
  subjectId: number,
  listeners: readonly Listener[],
  asked: { readonly each: RawBuilder<Each>; readonly once: RawBuilder<Once> },
): Promise<{ readonly attendants: readonly Attendant<Subject, Each>[]; readonly once: Once } | undefined> {
  if (kind.find === null || kind.memberships === null) return undefined
  const given = JSON.stringify(listeners.map((listener, at) => ({ ...listener, at })))
  const { rows } = await sql<{
    subject: Record<string, unknown>
    attendants: readonly { at: number; user: object; role: number; permissions: object; each: Each }[] | null
    once: Once
  }>`
    with subject as materialized (${kind.find({ id: String(subjectId), secretDigest: undefined })}),
      listeners as materialized (
        select l.at, ${userColumnsWith(sql`u.admin and l.admin as admin`)}
        from json_to_recordset(${given}::json) l (at int, id bigint, admin boolean) join users u on u.id = l.id),
      held as materialized (
        select m.user_id, max(m.access_level)::int as role,
          array_agg(m.member_role_id) filter (where m.member_role_id is not null) as member_role_ids
        from subject cross join lateral ${kind.memberships} m
        where m.user_id = any (array(select l.id from listeners l)) group by m.user_id),
      audience as materialized (
        select actor.*, membership.role, membership.member_role_ids
        from subject cross join listeners actor left join held on held.user_id = actor.id
        cross join lateral (select coalesce(held.role, 0) as role, held.member_role_ids) membership
        where ${kind.visible})
    select to_json(subject) as subject, (
      select json_agg(json_build_object('at', actor.at, 'user', to_json(actor), 'role', membership.role,
        'permissions', permissions_of_roles(membership.member_role_ids), 'each', ${asked.each}))
      from audience actor
      cross join lateral (select actor.role, actor.member_role_ids) membership) as attendants, ${asked.once} as once
    from subject`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const attendants = (row.attendants ?? []).map(({ at, user, role, permissions, each }) => ({
    at,
    user: userFromRow(user as Record<string, unknown>),
    subject: kind.subject({ ...row.subject, permissions }, role) as Subject,
    each,
  }))
  const open = await Promise.all(
    attendants.map(({ user, subject }) => isAdmitted(db, { user }, subject as AnySubject)),
  )
  return { attendants: attendants.filter((_, at) => open[at]), once: row.once }
}
