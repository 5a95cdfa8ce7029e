import { sql } from 'kysely'
import { onConstraint, type Tx } from '../../kernel/db/index.ts'
import { conflict } from '../../kernel/errors/index.ts'

export interface NewUser {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin?: boolean
  readonly external?: boolean
  readonly canCreateGroup: boolean
  readonly projectsLimit: number
  readonly passwordDigest?: string
  readonly createdById?: number
  /** Profile fields as the API names them. */
  readonly profile?: Readonly<Record<string, unknown>>
  readonly note?: string | null
}

/** A user, with the personal namespace and the route that name it. 409 when the name or e-mail address is taken. */
export async function createUser(tx: Tx, user: NewUser): Promise<{ id: number; namespaceId: number }> {
  const { id } = await tx
    .insertInto('users')
    .values({
      username: user.username,
      name: user.name,
      email: user.email,
      admin: user.admin ?? false,
      external: user.external ?? false,
      can_create_group: user.canCreateGroup,
      projects_limit: user.projectsLimit,
      password_digest: user.passwordDigest ?? null,
      created_by_id: user.createdById ?? null,
      profile: JSON.stringify(user.profile ?? {}),
      note: user.note ?? null,
      confirmed_at: new Date(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('users_email', () => conflict('Email has already been taken')))
    .catch(onConstraint('users_username', () => conflict('Username has already been taken')))
  const { rows } = await sql<{ id: number }>`
    with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, owner_id, name, path, full_path, traversal_ids)
    overriding system value
    select next.id, 'user', ${id}, ${user.name}, ${user.username}, ${user.username}, array[next.id] from next
    returning id`.execute(tx)
  const namespaceId = rows[0]!.id
  await tx
    .insertInto('routes')
    .values({ path_key: user.username.toLowerCase(), namespace_id: namespaceId })
    .execute()
    .catch(onConstraint('routes_pkey', () => conflict('Username has already been taken')))
  return { id, namespaceId }
}
