import {
  admits,
  may,
  mayStartRepository,
  opensToDevelopers,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import {
  branchName,
  isAncestor,
  listBranches,
  type ProposedUpdate,
  type RefGuard,
  type Refusal,
  type Repository,
} from '../../git/index.ts'
import type { Database, Reader, Tx } from '../../kernel/db/index.ts'
import type { Settings, SettingValues } from '../../settings/index.ts'
import { levelEntry } from './requested.ts'
import { protectionOf, refusal, type BranchRule } from './rules.ts'
import * as store from './store.ts'

export interface GuardServices {
  readonly db: Database
  readonly settings: Settings
  readonly repositoryOf: (project: ProjectSubject) => Repository
  readonly externalUrl: () => string
}

/** Who moves refs, of what, and whether over git or through the API and the pages. */
export interface Mover {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly via: 'git' | 'web'
}

/** The rules of protected branches, as the ref door asks them: for every update, whoever makes it. */
export function branchGuard(services: GuardServices, { actor, project, via }: Mover): RefGuard {
  return {
    async check({ updates, objects }) {
      const branches = updates.flatMap((update) => {
        const branch = branchName(update.ref)
        return branch === undefined ? [] : [{ update, branch }]
      })
      if (branches.length === 0) return []
      const rules = await store.rulesOf(services.db.reader, project.id, actor.user?.id ?? null)
      const refusals: Refusal[] = []
      for (const { update, branch } of branches) {
        const message = await refuseBranch(
          services,
          { actor, project, via },
          { update, branch, rules, objects },
        )
        if (message !== undefined) refusals.push({ ref: update.ref, message })
      }
      return refusals
    },
  }
}

interface Question {
  readonly update: ProposedUpdate
  readonly branch: string
  readonly rules: readonly BranchRule[]
  readonly objects: Repository
}

async function refuseBranch(
  services: GuardServices,
  { actor, project, via }: Mover,
  { update, branch, rules, objects }: Question,
): Promise<string | undefined> {
  if (project.repositoryEmpty && !update.isDeletion && !(await mayStart(services, actor, project))) {
    return startRefusal(services.externalUrl(), project)
  }
  const protection = protectionOf(branch, rules)
  const mayPush = protection !== undefined && admits(protection.push, actor, project)
  return refusal({
    branch,
    kind: update.isCreation ? 'create' : update.isDeletion ? 'delete' : 'update',
    isDefault: branch === project.defaultBranch,
    isForced: () => update.isForced(),
    onProtectedBranch: () =>
      liesOnProtectedBranch(services.repositoryOf(project), objects, project, update, rules),
    via,
    protection,
    may: {
      push: mayPush,
      merge: mayPush || (protection !== undefined && admits(protection.merge, actor, project)),
      deleteProtected: may(actor, 'admin_protected_branch', project),
    },
  })
}

/** The first push: Maintainers; Developers where the default protection lets them push or start a repository. */
async function mayStart(
  { db, settings }: GuardServices,
  actor: Actor,
  project: ProjectSubject,
): Promise<boolean> {
  const defaults = await defaultProtection(db.reader, settings, project.id)
  const levels = (defaults.allowed_to_push ?? []).map((entry) => entry.access_level)
  const developersToo =
    defaults.developer_can_initial_push === true || levels.length === 0 || opensToDevelopers(levels)
  return mayStartRepository(actor, project, developersToo)
}

function startRefusal(url: string, { fullPath }: ProjectSubject): string {
  return `A default branch (e.g. main) does not yet exist for ${fullPath}\nAsk a project Owner or Maintainer to create a default branch:\n\n  ${url}/${fullPath}/-/project_members\n`
}

async function liesOnProtectedBranch(
  repository: Repository,
  objects: Repository,
  project: ProjectSubject,
  { newOid }: ProposedUpdate,
  rules: readonly BranchRule[],
): Promise<boolean> {
  const branches = await listBranches(repository, project.refsVersion)
  for (const { name, oid } of branches) {
    if (protectionOf(name, rules) !== undefined && (await isAncestor(objects, newOid, oid))) return true
  }
  return false
}

/** The rule that the default branch gets with the first push, by its default protection; none when that has no entries. */
export async function protectFirstBranch(
  tx: Tx,
  settings: Settings,
  projectId: number,
  branch: string,
): Promise<void> {
  const defaults = await defaultProtection(tx, settings, projectId)
  const entries = (['push', 'merge'] as const).flatMap((action) =>
    (defaults[`allowed_to_${action}`] ?? []).map(({ access_level }) => levelEntry(action, access_level)),
  )
  const owner = { kind: 'project', id: projectId } as const
  if (entries.length === 0 || (await store.find(tx, owner, branch, null)) !== undefined) return
  await store.create(tx, owner, {
    name: branch,
    allowForcePush: defaults.allow_force_push ?? false,
    codeOwnerApprovalRequired: defaults.code_owner_approval_required ?? false,
    entries,
  })
}

type DefaultProtection = SettingValues['default_branch_protection_defaults']

/** That of the nearest group with one of its own, else the instance's. */
async function defaultProtection(
  db: Reader,
  settings: Settings,
  projectId: number,
): Promise<DefaultProtection> {
  const ofGroup = await store.groupDefaults(db, projectId)
  return (ofGroup as DefaultProtection | undefined) ?? settings.values.default_branch_protection_defaults
}
