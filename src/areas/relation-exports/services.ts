import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { LargeContent } from '../git-lfs/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import type { WikiHosting } from '../wikis/index.ts'

/** What the area is built from. */
export interface RelationExportServices {
  readonly db: Database
  readonly settings: Settings
  readonly log: Logger
  readonly places: RepositoryPlaces
  readonly wikis: WikiHosting
  readonly largeContent: LargeContent
  readonly dataDirectory: string
}

export interface RelationExportRoom extends RelationExportServices {
  /** The files. */
  readonly blobs: Blobs
  /** Folder for what is being packed. */
  readonly workplace: string
}
