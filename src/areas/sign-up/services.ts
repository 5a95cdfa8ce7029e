import type { Database, Tx } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Texts } from '../markdown/index.ts'
import type { Captcha } from '../spam/index.ts'

/** What the area is built from. */
export interface SignUpServices {
  readonly db: Database
  readonly settings: Settings
  readonly mail: Mailer
  readonly cipher: Cipher
  readonly texts: Texts
  readonly captcha: Captcha
  readonly externalUrl: () => string
  /** What others must do, in the same transaction, before a personal namespace goes with all that is in it. */
  readonly beforeRemoval: (tx: Tx, namespaceId: number) => Promise<void>
}
