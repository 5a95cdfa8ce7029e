import {
  enterById,
  entryProblem,
  instance,
  isShownTo,
  type Actor,
  type GroupSubject,
  type InstanceSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import {
  admitDeployKey,
  checkWritable,
  codeTarget,
  findWanted,
  GitRefusal,
  missingAt,
  openTarget,
  projectMissing,
  wantedByPush,
  type Found,
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

/**
 * Whether this key may do this to that repository. `creates`: where nothing is, a project is made for whoever may. Throws
 * the refusal in git's words.
 */
export async function admit(
  services: SshServices,
  key: store.KnownKey,
  command: GitCommand & { readonly creates?: boolean },
  address: string,
): Promise<Admitted> {
  const { service, fullPath, creates = false } = command
  checkKey(services, key)
  checkRate(services, key, command)
  await requireSecondFactor(services, key)
  if (service === 'git-receive-pack') checkWritable(services)
  const of = { service, fullPath, address, creates }
  return key.user_id === null ? ofDeployKey(services, key, of) : ofUser(services, key.user_id, of)
}

/** The user that a key is of, where he may do something about his account now. */
export async function admitHolder(services: SshServices, key: store.KnownKey): Promise<number> {
  checkKey(services, key)
  if (key.user_id === null) throw new GitRefusal(403, 'A deploy key is of no account.')
  const lookup = { id: '', secretDigest: undefined }
  const { actor } = await enterById<InstanceSubject>(services.db, instance, key.user_id, lookup)
  if (actor?.user == null) throw new GitRefusal(403, 'There is no such account.')
  const house = { values: services.settings.values, externalUrl: services.externalUrl() }
  const problem = entryProblem(actor.user, house)
  if (problem !== undefined) throw new GitRefusal(403, problem)
  return key.user_id
}

function checkKey(services: SshServices, key: store.KnownKey): void {
  if (services.settings.values.enabled_git_access_protocol === 'http') {
    throw new GitRefusal(403, 'Git access over SSH is not allowed')
  }
  if (key.expires_at !== null && key.expires_at.getTime() <= Date.now()) {
    throw new GitRefusal(403, 'Your SSH key has expired.')
  }
}

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

interface Asked {
  readonly service: GitCommand['service']
  readonly fullPath: string
  readonly address: string
  readonly creates: boolean
}

async function ofUser(services: SshServices, userId: number, asked: Asked): Promise<Admitted> {
  const find = (): Promise<Found> =>
    findWanted(services, asked.fullPath, (kind, path) =>
      enterById(services.db, kind, userId, { id: path, secretDigest: undefined }),
    )
  const { actor, redirect, ...found } = await find()
  if (actor?.user == null) throw new GitRefusal(404, projectMissing)
  const house = { values: services.settings.values, externalUrl: services.externalUrl() }
  const problem = entryProblem(actor.user, house)
  if (problem !== undefined) throw new GitRefusal(403, problem)
  const wanted = asked.creates ? await wantedByPush(services, actor, asked, found.wanted, find) : found.wanted
  if (wanted === undefined) throw new GitRefusal(404, missingAt(asked.fullPath))
  if (wanted.subject !== undefined) checkAddress(services, wanted.subject, actor, asked)
  return { actor, target: await openTarget(actor, wanted, asked.service), moved: redirect }
}

/** A deploy key is for code alone. */
async function ofDeployKey(services: SshServices, key: store.KnownKey, asked: Asked): Promise<Admitted> {
  const { actor, project, moved } = await admitDeployKey(services, key, asked.service, asked.fullPath)
  checkAddress(services, project, actor, asked)
  return { actor, target: codeTarget(services, project), moved }
}

/** Groups may be shown to some addresses only. */
function checkAddress(
  { settings, plan }: SshServices,
  subject: ProjectSubject | GroupSubject,
  actor: Actor,
  { address, fullPath }: Asked,
): void {
  if (isShownTo(subject, actor, address, { values: settings.values, plan })) return
  throw new GitRefusal(404, missingAt(fullPath))
}
