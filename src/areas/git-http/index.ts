import type { FastifyInstance } from 'fastify'
import type { Passwords, ProjectSubject, Throttles } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import type { SnippetHosting } from '../snippets/index.ts'
import type { WikiHosting } from '../wikis/index.ts'
import type { AdmissionServices } from './admission.ts'
import { mountGit, type Neighbour } from './routes.ts'
import type { TargetServices } from './target.ts'

export { drain } from './body.ts'
export { admit, type AdmissionServices } from './admission.ts'
export { admitDeployKey, type KnownDeployKey } from './deploy-key.ts'
export { readLogin } from './login.ts'
export { GitRefusal } from './refusal.ts'
export { shutOut, type Neighbour } from './routes.ts'
export { findWanted, lookupOf, openTarget, type Found } from './find-target.ts'
export { codeOf, codeTarget, missingAt, projectMissing, type Target, type TargetServices } from './target.ts'
export { notices } from './notices.ts'
export { checkWritable, wantedByPush } from './push-to-create.ts'
export { messagePrefix } from './transfer.ts'

/** Git over HTTP, under the addresses of projects, wikis and snippets: `/group/project.git`, `/snippets/7.git`. */
export function gitHttp(services: {
  db: Database
  log: Logger
  plan: Plan
  settings: Settings
  throttles: Throttles
  externalUrl: () => string
  sshPlace: () => { readonly host: string; readonly port: number }
  places: RepositoryPlaces
  door: RefDoor<ProjectSubject>
  passwords: Passwords
  wikis: WikiHosting
  snippets: SnippetHosting
  aliases: (name: string) => Promise<number | undefined>
  afterPush: TargetServices['afterPush']
  noteDownload: AdmissionServices['noteDownload']
  noteFetch: AdmissionServices['noteFetch']
  neighbours: readonly Neighbour[]
}): { mount: (server: FastifyInstance) => void } {
  return { mount: (server) => mountGit(server, services) }
}
