import path from 'node:path'
import { Blobs, removeUnused } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { openRegistry } from './formats.ts'
import { npmEndpoints } from './npm/routes.ts'
import { npmTagEndpoints } from './npm/routes-tags.ts'
import { genericEndpoints } from './routes-generic.ts'
import { packageEndpoints } from './routes-packages.ts'

export interface PackageServices {
  readonly db: Database
  readonly settings: Settings
  readonly dataDirectory: string
  readonly externalUrl: () => string
}

/** The database itself puts this one into the queue, when files go (migration 0202). */
const removal = 'packages:remove-content'
const tidying = 'packages:remove-leftovers'
const day = 24 * 60 * 60 * 1000

/** What projects publish under names and versions. */
export function packages(services: PackageServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const { db } = services
  const blobs = new Blobs(path.join(services.dataDirectory, 'packages'))
  const registry = openRegistry(services, blobs)
  return {
    endpoints: [
      ...packageEndpoints(services),
      ...[genericEndpoints, npmEndpoints, npmTagEndpoints].flatMap((format) => format(registry)),
    ],
    tasks: [
      {
        name: removal,
        run: (payload) =>
          removeUnused(db, blobs, 'package_files', (payload as { digests: string[] }).digests),
      },
      {
        name: tidying,
        async run() {
          await blobs.removeLeftovers(day)
        },
      },
    ],
    schedules: [{ task: tidying, pattern: '33 5 * * *' }],
  }
}
