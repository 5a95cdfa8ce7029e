import { isAdministrator, type Actor, type ProjectSubject } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { forbidden, refused } from '../../kernel/errors/index.ts'
import { deleteRepository } from '../../git/index.ts'
import type { Settings } from '../../settings/index.ts'
import { enqueue, type Schedule, type Task } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { projectMark } from './deletion-mark.ts'
import * as store from './store.ts'

/** Where the repository of a project lies that is no more. */
interface Place {
  readonly id: number
  readonly storage: string
}

export interface DeletionServices {
  readonly db: Database
  readonly plan: Plan
  readonly settings: Settings
  readonly places: RepositoryPlaces
}

const removeRepositories = 'projects:remove-repositories'
const endMarked = 'projects:end-marked'
/** Repositories that one task removes, and projects that are looked at together. */
const batch = 500

/** Says that a project is to go at once, and which: so that nobody ends one by mistake. */
export interface Permanently {
  readonly permanently_remove?: boolean | undefined
  readonly full_path?: string | undefined
}

/**
 * With a paid plan a project of a group is marked first, and goes when its days are over; all others go at once. Who
 * wants a marked one gone before says so, and gives its path.
 */
export async function deleteProject(
  { db, plan, settings }: DeletionServices,
  actor: Actor,
  project: ProjectSubject,
  { permanently_remove: permanently, full_path: fullPath }: Permanently,
): Promise<void> {
  if (settings.values.default_project_deletion_protection && !isAdministrator(actor)) throw forbidden()
  const delayed = offers(plan, 'delayed_deletion') && project.namespaceKind === 'group'
  if (permanently === true && delayed) {
    const marked = await projectMark.isSet(db.reader, project.id)
    if (!marked) throw refused(400, 'Project must be marked for deletion first.')
    if (fullPath !== project.fullPath) {
      throw refused(400, '`full_path` is incorrect. You must enter the complete path for the project.')
    }
  }
  await db.transaction(async (tx) => {
    if (delayed && permanently !== true) await projectMark.set(tx, project.id, actor.user?.id ?? null)
    else await endProject(tx, project.id)
  })
}

/** The row is gone at once, and its path free; its repository is removed by a task. */
export async function endProject(tx: Tx, id: number): Promise<void> {
  const place = await store.remove(tx, id)
  if (place !== undefined) await enqueueRemoval(tx, [place])
}

export async function restoreProject({ db }: Pick<DeletionServices, 'db'>, id: number): Promise<void> {
  const there = await db.transaction((tx) => projectMark.lift(tx, id))
  if (!there) throw refused(400, 'Project has not been marked for deletion')
}

/** Removes the repositories of all projects at and below a group; call it before their rows are deleted. */
export async function removeRepositoriesBelow(tx: Tx, namespaceId: number): Promise<void> {
  await enqueueRemoval(tx, await store.repositoriesBelow(tx, namespaceId))
}

async function enqueueRemoval(tx: Tx, places: readonly Place[]): Promise<void> {
  for (let at = 0; at < places.length; at += batch) {
    await enqueue(tx, removeRepositories, { places: places.slice(at, at + batch) })
  }
}

export function deletionTasks({ db, places, settings }: DeletionServices): {
  tasks: Task<never>[]
  schedules: Schedule[]
} {
  const removal: Task<{ places: Place[] }> = {
    name: removeRepositories,
    async run({ places: wanted }) {
      for (const place of wanted) {
        // Ids are never given again, but a database may have been put back.
        const alive = await db.reader
          .selectFrom('projects as p')
          .select('p.id')
          .where('p.id', '=', place.id)
          .execute()
        if (alive.length === 0) await deleteRepository(places.of(place))
      }
    },
  }
  const ending: Task = {
    name: endMarked,
    async run() {
      const days = settings.values.deletion_adjourned_period
      for (;;) {
        const due = await store.dueProjects(db.reader, days, batch)
        // Each by itself: who restores one meanwhile is not kept waiting, and finds it.
        for (const id of due) {
          await db.transaction(async (tx) => {
            if (await store.lockDue(tx, id, days)) await endProject(tx, id)
          })
        }
        if (due.length < batch) return
      }
    },
  }
  return {
    tasks: [removal, ending] as Task<never>[],
    schedules: [{ task: endMarked, pattern: '23 * * * *' }],
  }
}
