import { onConstraint, sql, type Tx } from '../../kernel/db/index.ts'
import { claimPath, PathTaken } from '../namespaces/index.ts'
import { emailTaken, usernameTaken } from './rules.ts'

export interface NewUser {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly publicEmail?: string | null
  readonly commitEmail?: string | null
  readonly kind?: 'human' | 'project_bot' | 'service_account'
  readonly admin?: boolean
  readonly external?: boolean
  readonly privateProfile?: boolean
  readonly canCreateGroup: boolean
  readonly projectsLimit: number
  readonly passwordDigest?: string
  readonly createdById?: number
  /** Profile fields as the API names them. */
  readonly profile?: Readonly<Record<string, unknown>>
  readonly note?: string | null
  /** Waits until an administrator approves. */
  readonly unapproved?: boolean
  /** The address is not known to be the user's own yet: no invitation to it is taken up. */
  readonly unconfirmed?: boolean
}

/** A user that access tokens of a project or group stand for: a member there, and nobody elsewhere. */
export async function createBot(
  tx: Tx,
  bot: Pick<NewUser, 'username' | 'name' | 'email'> & { readonly createdById: number },
): Promise<number> {
  return insertUser(tx, {
    ...bot,
    kind: 'project_bot',
    // Internal projects are not its business.
    external: true,
    canCreateGroup: false,
    projectsLimit: 0,
  })
}

/** A user, with the personal namespace and the route that name it. 409 when the name or e-mail address is taken. */
export async function createUser(tx: Tx, user: NewUser): Promise<{ id: number; namespaceId: number }> {
  const id = await insertUser(tx, user)
  const { rows } = await sql<{ id: number }>`
    with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, owner_id, name, path, full_path, traversal_ids)
    overriding system value
    select next.id, 'user', ${id}, ${user.name}, ${user.username}, ${user.username}, array[next.id] from next
    returning id`.execute(tx)
  const namespaceId = rows[0]!.id
  await claimPath(tx, user.username, { namespaceId }).catch(whenTaken)
  // What people were invited to is not for machines that bear their address.
  if (user.unconfirmed !== true && (user.kind ?? 'human') === 'human')
    await acceptInvitations(tx, id, user.email)
  return { id, namespaceId }
}

/** Takes up what a confirmed address was invited to. */
export async function acceptInvitations(tx: Tx, userId: number, email: string): Promise<void> {
  await sql`select accept_invitations(${userId}, ${email})`.execute(tx)
}

/** A group has the name. */
export function whenTaken(error: unknown): never {
  throw error instanceof PathTaken ? usernameTaken() : error
}

async function insertUser(tx: Tx, user: NewUser): Promise<number> {
  const { id } = await tx
    .insertInto('users')
    .values({
      username: user.username,
      name: user.name,
      email: user.email,
      public_email: user.publicEmail ?? null,
      commit_email: user.commitEmail ?? null,
      kind: user.kind ?? 'human',
      admin: user.admin ?? false,
      external: user.external ?? false,
      private_profile: user.privateProfile ?? false,
      can_create_group: user.canCreateGroup,
      projects_limit: user.projectsLimit,
      password_digest: user.passwordDigest ?? null,
      created_by_id: user.createdById ?? null,
      profile: JSON.stringify(user.profile ?? {}),
      note: user.note ?? null,
      state: user.unapproved === true ? 'blocked_pending_approval' : 'active',
      confirmed_at: user.unconfirmed === true ? null : new Date(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('users_email', emailTaken))
    .catch(onConstraint('users_username', usernameTaken))
  return id
}
