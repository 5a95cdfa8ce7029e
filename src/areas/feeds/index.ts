import type { Database } from '../../kernel/db/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import type { Neighbour } from '../git-http/index.ts'
import { feedNeighbour } from './pages.ts'
import { tokenEndpoints } from './routes.ts'

export interface FeedServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly plan: Plan
  /** Without a slash at the end. */
  readonly externalUrl: () => string
}

/** Issues for readers of news and calendars, which know no sign-in but a token in the address. */
export function feeds(services: FeedServices): {
  endpoints: Endpoint[]
  /** For who answers the addresses of projects. */
  neighbour: Neighbour
} {
  return { endpoints: tokenEndpoints(services), neighbour: feedNeighbour(services) }
}
