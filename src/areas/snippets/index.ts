import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import type { SpamGuard } from '../spam/index.ts'
import { SnippetFiles } from './files.ts'
import { snippetHosting, type SnippetHosting } from './hosting.ts'
import { housekeeping } from './housekeeping.ts'
import { personalPlace, projectPlace } from './places.ts'
import { listEndpoint, snippetEndpoints } from './routes.ts'

export interface SnippetServices {
  readonly db: Database
  readonly log: Logger
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly spam: SpamGuard
  readonly externalUrl: () => string
  /** Of a repository, for clients that come by SSH. */
  readonly sshAddress: (path: string) => string
}

export { snippet, Snippet, type SnippetRow } from './entities.ts'
export { titled as searchSnippets } from './store.ts'
export { viewOf as snippetView } from './view.ts'
export type { HostedSnippet, SnippetHosting } from './hosting.ts'

/** What the endpoints share. */
export interface SnippetRoom extends SnippetServices {
  readonly files: SnippetFiles
}

/** Snippets of projects and of users: a few files in a repository of their own. */
export function snippets(services: SnippetServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
  hosting: SnippetHosting
} {
  const files = new SnippetFiles(services)
  const room: SnippetRoom = { ...services, files }
  return {
    endpoints: [
      listEndpoint(room, projectPlace, {
        path: '/projects/:id/snippets',
        kind: 'project',
        may: 'read_snippet',
        summary: 'List the snippets of a project',
      }),
      listEndpoint(room, personalPlace, {
        path: '/snippets',
        kind: 'own',
        may: 'read_instance',
        summary: 'List the snippets that the caller wrote',
      }),
      listEndpoint(room, personalPlace, {
        path: '/snippets/public',
        kind: 'public',
        may: 'read_instance',
        summary: 'List the public snippets of users',
      }),
      listEndpoint(room, personalPlace, {
        path: '/snippets/all',
        kind: 'all',
        may: 'admin_instance',
        summary: 'List every snippet, as an administrator',
      }),
      ...snippetEndpoints(room, projectPlace),
      ...snippetEndpoints(room, personalPlace),
    ],
    ...housekeeping(services, files),
    hosting: snippetHosting(room),
    async start() {
      const recovering = files.recover().catch((error: unknown) => {
        services.log.warn({ err: error }, 'could not settle the snippets of a crash')
      })
      return { [Symbol.asyncDispose]: () => recovering }
    },
  }
}
