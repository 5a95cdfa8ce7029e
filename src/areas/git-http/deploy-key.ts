import {
  anonymous,
  deployKeyMayDownload,
  deployKeyMayUpload,
  enter,
  noCredentials,
  isWriter,
  letsMachinesIn,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Service } from '../../git/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import { lookupOf } from './find-target.ts'
import { GitRefusal } from './refusal.ts'
import { projectMissing, type TargetServices } from './target.ts'

export interface KnownDeployKey {
  readonly id: number
  readonly title: string
  readonly creator_id: number | null
}

/** Who comes with a deploy key, which is for code alone. Throws the refusal in git's words. */
export async function admitDeployKey(
  services: Pick<TargetServices, 'aliases'> & {
    readonly db: Database
    readonly plan: Plan
    readonly settings: Settings
  },
  { id, title, creator_id }: KnownDeployKey,
  service: Service,
  fullPath: string,
): Promise<{ readonly actor: Actor; readonly project: ProjectSubject; readonly moved: boolean }> {
  const { db, settings } = services
  if (!letsMachinesIn(settings.values)) throw new GitRefusal(403, 'Deploy keys are not allowed here.')
  const lookup = { id: await lookupOf(services, fullPath), secretDigest: undefined }
  const { subject, redirect } = await enter<ProjectSubject>(db, projectKind, noCredentials, lookup)
  if (subject === undefined) throw new GitRefusal(404, projectMissing)
  const facts = await factsOf(db.reader, id, subject.id)
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

interface Facts {
  readonly enabled: boolean
  readonly can_push: boolean
  readonly owner_role: number | null
  readonly owner_admin: boolean
}

/** What a deploy key is in a project, and what its owner is there. */
async function factsOf(db: Reader, keyId: number, projectId: number): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select d.deploy_key_id is not null as enabled, coalesce(d.can_push, false) as can_push,
      coalesce(u.admin and u.state = 'active', false) as owner_admin, (
        select max(m.access_level) from projects p join namespaces n on n.id = p.namespace_id,
          effective_memberships(n.traversal_ids, p.id) m
        where p.id = ${projectId} and m.user_id = u.id and u.state = 'active') as owner_role
    from ssh_keys k left join deploy_key_projects d on d.deploy_key_id = k.id and d.project_id = ${projectId}
      left join users u on u.id = k.creator_id
    where k.id = ${keyId}`.execute(db)
  return rows[0] ?? { enabled: false, can_push: false, owner_role: null, owner_admin: false }
}
