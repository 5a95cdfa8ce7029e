import path from 'node:path'
import { Blobs, removeUnused } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { groupPlace, projectPlace } from './places.ts'
import { uploadEndpoints } from './routes.ts'

export { isFileName } from './names.ts'
export { add as addUpload } from './store.ts'

export interface UploadServices {
  readonly db: Database
  readonly settings: Settings
  readonly dataDirectory: string
  readonly externalUrl: () => string
}

/** The database itself puts this one into the queue, when uploads go (migration 0072). */
const removal = 'uploads:remove-content'
const tidying = 'uploads:remove-leftovers'
const day = 24 * 60 * 60 * 1000

/** Where the content of uploads is kept. */
export const uploadContent = (dataDirectory: string): Blobs => new Blobs(path.join(dataDirectory, 'uploads'))

/** Files that texts of a project or group show or link to. */
export function uploads(services: UploadServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const blobs = uploadContent(services.dataDirectory)
  const room = { ...services, blobs }
  return {
    endpoints: [...uploadEndpoints(room, projectPlace), ...uploadEndpoints(room, groupPlace)],
    tasks: [
      {
        name: removal,
        run: (payload) =>
          removeUnused(services.db, blobs, 'uploads', (payload as { digests: string[] }).digests),
      },
      {
        name: tidying,
        async run() {
          await blobs.removeLeftovers(day)
        },
      },
    ],
    schedules: [{ task: tidying, pattern: '43 5 * * *' }],
  }
}
