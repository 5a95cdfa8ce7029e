import type { ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events, Task } from '../../tasks/index.ts'
import type { Texts } from '../markdown/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import { evidenceTask } from './evidence.ts'
import { releaseEndpoints } from './routes.ts'
import { groupEndpoint } from './routes-group.ts'
import { leadingEndpoints } from './routes-latest.ts'

export { releaseLink, sourcesOf } from './entities.ts'
export type { ReleaseEvent } from './news.ts'
export { checkLink as checkReleaseLink } from './rules.ts'

export interface ReleaseServices {
  readonly db: Database
  readonly events: Events
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly externalUrl: () => string
  readonly texts: Pick<Texts, 'render'>
}

/** Releases of tags: a name, a text, and links to what was made of them. Jobs make them with `release`. */
export function releases(services: ReleaseServices): { endpoints: Endpoint[]; tasks: Task[] } {
  return {
    endpoints: [...releaseEndpoints(services), ...leadingEndpoints(services), groupEndpoint(services)],
    tasks: [evidenceTask(services.db)],
  }
}
