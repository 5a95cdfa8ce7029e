import path from 'node:path'
import { Blobs } from '../../blobs/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { AdmissionServices, Neighbour } from '../git-http/index.ts'
import type { LargeFileSource } from '../repository/index.ts'
import { largestPointer, readPointer } from './pointer.ts'
import { lfsNeighbour } from './routes.ts'
import { findObjects, mayHold, removeUnused } from './store.ts'

export { lfsGuard } from './guard.ts'
export { heldByOthers } from './lock-store.ts'
export { storedBytes as largeFileBytes } from './store.ts'
export { sealGrant, tokenLife, type LfsGrant } from './tokens.ts'

export interface LfsServices extends AdmissionServices {
  readonly cipher: Cipher
  readonly blobs: Blobs
}

const sweep = 'git-lfs:sweep'
/** Milliseconds after which an upload that broke off is forgotten. */
const day = 24 * 3600_000

/** Large files, which repositories only name: brought and fetched beside git, each once. */
export function gitLfs(services: Omit<LfsServices, 'blobs'> & { readonly dataDirectory: string }): {
  neighbour: Neighbour
  largeFiles: LargeFileSource
  tasks: Task[]
  schedules: Schedule[]
} {
  const blobs = new Blobs(path.join(services.dataDirectory, 'lfs'))
  return {
    neighbour: lfsNeighbour({ ...services, blobs }),
    largeFiles: {
      smallerThan: largestPointer,
      mayHold: (projectId) => mayHold(services.db.reader, projectId),
      async find(projectId, file) {
        const oid = readPointer(file)?.oid
        const [found] = oid === undefined ? [] : await findObjects(services.db.reader, projectId, [oid])
        return found && { ...found, read: (range) => blobs.read(found.oid, range) }
      },
    },
    tasks: [
      {
        name: sweep,
        async run() {
          await removeUnused(services.db, blobs)
          await blobs.removeLeftovers(day)
        },
      },
    ],
    schedules: [{ task: sweep, pattern: '41 3 * * *' }],
  }
}
