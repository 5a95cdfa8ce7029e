import { admittingRole } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import type { MembershipEvent } from './news.ts'

/** People whom a request to be let in is told to. */
const mostAsked = 10

export interface Person {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly email: string
}

/** Of those who may let somebody in, the ones who were active last. */
export async function keepersOf(
  tx: Tx,
  { namespaceId, projectId }: Pick<MembershipEvent, 'namespaceId' | 'projectId'>,
): Promise<Person[]> {
  const line =
    projectId === null
      ? sql`(select n.traversal_ids from namespaces n where n.id = ${namespaceId}::bigint)`
      : sql`(select n.traversal_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}::bigint)`
  const least = projectId === null ? admittingRole.group : admittingRole.project
  const { rows } = await sql<Person>`
    select u.id, u.name, u.username, u.email from users u
    where u.kind = 'human' and u.state = 'active' and u.id in (
      select m.user_id from effective_memberships(${line}, ${projectId}::bigint) m where m.access_level >= ${least})
    order by u.last_activity_on desc nulls last, u.id limit ${mostAsked}`.execute(tx)
  return rows
}
