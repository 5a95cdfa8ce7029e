import type { ProjectSubject } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { WikiHosting } from '../wikis/index.ts'
import type { PublicHosts } from './hosts.ts'

/** What the area is built from. */
export interface HostImportServices {
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
  readonly dataDirectory: string
  /** Where the hosts are that everybody knows. */
  readonly importHosts: PublicHosts
}

export interface HostImportRoom extends HostImportServices {
  /** Folder for what is being fetched. */
  readonly workplace: string
}

/** Where the credentials for a host are kept. */
export const credentialsContext = 'host_imports.credentials'
