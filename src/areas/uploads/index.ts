import path from 'node:path'
import { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Task } from '../../tasks/index.ts'
import { groupPlace, projectPlace } from './places.ts'
import { uploadEndpoints } from './routes.ts'
import * as store from './store.ts'

export interface UploadServices {
  readonly db: Database
  readonly settings: Settings
  readonly dataDirectory: string
  readonly externalUrl: () => string
}

/** The database itself puts this one into the queue, when uploads go (migration 0072). */
const removal = 'uploads:remove-content'

/** Files that texts of a project or group show or link to. */
export function uploads(services: UploadServices): { endpoints: Endpoint[]; tasks: Task[] } {
  const blobs = new Blobs(path.join(services.dataDirectory, 'uploads'))
  const room = { ...services, blobs }
  return {
    endpoints: [...uploadEndpoints(room, projectPlace), ...uploadEndpoints(room, groupPlace)],
    tasks: [
      {
        name: removal,
        run: (payload) => store.removeUnused(services.db, blobs, (payload as { digests: string[] }).digests),
      },
    ],
  }
}
