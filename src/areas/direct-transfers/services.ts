import type { ProjectSubject } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { LargeContent } from '../git-lfs/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { WikiHosting } from '../wikis/index.ts'

/** What the area is built from. */
export interface TransferServices {
  readonly db: Database
  readonly settings: Settings
  readonly plan: Plan
  readonly events: Events
  readonly cipher: Cipher
  readonly log: Logger
  readonly outbound: Outbound
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly wikis: WikiHosting
  readonly externalUrl: () => string
  readonly largeContent: LargeContent
  readonly dataDirectory: string
}

export interface TransferRoom extends TransferServices {
  /** Folder for what is being fetched and unpacked. */
  readonly workplace: string
}

/** Where the token for a source is kept. */
export const tokenContext = 'bulk_imports.access_token'
