import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { WikiCommits } from './commit.ts'
import { WikiDoor } from './door.ts'
import { tellPages } from './events.ts'
import { LastVersions } from './history.ts'
import { housekeeping } from './housekeeping.ts'
import { wikiHosting, type WikiHosting } from './hosting.ts'
import { groupPlace, projectPlace } from './owners.ts'
import { PageIndexes } from './pages/find.ts'
import { historyEndpoints } from './routes/history.ts'
import { pageEndpoints } from './routes/pages.ts'
import { searchWiki } from './search.ts'
import type { WikiRoom, WikiServices } from './services.ts'

export { placeOf as placeOfWiki, type WikiPushEvent } from './door.ts'
export { FoundBlob } from './entities.ts'
export type { WikiPageEvent } from './events.ts'
export { pageName as wikiPageName } from './pages/files.ts'
export type { WikiHosting } from './hosting.ts'

/** Whose wiki is searched for what, and which page of the answer is wanted. */
export type WikiSearch =
  Parameters<typeof searchWiki> extends [unknown, ...infer Wanted]
    ? (...wanted: Wanted) => ReturnType<typeof searchWiki>
    : never

/** Wikis of projects and groups: repositories of pages. */
export function wikis(services: WikiServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
  /** For those who let git clients in. */
  hosting: WikiHosting
  /** The pages that hold a text, of a project or group whose wiki the caller reads. */
  search: WikiSearch
} {
  const door = new WikiDoor(services)
  const room: WikiRoom = {
    ...services,
    door,
    indexes: new PageIndexes(),
    commits: new WikiCommits(door),
    largestPage: () => services.settings.values.wiki_page_max_content_bytes,
  }
  const lastVersions = new LastVersions()
  services.events.subscribe('wiki_push', 'wikis:tell-pages', tellPages(services, door))
  return {
    endpoints: [
      ...pageEndpoints(room, lastVersions, projectPlace),
      ...pageEndpoints(room, lastVersions, groupPlace),
      ...historyEndpoints(room, projectPlace),
      ...historyEndpoints(room, groupPlace),
    ],
    ...housekeeping(services, door),
    start: () => recoverAtStart(room),
    hosting: wikiHosting(room),
    search: (...wanted) => searchWiki(room, ...wanted),
  }
}

/** Settles beside the first requests what a crash has left. */
async function recoverAtStart({ door, log }: WikiRoom): Promise<AsyncDisposable> {
  const recovering = door.recover().catch((error: unknown) => {
    log.warn({ err: error }, 'could not settle the wiki updates of a crash')
  })
  return { [Symbol.asyncDispose]: () => recovering }
}
