import { decide, findGroup, isAdministrator, isShownTo, may, userOf, type Actor } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { ApiError, sentencesOf } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { createProject } from './create.ts'
import * as store from './store.ts'

interface PushServices {
  readonly db: Database
  readonly plan: Plan
  readonly places: RepositoryPlaces
  readonly settings: Settings
}

/** A path that a user pushes to, and his address in the network. */
export interface PushedTo {
  readonly fullPath: string
  readonly address: string
}

/** A project that a push may make. */
interface Creatable {
  readonly namespaceId: number
  readonly path: string
}

/**
 * What a user may make at a path, as `POST /projects` has it. `nowhere`: it lies in no namespace that he may know of;
 * `refused`: he may not create projects there.
 */
export async function creatableAt(
  { db, plan, settings }: PushServices,
  actor: Actor,
  { fullPath, address }: PushedTo,
): Promise<Creatable | 'nowhere' | 'refused'> {
  const end = fullPath.lastIndexOf('/')
  const home = await store.findHome(db.reader, { fullPath: fullPath.slice(0, end) })
  if (home === undefined) return 'nowhere'
  let open: boolean
  if (home.kind === 'group') {
    const group = await findGroup(db.reader, actor, home.id)
    const house = { values: settings.values, plan }
    if (group === undefined || !isShownTo(group, actor, address, house)) return 'nowhere'
    open = decide(actor, 'create_projects', group, true).allowed
  } else {
    open = home.owner_id === actor.user?.id || isAdministrator(actor)
  }
  if (!open || !may(actor, 'create_project', { kind: 'instance' })) return 'refused'
  return { namespaceId: home.id, path: fullPath.slice(end + 1) }
}

/** Makes the private project that a user pushes to; or tells what is wrong with it, in words. */
export async function createByPush(
  services: PushServices,
  actor: Actor,
  { namespaceId, path }: Creatable,
): Promise<'made' | 'refused' | { readonly faults: string }> {
  const here = { ...services, settings: services.settings.values }
  const user = userOf(actor)
  const params = { path, namespace_id: namespaceId, visibility: 'private' } as const
  try {
    await createProject(here, { actor, user }, params, (tx, id) => store.notePushed(tx, id, user.id))
    return 'made'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The limit of projects is reached.
    if (error.status === 403) return 'refused'
    if (error.status !== 400) throw error
    return { faults: sentencesOf(error.body).join(', ') }
  }
}

/** Whether a push of this user has made the project; told once. */
export async function isMadeByPushOf(db: Database, userId: number, projectId: number): Promise<boolean> {
  return (await store.takePushed(db.writer, projectId)) === userId
}
