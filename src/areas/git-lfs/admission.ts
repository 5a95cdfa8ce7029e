import type { FastifyRequest } from 'fastify'
import { sql } from '../../kernel/db/index.ts'
import {
  enterById,
  entryProblem,
  isShownTo,
  project as projectKind,
  type Actor,
  type Login,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Service } from '../../git/index.ts'
import {
  admit,
  admitDeployKey,
  codeOf,
  GitRefusal,
  openTarget,
  projectMissing,
  readLogin,
  type KnownDeployKey,
} from '../git-http/index.ts'
import type { LfsServices } from './index.ts'
import { openGrant, type LfsGrant } from './tokens.ts'
import * as store from './store.ts'

export interface Admitted {
  readonly actor: Actor
  readonly project: ProjectSubject
}

/** Who asks, and whether he may read or write the code of this project; throws the refusal in git's words. */
export async function admitLfs(
  services: LfsServices,
  { headers, ip: address }: FastifyRequest,
  fullPath: string,
  writes: boolean,
): Promise<Admitted> {
  const login = readLogin(headers.authorization)
  const service = writes ? 'git-receive-pack' : 'git-upload-pack'
  const grant = grantOf(services, login)
  const admitted =
    grant === undefined
      ? await admitLogin(services, login, { fullPath, address }, service)
      : await admitGrant(services, grant, fullPath, service)
  const house = { values: services.settings.values, plan: services.plan }
  if (!isShownTo(admitted.project, admitted.actor, address, house)) throw new GitRefusal(404, projectMissing)
  const { enabled } = await store.factsOf(services.db.reader, admitted.project.id)
  if (!enabled) throw new GitRefusal(501, 'Git LFS is not enabled for this project.')
  return admitted
}

function grantOf({ cipher }: LfsServices, login: Login | 'unreadable' | undefined): LfsGrant | undefined {
  if (typeof login !== 'object') return undefined
  const grant = openGrant(cipher, login.password)
  if (grant === 'over') throw new GitRefusal(401, 'The token is not valid any more.')
  return grant
}

async function admitLogin(
  services: LfsServices,
  login: Login | 'unreadable' | undefined,
  asked: { readonly fullPath: string; readonly address: string },
  service: Service,
): Promise<Admitted> {
  const { actor, target } = await admit(services, login, asked, service)
  if (target.project === undefined) throw new GitRefusal(404, projectMissing)
  return { actor, project: target.project }
}

/** As they are now: a token gives nothing that its holder has lost since. */
async function admitGrant(
  services: LfsServices,
  grant: LfsGrant,
  fullPath: string,
  service: Service,
): Promise<Admitted> {
  if (service === 'git-receive-pack' && grant.operation !== 'upload') {
    throw new GitRefusal(403, 'This token is for downloads only.')
  }
  const admitted =
    grant.userId === null
      ? await admitDeployKey(services, await deployKey(services, grant.deployKeyId!), service, fullPath)
      : await admitUser(services, grant.userId, service, fullPath)
  if (admitted.project.id !== grant.projectId) throw new GitRefusal(404, projectMissing)
  return admitted
}

async function admitUser(
  services: LfsServices,
  userId: number,
  service: Service,
  fullPath: string,
): Promise<Admitted> {
  const { db, settings, externalUrl } = services
  const lookup = { id: fullPath, secretDigest: undefined }
  const { actor, subject } = await enterById<ProjectSubject>(db, projectKind, userId, lookup)
  if (actor?.user == null || subject === undefined) throw new GitRefusal(404, projectMissing)
  const problem = entryProblem(actor.user, { values: settings.values, externalUrl: externalUrl() })
  if (problem !== undefined) throw new GitRefusal(403, problem)
  await openTarget(actor, codeOf(services, subject), service)
  return { actor, project: subject }
}

async function deployKey({ db }: LfsServices, id: number): Promise<KnownDeployKey> {
  const { rows } = await sql<KnownDeployKey>`
    select k.id, k.title, k.creator_id from ssh_keys k
    where k.id = ${id} and k.kind = 'deploy' and (k.expires_at is null or k.expires_at > now())`.execute(
    db.reader,
  )
  if (rows[0] === undefined) throw new GitRefusal(401, 'The token is not valid any more.')
  return rows[0]
}
