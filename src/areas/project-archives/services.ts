import type { ProjectSubject } from '../../access/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { WikiHosting } from '../wikis/index.ts'

/** What the area is built from. */
export interface ArchiveServices {
  readonly db: Database
  readonly settings: Settings
  readonly log: Logger
  readonly outbound: Outbound
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly wikis: WikiHosting
  readonly externalUrl: () => string
  readonly dataDirectory: string
}

export interface ArchiveRoom extends ArchiveServices {
  /** The archives. */
  readonly blobs: Blobs
  /** Folder for what is being packed and unpacked. */
  readonly workplace: string
}
