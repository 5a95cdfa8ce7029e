import {
  decide,
  find,
  findGroup,
  isAdministrator,
  project as projectKind,
  Role,
  type Actor,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { notFound, refused } from '../../kernel/errors/index.ts'
import type { Events } from '../../tasks/index.ts'
import { lockTrees, movePath, pathFault } from '../namespaces/index.ts'
import { unlinkOpenForks } from './forking.ts'
import { findNamespace } from './fork-store.ts'
import * as store from './store.ts'

export interface TransferServices {
  readonly db: Database
  readonly events: Events
}

/** The news that a project lies in another namespace: event kind `project_transferred`. */
export interface ProjectTransferred {
  readonly oldNamespaceId: number
  readonly newNamespaceId: number
  readonly oldFullPath: string
}

const notAllowed = "You don't have permission to transfer projects into that namespace."
const inTheWay = 'Project with same name or path in target namespace already exists'

/**
 * Puts a project into another namespace, and takes what hangs on its path along: the old one leads to the new one, and
 * repository, wiki and images are found by its id anyway. Who came in through the old groups has no access any more.
 */
export async function transferProject(
  { db, events }: TransferServices,
  actor: Actor,
  project: ProjectSubject,
  target: number | string,
): Promise<void> {
  const wanted = await findNamespace(db.reader, target)
  if (wanted === undefined) throw notFound('Namespace')
  await db.transaction(async (tx) => {
    const before = await store.findHome(tx, { namespaceId: wanted })
    if (before === undefined) throw notFound('Namespace')
    await lockTrees(tx, [project.line[0]!, before.root], 'share')
    const locked = await store.lock(tx, project.id)
    if (locked === undefined) throw notFound('Project')
    const home = await openTo(tx, actor, wanted)
    if (home.id === locked.namespace_id) throw failed('Project is already in this namespace.')
    if (!home.open) throw failed(notAllowed)
    const fullPath = `${home.full_path}/${locked.path}`
    const taken = await store.findTaken(tx, { namespaceId: home.id, name: locked.name, fullPath })
    if (taken.name || taken.path) throw failed(inTheWay)
    await movePath(tx, project.id, locked.full_path, fullPath).catch((error: unknown) => {
      const fault = pathFault(error)
      throw fault === undefined ? error : failed(inTheWay)
    })
    const visibility =
      home.kind === 'group' ? Math.min(locked.visibility, home.visibility) : locked.visibility
    await put(tx, project.id, home, { fullPath, visibility })
    if (visibility < locked.visibility) await unlinkOpenForks(tx, project.id, visibility)
    const payload: ProjectTransferred = {
      oldNamespaceId: locked.namespace_id,
      newNamespaceId: home.id,
      oldFullPath: locked.full_path,
    }
    await events.announce(tx, 'project_transferred', {
      projectId: project.id,
      userId: actor.user?.id ?? null,
      payload,
    })
  })
}

/** A target and whether it takes the caller's projects; one that he may not know of is not there. */
async function openTo(tx: Tx, actor: Actor, id: number): Promise<store.Home & { readonly open: boolean }> {
  const home = await store.findHome(tx, { namespaceId: id })
  if (home === undefined) throw notFound('Namespace')
  if (home.kind === 'user') {
    if (home.owner_id !== actor.user?.id && !isAdministrator(actor)) throw notFound('Namespace')
    return { ...home, open: true }
  }
  const group = await findGroup(tx, actor, id)
  if (group === undefined) throw notFound('Namespace')
  return { ...home, open: decide(actor, 'create_projects', group, true).allowed }
}

async function put(
  tx: Tx,
  id: number,
  home: store.Home,
  { fullPath, visibility }: { readonly fullPath: string; readonly visibility: number },
): Promise<void> {
  const closed = home.settings['shared_runners_setting'] === 'disabled_and_unoverridable'
  const settings = closed ? sql`p.settings || '{"shared_runners_enabled": false}'` : sql`p.settings`
  await sql`
    update projects p set namespace_id = ${home.id}, full_path = ${fullPath}, visibility = ${visibility},
      settings = ${settings}, marked_for_deletion_at = null, deleting_user_id = null, updated_at = now(),
      archived = p.archived and not p.archived_with_group, archived_with_group = false
    where p.id = ${id}`.execute(tx)
  if (home.owner_id === null) return
  await sql`
    insert into members (user_id, project_id, access_level) values (${home.owner_id}, ${id}, ${Role.owner})
    on conflict (user_id, project_id) do update
    set access_level = excluded.access_level, state = 'active', expires_at = null`.execute(tx)
}

function failed(text: string): Error {
  return refused(400, `Failed to transfer project {:new_namespace=>["${text}"]}`)
}

/** The same from the side of a group, whose caller owns both. */
export async function takeIntoGroup(
  services: TransferServices,
  actor: Actor,
  group: GroupSubject,
  idOrPath: string,
): Promise<void> {
  const project = await find(services.db.reader, projectKind, actor, idOrPath)
  if (project === undefined) throw notFound('Project')
  if (!decide(actor, 'transfer_project', project, true).allowed) {
    throw refused(400, `Failed to transfer project {:new_namespace=>["${notAllowed}"]}`)
  }
  await transferProject(services, actor, project, group.id)
}
