import {
  decide,
  FeatureLevel,
  find,
  imageProject,
  isAdministrator,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import {
  deniedPatterns,
  immutablePatterns,
  matching,
  passes,
  rulesOf,
  tagRulesOf,
} from '../container-rules/index.ts'
import { denied } from './errors.ts'
import type { Scope } from './scopes.ts'
import type { Access, Action } from './tokens.ts'

/** What the credential itself allows, whoever its holder is. */
export type Power = 'pull' | 'push' | 'delete'

/** Who asks for a token. */
export type Holder =
  | { readonly kind: 'actor'; readonly actor: Actor; readonly powers: ReadonlySet<Power> }
  | { readonly kind: 'machine'; readonly machine: MachineLogin }

/** A credential that stands for no user, such as a deploy token: it has powers in the projects that it reaches. */
export interface MachineLogin {
  /** Of the deploy token. */
  readonly id: number
  readonly name: string
  readonly authType: string
  readonly powers: ReadonlySet<Power>
  /** The project of an image, if the credential reaches it. */
  readonly projectOf: (image: string) => Promise<ProjectSubject | undefined>
}

/**
 * What a token gives of what was asked for. What is not allowed is left out without a word, and the registry refuses it
 * later; but to push where a rule forbids it fails the whole request (completions, 6.4 and 6.6).
 */
export async function grant(db: Database, holder: Holder, scopes: readonly Scope[]): Promise<Access[]> {
  const granted: Access[] = []
  for (const scope of scopes) {
    const access =
      scope.type === 'registry' ? ofRegistry(holder, scope) : await ofRepository(db, holder, scope)
    if (access !== undefined) granted.push(access)
  }
  return granted
}

function ofRegistry(holder: Holder, { type, name, actions }: Scope): Access | undefined {
  const allowed = holder.kind === 'actor' && holder.powers.has('pull') && isAdministrator(holder.actor)
  return allowed && actions.includes('*') ? { type, name, actions: ['*'] } : undefined
}

async function ofRepository(db: Database, holder: Holder, scope: Scope): Promise<Access | undefined> {
  const project =
    holder.kind === 'actor'
      ? await find(db.reader, imageProject, holder.actor, scope.name)
      : await holder.machine.projectOf(scope.name)
  if (project === undefined || project.features.container_registry === FeatureLevel.disabled) return undefined
  const may = scope.actions.filter((action) => isAllowed(holder, action, project))
  const actions = await withinRules(db, holder, { project, path: scope.name }, may)
  if (actions.length === 0) return undefined
  if (actions.includes('push') || actions.includes('*')) await keepRepository(db, project, scope.name)
  return { type: 'repository', name: scope.name, actions, meta: await metaOf(db, holder, project) }
}

const abilities = {
  pull: 'read_container_image',
  push: 'create_container_image',
  delete: 'admin_container_image',
  '*': 'admin_container_image',
} as const

function isAllowed(holder: Holder, action: Action, project: ProjectSubject): boolean {
  const { powers } = holder.kind === 'actor' ? holder : holder.machine
  const needed: readonly Power[] = action === '*' ? ['pull', 'push', 'delete'] : [action]
  if (!needed.every((power) => powers.has(power))) return false
  return holder.kind === 'machine'
    ? !project.archived || action === 'pull'
    : decide(holder.actor, abilities[action], project).allowed
}

async function withinRules(
  db: Database,
  holder: Holder,
  { project, path }: { project: ProjectSubject; path: string },
  actions: readonly Action[],
): Promise<Action[]> {
  if (actions.every((action) => action === 'pull')) return [...actions]
  const rules = matching(await rulesOf(db.reader, project.id), path)
  const pass = (action: 'push' | 'delete'): boolean =>
    holder.kind === 'actor'
      ? passes(rules, action, holder.actor, project)
      : rules.every((rule) => rule[`minimum_${action}`] === null)
  if (actions.some((action) => action === 'push' || action === '*') && !pass('push')) {
    throw denied('Pushing to protected repository path forbidden')
  }
  return actions.filter((action) => (action !== 'delete' && action !== '*') || pass('delete'))
}

async function metaOf(
  db: Database,
  holder: Holder,
  project: ProjectSubject,
): Promise<NonNullable<Access['meta']>> {
  const rules = await tagRulesOf(db.reader, project.id)
  const patterns = (action: 'push' | 'delete'): string[] =>
    deniedPatterns(rules, action, holder.kind === 'actor' ? { actor: holder.actor, project } : undefined)
  return {
    project_path: project.fullPath.toLowerCase(),
    project_id: project.id,
    root_namespace_id: project.line[0] ?? project.namespaceId,
    tag_deny_access_patterns: { push: patterns('push'), delete: patterns('delete') },
    tag_immutable_patterns: immutablePatterns(rules),
  }
}

/** Who may push to a repository makes it by that. */
async function keepRepository(db: Database, project: ProjectSubject, path: string): Promise<void> {
  await sql`
    insert into container_repositories (project_id, name)
    values (${project.id}, ${path.slice(project.fullPath.length + 1)}) on conflict do nothing`.execute(
    db.writer,
  )
}
