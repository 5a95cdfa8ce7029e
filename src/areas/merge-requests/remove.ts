import type { ProjectSubject } from '../../access/index.ts'
import * as store from './store.ts'
import type { MergeRequestRow } from './rows.ts'
import type { MergeRequestServices } from './services.ts'
import { pointRequestRef } from './versions/refs.ts'

/** Its number is not given again; its refs go, and what they kept goes with the next cleaning. */
export async function removeMergeRequest(
  services: MergeRequestServices,
  project: ProjectSubject,
  { id, iid }: Pick<MergeRequestRow, 'id' | 'iid'>,
): Promise<void> {
  await services.db.transaction((tx) => store.remove(tx, id))
  await pointRequestRef(services, project, iid, 'head', undefined)
  await pointRequestRef(services, project, iid, 'merge', undefined)
}
