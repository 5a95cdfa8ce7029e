import type { FastifyInstance } from 'fastify'
import type { ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import { matchesPassword } from '../users/index.ts'
import { mountGit } from './routes.ts'

export { drain } from './body.ts'
export { readLogin } from './login.ts'

/** Git over HTTP, under the addresses of projects: `/group/project.git`. */
export function gitHttp(services: {
  db: Database
  log: Logger
  externalUrl: () => string
  places: RepositoryPlaces
  door: RefDoor<ProjectSubject>
}): { mount: (server: FastifyInstance) => void } {
  return { mount: (server) => mountGit(server, { ...services, matchesPassword }) }
}
