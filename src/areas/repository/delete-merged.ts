import {
  enterAs,
  may,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { branchName, zeroOid, listRefs } from '../../git/index.ts'
import type { Writer } from '../../kernel/db/index.ts'
import { enqueue, type Task } from '../../tasks/index.ts'
import { protectionOf, rulesOf } from '../protected-branches/index.ts'
import { mergedInto, readable } from './looking.ts'
import type { RepositoryServices } from './services.ts'

const name = 'repository:delete-merged-branches'

interface Payload {
  readonly user: number
  readonly project: number
}

/** Lets the merged branches of a project be deleted soon, on behalf of the caller. */
export async function enqueueMergedDeletion(db: Writer, actor: Actor, project: number): Promise<void> {
  const payload: Payload = { user: userOf(actor).id, project }
  await enqueue(db, name, payload, { key: `${name}:${project}` })
}

/** Deletes them, as far as the user still may; those that are protected stay. */
export function mergedDeletion(services: RepositoryServices): Task<Payload> {
  const { db, places, door } = services
  return {
    name,
    async run({ user, project: id }) {
      const entered = await enterAs<ProjectSubject>(db, projectKind, user, id)
      if (entered === undefined || !may(entered.actor, 'push_code', entered.subject)) return
      const { actor, subject: project } = entered
      const repository = await readable(places, project)
      if (repository === undefined) return
      const refs = await listRefs(repository, project.refsVersion)
      const rules = await rulesOf(db.reader, id, user)
      for (const ref of await mergedInto(repository, refs)) {
        const oldOid = refs.find(ref)?.oid
        if (oldOid === undefined || protectionOf(branchName(ref)!, rules) !== undefined) continue
        // One that was moved meanwhile is not merged any more: its old value does not fit, and it stays.
        await door.update({ actor, project, via: 'web' }, [{ ref, oldOid, newOid: zeroOid }])
      }
    },
  }
}
