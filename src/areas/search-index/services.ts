import type { Database, Notifications } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import type { Bulks } from './bulk.ts'
import type { Cluster } from './cluster.ts'
import type { Keeper } from './keeper.ts'

/** What this area is built from. */
export interface IndexServices {
  readonly db: Database
  readonly notifications: Notifications
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly log: Logger
}

/** What its parts share. */
export interface IndexRoom extends IndexServices {
  readonly cluster: Cluster
  readonly keeper: Keeper
  readonly bulks: Bulks
}

/** Milliseconds for requests of the index, where the instance says nothing else. */
const usual = 60_000

export function patience({ values }: Pick<Settings, 'values'>): number {
  const seconds = values.elasticsearch_client_request_timeout
  return seconds === 0 ? usual : Math.min(seconds, 3600) * 1000
}
