import {
  accountProblem,
  anonymous,
  decide,
  deployKeyMayDownload,
  deployKeyMayUpload,
  enter,
  enterById,
  isWriter,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { GitRefusal, projectMissing } from '../git-http/index.ts'
import type { GitCommand } from './command.ts'
import type { SshServices } from './index.ts'
import * as store from './store.ts'

export interface Admitted {
  readonly actor: Actor
  readonly project: ProjectSubject
  /** Reached by a path that the project had before. */
  readonly moved: boolean
}

/** Whether this key may do this to that project; throws the refusal in git's words. */
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
  return key.user_id === null
    ? admitDeployKey(services, key, service, fullPath)
    : admitUser(services, key.user_id, service, fullPath)
}

async function admitUser(
  { db }: SshServices,
  userId: number,
  service: GitCommand['service'],
  fullPath: string,
): Promise<Admitted> {
  const lookup = { id: fullPath, secretDigest: undefined }
  const { actor, subject, redirect } = await enterById<ProjectSubject>(db, projectKind, userId, lookup)
  if (actor?.user == null) throw new GitRefusal(404, projectMissing)
  const problem = accountProblem(actor.user)
  if (problem !== undefined) throw new GitRefusal(403, problem)
  if (subject === undefined) throw new GitRefusal(404, projectMissing)
  mustTransfer(actor, subject, service)
  return { actor, project: subject, moved: redirect }
}

function mustTransfer(actor: Actor, subject: ProjectSubject, service: GitCommand['service']): void {
  const fetches = service === 'git-upload-pack'
  const { allowed, hidden } = decide(actor, fetches ? 'download_code' : 'upload_code', subject)
  if (hidden) throw new GitRefusal(404, projectMissing)
  if (allowed) return
  if (fetches) throw new GitRefusal(403, 'You are not allowed to download code from this project.')
  if (subject.archived) throw new GitRefusal(403, "You can't push code to an archived project.")
  throw new GitRefusal(403, 'You are not allowed to push code to this project.')
}

async function admitDeployKey(
  { db }: SshServices,
  { id, title, creator_id }: store.KnownKey,
  service: GitCommand['service'],
  fullPath: string,
): Promise<Admitted> {
  const nobody = { kind: 'none', digest: undefined, sudo: undefined } as const
  const lookup = { id: fullPath, secretDigest: undefined }
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
  return { actor: { ...anonymous, deployKey }, project: subject, moved: redirect }
}
