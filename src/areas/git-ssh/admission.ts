import { enterById, entryProblem, type Actor } from '../../access/index.ts'
import {
  admitDeployKey,
  codeTarget,
  findWanted,
  GitRefusal,
  openTarget,
  projectMissing,
  type Target,
} from '../git-http/index.ts'
import type { GitCommand } from './command.ts'
import type { SshServices } from './index.ts'
import { requireSecondFactor } from './second-factor.ts'
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
  await requireSecondFactor(services, key)
  if (services.settings.values.maintenance_mode && service === 'git-receive-pack') {
    throw new GitRefusal(403, services.settings.values.maintenance_mode_message ?? underMaintenance)
  }
  if (key.user_id !== null) return admitUser(services, key.user_id, service, fullPath)
  const { actor, project, moved } = await admitDeployKey(services, key, service, fullPath)
  return { actor, target: codeTarget(services, project), moved }
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
