import type { ProjectSubject } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { Texts } from '../markdown/index.ts'
import type { Mailer } from '../../mail/index.ts'
import type { PipelineCreator } from '../pipelines/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'

/** What this area is built from. */
export interface MergeRequestServices {
  readonly db: Database
  readonly events: Events
  readonly log: Logger
  readonly settings: Settings
  /** Tells how people are told that their account is locked. */
  readonly mail: Mailer
  readonly plan: Plan
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly creator: PipelineCreator
  readonly texts: Texts
  readonly externalUrl: () => string
}
