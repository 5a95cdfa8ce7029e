import path from 'node:path'
import { Blobs, removeUnused } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { runPackagePolicies } from './cleanup.ts'
import { openRegistry } from './formats.ts'
import { helmEndpoints } from './helm/routes.ts'
import { mavenEndpoints } from './maven/routes.ts'
import { npmEndpoints } from './npm/routes.ts'
import { npmTagEndpoints } from './npm/routes-tags.ts'
import { nugetEndpoints } from './nuget/routes.ts'
import { pypiEndpoints } from './pypi/routes.ts'
import { genericEndpoints } from './routes-generic.ts'
import { cleanupEndpoints } from './routes-cleanup.ts'
import { packageEndpoints } from './routes-packages.ts'

export interface PackageServices {
  readonly db: Database
  readonly settings: Settings
  readonly log: Logger
  readonly dataDirectory: string
  readonly externalUrl: () => string
}

/** The database itself puts this one into the queue, when files go (migration 0202). */
const removal = 'packages:remove-content'
const tidying = 'packages:remove-leftovers'
const cleanup = 'packages:cleanup-policies'
const day = 24 * 60 * 60 * 1000

const formats = [
  ...[genericEndpoints, npmEndpoints, npmTagEndpoints, pypiEndpoints, mavenEndpoints],
  ...[helmEndpoints, nugetEndpoints],
]

export { runPackagePolicies } from './cleanup.ts'

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
      ...cleanupEndpoints(services),
      ...formats.flatMap((format) => format(registry)),
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
      { name: cleanup, run: () => runPackagePolicies(services) },
    ],
    schedules: [
      { task: tidying, pattern: '33 5 * * *' },
      { task: cleanup, pattern: '7 * * * *' },
    ],
  }
}
