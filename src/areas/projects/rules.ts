import { RE2JS } from 're2js'
import { Visibility, visibilityName, type VisibilityName } from '../../access/index.ts'
import { ApiError, invalid, invalidParameters } from '../../kernel/errors/index.ts'
import { compilePattern } from '../../ci/text/regex.ts'
import { projectNameFaults, projectPathFaults } from '../namespaces/index.ts'
import type { ProjectSettings } from './settings.ts'

export const product = 'Guildhall'
const taken = 'has already been taken'
const longestDescription = 2000

/** What a project will be once a write is done. */
export interface ProjectState {
  readonly name: string
  /** Undefined: it stays as it is; old paths need not obey newer rules. */
  readonly path: string | undefined
  readonly description: string | null
  readonly topics: readonly string[]
  readonly settings: ProjectSettings
}

/** Refuses, with the texts of the supporting resources (4.4), what breaks a rule; all faults of all attributes at once. */
export function check({ name, path, description, topics, settings }: ProjectState): void {
  const faults: Record<string, string[]> = {}
  const fault = (attribute: string, ...texts: string[]): void => {
    if (texts.length > 0) faults[attribute] = [...(faults[attribute] ?? []), ...texts]
  }
  fault('name', ...projectNameFaults(name))
  if (path !== undefined) fault('path', ...projectPathFaults(path))
  if ((description?.length ?? 0) > longestDescription) fault('description', tooLong(longestDescription))
  if (topics.some((topic) => topic.length > 255)) fault('topics', tooLong(255))
  checkSettings(settings, fault)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const tooLong = (length: number): string => `is too long (maximum is ${length} characters)`

function checkSettings(
  settings: ProjectSettings,
  fault: (attribute: string, ...texts: string[]) => void,
): void {
  if (settings.build_timeout < 600 || settings.build_timeout > 2_592_000) {
    fault('build_timeout', 'needs to be between 10 minutes and 1 month')
  }
  const { ci_config_path: config } = settings
  if (config !== null && (config.startsWith('/') || config.split('/').includes('..'))) {
    fault('ci_config_path', 'cannot include leading slash or directory traversal.')
  }
  if ((config?.length ?? 0) > 255) fault('ci_config_path', tooLong(255))
  for (const name of ['merge_commit_template', 'squash_commit_template'] as const) {
    if ((settings[name]?.length ?? 0) > 500) fault(name, tooLong(500))
  }
  for (const name of [
    'issue_branch_template',
    'suggestion_commit_message',
    'merge_request_title_regex',
    'merge_request_title_regex_description',
  ] as const) {
    if ((settings[name]?.length ?? 0) > 255) fault(name, tooLong(255))
  }
  const title = settings.merge_request_title_regex ?? ''
  if (compilePattern(title, '') === null) fault('merge_request_title_regex', 'not valid RE2 syntax')
  for (const name of ['name_regex', 'name_regex_keep'] as const) {
    const pattern = settings.container_expiration_policy[name]
    if (pattern !== null && pattern !== '')
      checkPattern(`container_expiration_policy_attributes[${name}]`, pattern)
  }
}

function checkPattern(name: string, pattern: string): void {
  try {
    RE2JS.compile(pattern)
  } catch (error) {
    throw invalidParameters([`${name} is an invalid regexp: ${(error as Error).message}`])
  }
}

export interface NamespaceLimits {
  readonly kind: 'user' | 'group'
  readonly visibility: number
}

/** The level asked for, or the usual one lowered to what the namespace allows. Personal namespaces allow all. */
export function chooseVisibility(
  asked: VisibilityName | undefined,
  usual: VisibilityName,
  namespace: NamespaceLimits,
): number {
  if (asked === undefined) {
    return namespace.kind === 'group' ? Math.min(Visibility[usual], namespace.visibility) : Visibility[usual]
  }
  checkVisibility(Visibility[asked], namespace)
  return Visibility[asked]
}

export function checkVisibility(level: number, namespace: NamespaceLimits): void {
  if (namespace.kind === 'user' || level <= namespace.visibility) return
  throw invalid({
    visibility_level: [
      `${visibilityName(level)} is not allowed in a ${visibilityName(namespace.visibility)} namespace.`,
    ],
  })
}

/** Levels that only administrators may choose (completions of part 3, 8.3). */
export function checkRestricted(level: number, restricted: readonly string[], administrator: boolean): void {
  const name = visibilityName(level)
  if (administrator || !restricted.includes(name)) return
  throw invalid({ visibility_level: [`${name} has been restricted by your ${product} administrator`] })
}

/** Refuses a further personal project past the owner's limit. */
export function checkLimit(limit: number, there: number): void {
  if (there < limit) return
  const text =
    limit <= 0
      ? `You cannot create projects in your personal namespace. Contact your ${product} administrator.`
      : `You've reached your limit of ${limit} projects created. Contact your ${product} administrator.`
  throw new ApiError(403, { error: [text] })
}

/** There are no project templates. */
export function checkTemplate(params: {
  readonly template_name?: string | undefined
  readonly template_project_id?: number | undefined
}): void {
  const { template_name: template, template_project_id: project } = params
  const asked = template ?? (project === undefined ? '' : String(project))
  if (asked !== '') throw invalid({ template_name: [`'${asked}' is unknown or invalid`] })
}

export const invalidNamespace = (): Error => invalid({ namespace: ['is not valid'] })
export const nameTaken = (): Error => invalid({ name: [taken] })
export const badPath = (fault: string): Error => invalid({ path: [fault] })

/** Refuses a name or path that another project of the namespace, or anything else, has. */
export function checkTaken({ name, path }: { name: boolean; path: boolean }): void {
  if (name || path) throw invalid({ ...(name && { name: [taken] }), ...(path && { path: [taken] }) })
}

export const invalidBranch = (): Error => invalid({ default_branch: ['is invalid'] })

export function missingBranch(branch: string): Error {
  return invalid({ base: [`Could not change HEAD: branch '${branch}' does not exist`] })
}

export function runnersRefused(): Error {
  return invalid({ shared_runners_enabled: ['cannot be enabled because parent group does not allow it'] })
}
