import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'

/** A tracker that has the app. */
export interface Installation {
  readonly id: number
  readonly client_key: string
  readonly base_url: string
  /** Sealed. */
  readonly shared_secret: string
  readonly instance_url: string | null
}

const columns = sql`i.id, i.client_key, i.base_url, i.shared_secret, i.instance_url`

export async function installation(db: Reader, clientKey: string): Promise<Installation | undefined> {
  const { rows } = await sql<Installation>`
    select ${columns} from tracker_installations i where i.client_key = ${clientKey}`.execute(db)
  return rows[0]
}

export async function install(
  tx: Tx,
  given: Pick<Installation, 'client_key' | 'base_url' | 'shared_secret'>,
): Promise<Installation> {
  const { rows } = await sql<Installation>`
    insert into tracker_installations as i (client_key, base_url, shared_secret)
    values (${given.client_key}, ${given.base_url}, ${given.shared_secret})
    on conflict (client_key) do update
    set base_url = excluded.base_url, shared_secret = excluded.shared_secret, updated_at = now()
    returning ${columns}`.execute(tx)
  return rows[0]!
}

export async function passOnTo(tx: Tx, id: number, instanceUrl: string | null): Promise<void> {
  await sql`
    update tracker_installations i set instance_url = ${instanceUrl}, updated_at = now() where i.id = ${id}`.execute(
    tx,
  )
}

export async function uninstall(tx: Tx, id: number): Promise<void> {
  await sql`delete from tracker_installations i where i.id = ${id}`.execute(tx)
}

export interface Subscription {
  readonly id: number
  readonly name: string
  readonly full_name: string
  readonly description: string | null
  readonly created_at: Date
}

const mostListed = 1000

export async function subscriptions(db: Reader, installationId: number): Promise<Subscription[]> {
  const { rows } = await sql<Subscription>`
    select s.id, n.name, n.full_path as full_name, n.description, s.created_at
    from tracker_subscriptions s join namespaces n on n.id = s.namespace_id
    where s.installation_id = ${installationId} order by s.id limit ${mostListed}`.execute(db)
  return rows
}

/** Does nothing where it is there. */
export async function subscribe(tx: Tx, installationId: number, namespaceId: number): Promise<void> {
  await sql`
    insert into tracker_subscriptions (installation_id, namespace_id) values (${installationId}, ${namespaceId})
    on conflict do nothing`.execute(tx)
}

/** Whether there was one. */
export async function unsubscribe(tx: Tx, installationId: number, id: number): Promise<boolean> {
  const { rows } = await sql`
    delete from tracker_subscriptions s where s.id = ${id} and s.installation_id = ${installationId} returning 1`.execute(
    tx,
  )
  return rows.length > 0
}

/**
 * A condition on the row `event`: some tracker is told of its project. Offset 0 keeps the planner from gathering all
 * such projects first.
 */
export const isTold = sql`exists (
  select from projects p join namespaces n on n.id = p.namespace_id
  join tracker_subscriptions s on s.namespace_id = any (n.traversal_ids) where p.id = event.project_id offset 0)`

/** The trackers that are told of a project. */
export async function toldOf(db: Reader, projectId: number): Promise<Installation[]> {
  const { rows } = await sql<Installation>`
    select ${columns} from tracker_installations i
    where i.id in (
      select s.installation_id from projects p join namespaces n on n.id = p.namespace_id
      join tracker_subscriptions s on s.namespace_id = any (n.traversal_ids) where p.id = ${projectId})
    order by i.id`.execute(db)
  return rows
}

/** What people said about a merge request, as everybody reads it. */
export async function commentsOf(db: Reader, mergeRequestId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select nb.user_notes as count from noteables nb
    where nb.kind = 'MergeRequest' and nb.target_id = ${mergeRequestId}`.execute(db)
  return rows[0]?.count ?? 0
}

export async function keepPublicKey(
  db: Writer,
  { id, pem, seconds }: { readonly id: string; readonly pem: string; readonly seconds: number },
): Promise<void> {
  await sql`
    with old as (delete from tracker_public_keys k where k.expires_at < now())
    insert into tracker_public_keys (id, pem, expires_at)
    values (${id}::uuid, ${pem}, now() + make_interval(secs => ${seconds}))`.execute(db)
}

export async function publicKey(db: Reader, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ pem: string }>`
    select k.pem from tracker_public_keys k where k.id = ${id}::uuid and k.expires_at > now()`.execute(db)
  return rows[0]?.pem
}
