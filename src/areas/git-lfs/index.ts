import { removeLeftovers, type Content } from '../../blobs/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import type { AdmissionServices, Neighbour } from '../git-http/index.ts'
import type { BringLargeFiles } from '../mirrors/index.ts'
import type { LargeFileSource } from '../repository/index.ts'
import { bringLargeFiles } from './bringing.ts'
import { digestOfOid, largestPointer, readPointer } from './pointer.ts'
import { lfsNeighbour } from './routes.ts'
import { findObjects, mayHold, removeUnused } from './store.ts'

export { lfsGuard } from './guard.ts'
export { heldByOthers } from './lock-store.ts'
export type { UnlockEvent } from './locks.ts'
export { storedBytes as largeFileBytes } from './store.ts'
export { keepLargeFile, readLargeFile } from './transfer.ts'
export { sealGrant, tokenLife, type LfsGrant } from './tokens.ts'

export interface LfsServices extends AdmissionServices {
  readonly cipher: Cipher
  readonly events: Events
  readonly outbound: Outbound
  readonly largeContent: LargeContent
}

/** Where the content of large files is kept. */
export interface LargeContent {
  readonly content: Content
  /** A folder in which it gathers as it comes in. */
  readonly incoming: string
}

const sweep = 'git-lfs:sweep'
/** Milliseconds after which an upload that broke off is forgotten. */
const day = 24 * 3600_000

/** Large files, which repositories only name: brought and fetched beside git, each once. */
export function gitLfs(services: LfsServices): {
  neighbour: Neighbour
  largeFiles: LargeFileSource
  bring: BringLargeFiles
  tasks: Task[]
  schedules: Schedule[]
} {
  const { content, incoming } = services.largeContent
  return {
    neighbour: lfsNeighbour(services),
    largeFiles: {
      smallerThan: largestPointer,
      mayHold: (projectId) => mayHold(services.db.reader, projectId),
      async find(projectId, file) {
        const oid = readPointer(file)?.oid
        const [found] = oid === undefined ? [] : await findObjects(services.db.reader, projectId, [oid])
        return found && { ...found, read: (range) => content.read(digestOfOid(found.oid), range) }
      },
    },
    bring: bringLargeFiles(services),
    tasks: [
      {
        name: sweep,
        async run() {
          await removeUnused(services.db, content)
          await removeLeftovers(incoming, day)
        },
      },
    ],
    schedules: [{ task: sweep, pattern: '41 3 * * *' }],
  }
}
