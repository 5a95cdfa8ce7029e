import type { Plan } from '../../kernel/config/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'

/** What the area is built from. */
export interface UserServices {
  readonly db: Database
  readonly settings: Settings
  readonly plan: Plan
  readonly mail: Mailer
  readonly cipher: Cipher
  readonly externalUrl: () => string
  /** What others must do, in the same transaction, before a personal namespace goes with all that is in it. */
  readonly beforeRemoval: (tx: Tx, namespaceId: number) => Promise<void>
  /** Removes all that somebody has said in discussions. */
  readonly removeNotes: (tx: Tx, userId: number) => Promise<void>
}
