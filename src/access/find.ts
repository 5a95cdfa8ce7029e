import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../kernel/db/index.ts'
import type { ProjectAbility } from './abilities/project.ts'
import { anonymous, type Actor } from './actor.ts'
import type { DeployToken } from './deploy-token.ts'
import { membershipSource } from './enter.ts'
import { isAdmitted } from './policy-server.ts'
import {
  group,
  type AccessKind,
  type AnySubject,
  type GroupSubject,
  type KindOf,
  type ProjectSubject,
} from './subjects.ts'
import { actorRow } from './visible.ts'

interface FoundRow {
  readonly subject: Record<string, unknown>
  readonly role: number
  readonly permissions: string[] | null
  readonly open_to_job: boolean
}

/**
 * A subject that a parameter names, not the path: with the caller's role, or undefined where there is none that the
 * caller may know of. One statement.
 */
export function find<Subject>(
  db: Reader,
  kind: KindOf<Subject>,
  actor: Actor,
  id: string,
): Promise<Subject | undefined> {
  return findWhere(db, kind, actor, id, kind.visible)
}

/** As `find`, for a deploy token: only what the token reaches. */
export function findReached(
  db: Reader,
  kind: AccessKind<'project', ProjectSubject, ProjectAbility>,
  { projectId, namespaceId }: DeployToken,
  id: string,
): Promise<ProjectSubject | undefined> {
  const reached = sql`(subject.id = ${projectId}::bigint or ${namespaceId}::bigint = any (subject.line))`
  return findWhere(db, kind, anonymous, id, reached)
}

async function findWhere<Subject>(
  db: Reader,
  kind: KindOf<Subject>,
  actor: Actor,
  id: string,
  condition: RawBuilder<unknown>,
): Promise<Subject | undefined> {
  if (kind.find === null || kind.memberships === null) return undefined
  const open = actor.job === null ? undefined : kind.openToJob?.(sql`${actor.job.projectId}::bigint`)
  const { rows } = await sql<FoundRow>`
    select to_json(subject) as subject, membership.role, permissions_of_roles(membership.member_role_ids) as permissions,
      ${open ?? sql`false`} as open_to_job
    from ${actorRow(actor)}
    join lateral (${kind.find({ id, secretDigest: undefined })}) subject on true
    left join lateral (${membershipSource(kind)}) membership on true
    where ${condition}`.execute(db)
  const row = rows[0]
  if (row === undefined) return undefined
  const { subject, role, ...caller } = row
  const found = kind.subject({ ...subject, ...caller }, role)
  return (await isAdmitted(db, actor, found as AnySubject)) ? found : undefined
}

/** The group with this id or full path. */
export function findGroup(db: Reader, actor: Actor, id: string | number): Promise<GroupSubject | undefined> {
  return find(db, group, actor, String(id))
}
