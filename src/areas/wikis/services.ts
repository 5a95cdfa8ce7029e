import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import { parseRev, resolve, type Oid, type Repository } from '../../git/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { Texts } from '../markdown/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { branchOf, type WikiCommits } from './commit.ts'
import type { WikiDoor } from './door.ts'
import type { Owner } from './owners.ts'
import type { PageIndexes } from './pages/find.ts'
import * as store from './store.ts'
import type { Wiki } from './store.ts'

/** What this area is built from. */
export interface WikiServices {
  readonly db: Database
  readonly log: Logger
  readonly settings: Settings
  readonly events: Events
  readonly places: RepositoryPlaces
  /** Makes pages readable. */
  readonly texts: Texts
  readonly externalUrl: () => string
}

/** What its endpoints share. */
export interface WikiRoom extends WikiServices {
  readonly door: WikiDoor
  readonly indexes: PageIndexes
  readonly commits: WikiCommits
  /** Bytes that a page may have. */
  readonly largestPage: () => number
}

/** A commit of a wiki to look at. */
export interface Place {
  readonly repository: Repository
  readonly commit: Oid
}

/** The present pages; undefined while nothing was written. */
export async function present({ door }: WikiRoom, wiki: Wiki | undefined): Promise<Place | undefined> {
  if (wiki === undefined || wiki.empty) return undefined
  const repository = door.of(wiki)
  const commit = await resolve(repository, branchOf(wiki))
  return commit === undefined ? undefined : { repository, commit }
}

/** The pages as they were; `404 Wiki Page Not Found` for what is no commit. */
export async function asOf({ door }: WikiRoom, wiki: Wiki | undefined, version: string): Promise<Place> {
  const rev = /^[0-9a-f]{7,40}$/i.test(version) ? parseRev(version) : undefined
  if (wiki === undefined || wiki.empty || rev === undefined) throw notFound('Wiki Page')
  const repository = door.of(wiki)
  const commit = await resolve(repository, rev)
  if (commit === undefined) throw notFound('Wiki Page')
  return { repository, commit }
}

/** The wiki to write to, made when there is none. */
export async function writable(
  { db, settings }: WikiRoom,
  owner: Owner,
  wiki: Wiki | undefined,
): Promise<Wiki> {
  return wiki ?? store.ensure(db.writer, owner, settings.values.default_branch_name ?? 'main')
}
