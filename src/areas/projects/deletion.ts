import type { Database, Tx } from '../../kernel/db/index.ts'
import { deleteRepository } from '../../git/index.ts'
import { enqueue, type Task } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import * as store from './store.ts'

/** Where the repository of a project lies that is no more. */
interface Place {
  readonly id: number
  readonly storage: string
}

const removeRepositories = 'projects:remove-repositories'
/** Repositories that one task removes. */
const batch = 500

/** The project is gone at once, and its path free; its repository is removed by a task. */
export async function deleteProject(db: Database, id: number): Promise<void> {
  await db.transaction(async (tx) => {
    const place = await store.remove(tx, id)
    if (place !== undefined) await enqueueRemoval(tx, [place])
  })
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

export function removalTask({
  db,
  places,
}: {
  db: Database
  places: RepositoryPlaces
}): Task<{ places: Place[] }> {
  return {
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
}
