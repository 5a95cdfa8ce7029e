import {
  admits,
  may,
  mayStartRepository,
  opensToDevelopers,
  Role,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database, Reader, Tx } from '../../kernel/db/index.ts'
import type { Settings, SettingValues } from '../../settings/index.ts'
import { levelEntry } from './requested.ts'
import { protectionOf, refusal, type BranchRule, type BranchUpdate } from './rules.ts'
import * as store from './store.ts'

export interface JudgeServices {
  readonly db: Database
  readonly settings: Settings
  readonly externalUrl: () => string
}

/** What is to become of a branch, and under which rules, told for whoever does it. */
export type Change = Pick<
  BranchUpdate,
  'branch' | 'kind' | 'isForced' | 'onProtectedBranch' | 'isMergeResult' | 'via'
> & {
  readonly rules: readonly BranchRule[]
}

/**
 * Why somebody who may push code may not change a branch, in the words that the git client shows, or undefined. The
 * one place that the ref door and the preview ask.
 */
export async function judge(
  services: JudgeServices,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  change: Change,
): Promise<string | undefined> {
  const { branch, kind, rules } = change
  if (project.repositoryEmpty && kind !== 'delete' && !(await mayStart(services, actor, project))) {
    return startRefusal(services.externalUrl(), project)
  }
  const protection = protectionOf(branch, rules)
  const mayPush = protection !== undefined && admits(protection.push, actor, project)
  return refusal({
    ...change,
    isDefault: branch === project.defaultBranch,
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
  { db, settings }: JudgeServices,
  actor: Actor,
  project: ProjectSubject,
): Promise<boolean> {
  const defaults = await defaultProtection(db.reader, settings, project.id)
  const developersToo =
    defaults.developer_can_initial_push === true ||
    protectsNothing(defaults) ||
    opensToDevelopers([decidingLevel(defaults.allowed_to_push)])
  return mayStartRepository(actor, project, developersToo)
}

function startRefusal(url: string, { fullPath }: ProjectSubject): string {
  return `A default branch (e.g. main) does not yet exist for ${fullPath}\nAsk a project Owner or Maintainer to create a default branch:\n\n  ${url}/${fullPath}/-/project_members\n`
}

/** The rule that the default branch gets with the first push, by its default protection. */
export async function protectFirstBranch(
  tx: Tx,
  settings: Settings,
  projectId: number,
  branch: string,
): Promise<void> {
  const defaults = await defaultProtection(tx, settings, projectId)
  if (protectsNothing(defaults)) return
  const entries = (['push', 'merge'] as const).map((action) =>
    levelEntry(action, decidingLevel(defaults[`allowed_to_${action}`])),
  )
  const owner = { kind: 'project', id: projectId } as const
  if ((await store.find(tx, owner, branch, null)) !== undefined) return
  await store.create(tx, owner, {
    name: branch,
    allowForcePush: defaults.allow_force_push ?? false,
    codeOwnerApprovalRequired: defaults.code_owner_approval_required ?? false,
    entries,
  })
}

/** Of several levels the one that counts: nobody before Developers before Maintainers before administrators. */
function decidingLevel(entries: DefaultProtection['allowed_to_push'] = []): number {
  return Math.min(Role.administrator, ...entries.map(({ access_level }) => access_level))
}

/** Developers may do everything: a rule that says so would be none. */
function protectsNothing({ allow_force_push, ...lists }: DefaultProtection): boolean {
  const open = [lists.allowed_to_push, lists.allowed_to_merge]
  return (
    allow_force_push === true &&
    open.every((entries = []) => entries.every(({ access_level }) => access_level === Role.developer))
  )
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
