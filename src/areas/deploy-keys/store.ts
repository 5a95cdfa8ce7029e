import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { projectsWithRole, userCalled } from '../../access/index.ts'
import { lineName } from '../namespaces/index.ts'
import { taken, type NewKey } from '../ssh-keys/index.ts'
import type { DeployKeyRow, InstanceKeyRow } from './entities.ts'

const columns = sql`
  k.id, k.title, k.key, k.usage_type, k.fingerprint, k.fingerprint_sha256, k.created_at, k.expires_at, k.last_used_at`

export type ProjectKeyRow = DeployKeyRow & { readonly can_push: boolean }

const ofProject = sql`
  from deploy_key_projects d join ssh_keys k on k.id = d.deploy_key_id where d.project_id = subject.id`

export function list(input: PageInput): Read<ProjectKeyRow> {
  return page({ columns: sql`${columns}, d.can_push`, from: ofProject, order: sql`d.deploy_key_id` }, input)
}

export function one(id: number): Read<ProjectKeyRow> {
  return rows(sql`select ${columns}, d.can_push ${ofProject} and k.id = ${id}`)
}

/** Of the whole instance, with the projects of each. */
export function listAll(onlyPublic: boolean, input: PageInput): Read<InstanceKeyRow> {
  return page(
    {
      columns: sql`${columns}, (
        select coalesce(json_agg(json_build_object('id', p.id, 'description', p.description, 'name', p.name,
          'name_with_namespace', ${lineName('n')} || ' / ' || p.name, 'path', p.path, 'path_with_namespace', p.full_path,
          'created_at', p.created_at, 'can_push', d.can_push) order by p.id), '[]'::json)
        from deploy_key_projects d join projects p on p.id = d.project_id join namespaces n on n.id = p.namespace_id
        where d.deploy_key_id = k.id) as projects`,
      from: sql`from ssh_keys k where k.kind = 'deploy' ${onlyPublic ? sql`and k.public` : sql``}`,
      order: sql`k.id`,
    },
    input,
  )
}

/** Of the projects that the caller maintains and that this user, by id or username, maintains too. */
export function ofUser(user: number | string, input: PageInput): Read<DeployKeyRow> {
  const userId = sql`(select u.id from users u where ${userCalled(user)})`
  return page(
    {
      columns,
      from: sql`
        from ssh_keys k where k.kind = 'deploy' and exists (
          select from deploy_key_projects d where d.deploy_key_id = k.id
            and d.project_id in (${projectsWithRole('maintainer')})
            and (${userId} = actor.id or exists (
              select from projects p join namespaces n on n.id = p.namespace_id,
                effective_memberships(n.traversal_ids, p.id) m
              where p.id = d.project_id and m.user_id = ${userId} and m.access_level >= 40)))`,
      order: sql`k.id`,
    },
    input,
  )
}

export async function shareProject(db: Reader, a: number, b: number): Promise<boolean> {
  const { rows: found } = await sql<{ shared: boolean }>`
    select exists (
      select from (select ${a}::bigint as id) actor, projects p
        join namespaces n on n.id = p.namespace_id, effective_memberships(n.traversal_ids, p.id) m
      where p.id in (${projectsWithRole('maintainer')}) and m.user_id = ${b} and m.access_level >= 40) as shared`.execute(
    db,
  )
  return found[0]!.shared
}

/** A key that the instance has already. A user's key is no deploy key. */
export async function findByFingerprint(
  tx: Tx,
  fingerprint: string,
): Promise<{ id: number; kind: 'user' | 'deploy' } | undefined> {
  const { rows: found } = await sql<{ id: number; kind: 'user' | 'deploy' }>`
    select k.id, k.kind from ssh_keys k where k.fingerprint_sha256 = ${fingerprint} for update`.execute(tx)
  return found[0]
}

export async function create(
  db: Writer,
  key: NewKey,
  creatorId: number,
  { isPublic, faultPrefix }: { isPublic: boolean; faultPrefix: string },
): Promise<DeployKeyRow> {
  const result = await sql<DeployKeyRow>`
    insert into ssh_keys as k (kind, creator_id, title, key, fingerprint, fingerprint_sha256, expires_at, public)
    values ('deploy', ${creatorId}, ${key.title}, ${key.text}, ${key.fingerprint}, ${key.fingerprintSha256},
      ${key.expiresAt}, ${isPublic})
    returning ${columns}`
    .execute(db)
    .catch(onConstraint('ssh_keys_fingerprint', () => taken(faultPrefix)))
  return result.rows[0]!
}

/** Lets a key into a project; false when it was there. */
export async function enable(tx: Tx, projectId: number, keyId: number, canPush: boolean): Promise<boolean> {
  const { rows: made } = await sql`
    insert into deploy_key_projects (project_id, deploy_key_id, can_push)
    values (${projectId}, ${keyId}, ${canPush}) on conflict do nothing returning 1`.execute(tx)
  return made.length > 0
}

export async function find(db: Reader, projectId: number, keyId: number): Promise<ProjectKeyRow> {
  const { rows: found } = await sql<ProjectKeyRow>`
    select ${columns}, d.can_push from deploy_key_projects d join ssh_keys k on k.id = d.deploy_key_id
    where d.project_id = ${projectId} and k.id = ${keyId}`.execute(db)
  return found[0]!
}

/** Whether the caller may enable this key: it is public, or in another project that he maintains. */
export function reachable(id: number): Read<{ readonly id: number }> {
  return rows(sql`
    select k.id from ssh_keys k where k.id = ${id} and k.kind = 'deploy' and (
      k.public or actor.admin or exists (
        select from deploy_key_projects d where d.deploy_key_id = k.id
          and d.project_id in (${projectsWithRole('maintainer')})))`)
}

export async function isUsedElsewhere(tx: Tx, projectId: number, keyId: number): Promise<boolean> {
  const { rows: found } = await sql<{ elsewhere: boolean }>`
    select k.public or exists (
      select from deploy_key_projects d where d.deploy_key_id = k.id and d.project_id <> ${projectId}) as elsewhere
    from ssh_keys k where k.id = ${keyId}`.execute(tx)
  return found[0]?.elsewhere === true
}

export async function change(
  tx: Tx,
  projectId: number,
  keyId: number,
  { title, canPush }: { title: string | undefined; canPush: boolean | undefined },
): Promise<void> {
  if (title !== undefined) await sql`update ssh_keys set title = ${title} where id = ${keyId}`.execute(tx)
  if (canPush !== undefined) {
    await sql`
      update deploy_key_projects set can_push = ${canPush}
      where project_id = ${projectId} and deploy_key_id = ${keyId}`.execute(tx)
  }
}

/** Takes a key out of a project. A key that nobody uses any more, and that is not public, goes with it. */
export async function disable(tx: Tx, projectId: number, keyId: number): Promise<void> {
  await sql`
    delete from deploy_key_projects where project_id = ${projectId} and deploy_key_id = ${keyId}`.execute(tx)
  await sql`
    delete from ssh_keys k where k.id = ${keyId} and k.kind = 'deploy' and not k.public
      and not exists (select from deploy_key_projects d where d.deploy_key_id = k.id)`.execute(tx)
}
