import path from 'node:path'
import { Blobs } from '../../blobs/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { removeLeftFolders } from '../project-archives/index.ts'
import { exportGroup } from './export-group.ts'
import { importGroup } from './import-group.ts'
import { exportTask, groupArchiveEndpoints, importTask } from './routes.ts'
import type { GroupArchiveRoom, GroupArchiveServices } from './services.ts'
import * as store from './store.ts'

export { formatVersion, relations, type RelationName } from './format.ts'
export { idsBehind, readRelation } from './read.ts'
export { checkGroup } from './check.ts'
export { standIn } from './services.ts'
export { describe as describeGroup } from './store.ts'
export { takers } from './takers.ts'
export type { Target } from './write.ts'

const forgetting = 'groups:forget-exports'
/** Hours that an archive can be downloaded for. */
const kept = 24
const hour = 3_600_000
const day = 24 * hour

/** Groups as files: written, and made into groups again. */
export function groupArchives(services: GroupArchiveServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const folder = path.join(services.dataDirectory, 'group-archives')
  const room: GroupArchiveRoom = {
    ...services,
    blobs: new Blobs(folder),
    workplace: path.join(folder, 'work'),
  }
  const groupOf = (payload: unknown): number => (payload as { group: number }).group
  return {
    endpoints: groupArchiveEndpoints(room),
    tasks: [
      { name: exportTask, run: (payload) => exportGroup(room, groupOf(payload)) },
      { name: importTask, run: (payload) => importGroup(room, groupOf(payload)) },
      {
        name: forgetting,
        async run() {
          const { db } = services
          await store.forgetExports(db.writer, kept)
          // Not sooner: an archive that is like another may have come, and nothing names it yet.
          await room.blobs.removeUnneeded(hour, (digests) => store.needed(db.writer, digests))
          await room.blobs.removeLeftovers(day)
          await removeLeftFolders(room.workplace, day)
        },
      },
    ],
    schedules: [{ task: forgetting, pattern: '45 * * * *' }],
  }
}
