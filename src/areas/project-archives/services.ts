import type { ProjectSubject } from '../../access/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { WikiHosting } from '../wikis/index.ts'
import type { FileRoom } from './files.ts'

/** What the area is built from. */
export interface ArchiveServices extends FileRoom {
  readonly log: Logger
  readonly outbound: Outbound
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly wikis: WikiHosting
  readonly externalUrl: () => string
}

export interface ArchiveRoom extends ArchiveServices {
  /** The archives. */
  readonly blobs: Blobs
  /** Folder for what is being packed and unpacked. */
  readonly workplace: string
}
