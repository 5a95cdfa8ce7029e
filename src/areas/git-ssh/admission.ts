import {
  anonymous,
  deployKeyMayDownload,
  deployKeyMayUpload,
  enter,
  enterById,
  entryProblem,
  isWriter,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import {
  codeTarget,
  findWanted,
  GitRefusal,
  lookupOf,
  openTarget,
  projectMissing,
  type Target,
} from '../git-http/index.ts'
import type { GitCommand } from './command.ts'
import type { SshServices } from './index.ts'
import * as store from './store.ts'

export interface Admitted {
  readonly actor: Actor
  readonly target: Target
  /** Reached by a path that the project had before. */
  readonly moved: boolean
}

/** Whether this key may do this to that repository; throws the refusal in git's words. */
export async function admit(
  services: SshServices,
  key: store.KnownKey,
  { service, fullPath }: GitCommand,
): Promise<Admitted> {
  if (services.settings.values.enabled_git_access_protocol === 'http') {
    throw new GitRefusal(403, 'Git access over SSH is not allowed')
  }
  if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) {
    throw new GitRefusal(403, 'Your SSH key has expired.')
  }
  checkRate(services, key, { service, fullPath })
  if (services.settings.values.maintenance_mode && service === 'git-receive-pack') {
    throw new GitRefusal(403, services.settings.values.maintenance_mode_message ?? underMaintenance)
  }
  return key.user_id === null
    ? admitDeployKey(services, key, service, fullPath)
    : admitUser(services, key.user_id, service, fullPath)
}

const underMaintenance = 'Guildhall is undergoing maintenance'

/** As many operations of a kind a minute as the instance lets one key make on one repository. */
function checkRate(
  { settings, counts }: SshServices,
  key: store.KnownKey,
  { service, fullPath }: GitCommand,
): void {
  const most = settings.values.gitlab_shell_operation_limit
  if (most === 0) return
  const caller = key.user_id === null ? `key ${key.id}` : `user ${key.user_id}`
  const { count } = counts.add('gitlab_shell_operation_limit', `${caller} ${service} ${fullPath}`, 60)
  if (count > most) {
    throw new GitRefusal(429, 'This endpoint has been requested too many times. Try again later.')
  }
}

async function admitUser(
  services: SshServices,
  userId: number,
  service: GitCommand['service'],
  fullPath: string,
): Promise<Admitted> {
  const { actor, wanted, redirect } = await findWanted(services, fullPath, (kind, path) =>
    enterById(services.db, kind, userId, { id: path, secretDigest: undefined }),
  )
  if (actor?.user == null) throw new GitRefusal(404, projectMissing)
  const house = { values: services.settings.values, externalUrl: services.externalUrl() }
  const problem = entryProblem(actor.user, house)
  if (problem !== undefined) throw new GitRefusal(403, problem)
  if (wanted === undefined) throw new GitRefusal(404, projectMissing)
  return { actor, target: await openTarget(actor, wanted, service), moved: redirect }
}

/** A deploy key is for code alone. */
async function admitDeployKey(
  services: SshServices,
  { id, title, creator_id }: store.KnownKey,
  service: GitCommand['service'],
  fullPath: string,
): Promise<Admitted> {
  const { db } = services
  const nobody = { kind: 'none', digest: undefined, sudo: undefined } as const
  const lookup = { id: await lookupOf(services, fullPath), secretDigest: undefined }
  const { subject, redirect } = await enter<ProjectSubject>(db, projectKind, nobody, lookup)
  if (subject === undefined) throw new GitRefusal(404, projectMissing)
  const facts = await store.deployFacts(db.reader, id, subject.id)
  const deployKey = {
    id,
    title,
    ownerId: creator_id,
    enabled: facts.enabled,
    canPush: facts.can_push,
    ownerMayWrite: isWriter(facts.owner_role, facts.owner_admin),
  }
  if (!deployKeyMayDownload(deployKey, subject)) throw new GitRefusal(404, projectMissing)
  if (service === 'git-receive-pack') {
    if (subject.archived) throw new GitRefusal(403, "You can't push code to an archived project.")
    if (!deployKeyMayUpload(deployKey, subject)) {
      throw new GitRefusal(403, 'This deploy key does not have write access to this project.')
    }
  }
  const actor = { ...anonymous, deployKey }
  return { actor, target: codeTarget(services, subject), moved: redirect }
}
