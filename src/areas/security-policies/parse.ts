import { ConfigError, readYaml } from '../../ci/index.ts'
import { isUnfit } from '../../kernel/endpoint/index.ts'

/** Which requests a rule is about, by their target branch, which has to be protected whatever it says. */
export interface PolicyRule {
  readonly type: string
  /** Rules of other types than `any_merge_request` are kept and do nothing. */
  readonly effective: boolean
  readonly branch_type: 'default' | 'protected' | null
  /** Names and wildcards; none of them: all. */
  readonly branches: readonly string[] | null
  /** With a path only in that project. */
  readonly branch_exceptions: readonly { readonly name: string; readonly full_path: string | null }[]
  /** `unsigned`: only requests with commits that nobody signed. */
  readonly commits: 'any' | 'unsigned'
}

export interface PolicyAction {
  readonly approvals_required: number
  readonly user_approvers: readonly string[]
  readonly user_approvers_ids: readonly number[]
  readonly group_approvers: readonly string[]
  readonly group_approvers_ids: readonly number[]
  readonly role_approvers: readonly PolicyRole[]
}

export interface Policy {
  readonly name: string
  readonly description: string | null
  readonly enabled: boolean
  readonly rules: readonly PolicyRule[]
  readonly actions: readonly PolicyAction[]
  /** Where nobody can approve nothing is merged. */
  readonly failsClosed: boolean
  /** Ids; none: all. */
  readonly onlyProjects: readonly number[]
  readonly exceptProjects: readonly number[]
  /** Why it does nothing. */
  readonly problem: string | null
  /** What of it does nothing. */
  readonly notes: readonly string[]
}

export interface PolicyFile {
  readonly policies: readonly Policy[]
  /** Why nothing of the file takes effect. */
  readonly problem: string | null
}

export const roleLevels = {
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const
export type PolicyRole = keyof typeof roleLevels

/** Bytes. */
export const largestFile = 256 * 1024
const mostPolicies = 100
const mostRules = 5
const mostApprovers = 300
const mostApprovals = 100
const longestName = 255
const longestText = 10_000
const deepest = 20

type Fields = Readonly<Record<string, unknown>>

/** What is wrong with a policy; the others of its file count. */
class Fault extends Error {}

/** Reads `policy.yml`. Whatever it holds there is an answer. */
export function parsePolicies(source: string): PolicyFile {
  let content: unknown
  try {
    ;({ content } = readYaml(source, { fileBytes: largestFile, depth: deepest }))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { policies: [], problem: 'The file is no valid YAML' }
  }
  if (!isFields(content)) return { policies: [], problem: 'The file holds no policies' }
  const list = content['approval_policy'] ?? []
  if (!Array.isArray(list)) return { policies: [], problem: 'approval_policy is no list' }
  if (list.length > mostPolicies) {
    return { policies: [], problem: `There are more than ${mostPolicies} policies` }
  }
  return { policies: list.map((one, index) => policyOf(one, index + 1)), problem: null }
}

function policyOf(given: unknown, number: number): Policy {
  const fields = isFields(given) ? given : {}
  const { name, description, enabled } = fields
  const base = {
    name: isText(name, longestName) && name !== '' ? name : `Policy ${number}`,
    description: isText(description, longestText) ? description : null,
    enabled: enabled === true,
  }
  try {
    if (name !== base.name) throw new Fault(`name is no text of 1 to ${longestName} characters`)
    if (typeof enabled !== 'boolean') throw new Fault('enabled is neither true nor false')
    const rules = listOf(fields, 'rules', mostRules).map(ruleOf)
    const asked = listOf(fields, 'actions', 2 * mostRules)
    const actions = asked
      .filter((one) => fieldsOf(one, 'actions')['type'] === 'require_approval')
      .map(actionOf)
    if (actions.length > mostRules) throw new Fault(`actions holds more than ${mostRules} require_approval`)
    return {
      ...base,
      rules,
      actions,
      ...scopeOf(fields),
      failsClosed: failsClosed(fields),
      ...told(fields, rules, asked),
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const nothing = {
      rules: [],
      actions: [],
      onlyProjects: [],
      exceptProjects: [],
      notes: [],
      failsClosed: false,
    }
    return { ...base, ...nothing, problem: error.message }
  }
}

function told(
  fields: Fields,
  rules: readonly PolicyRule[],
  actions: readonly unknown[],
): Pick<Policy, 'problem' | 'notes'> {
  const unknownRules = rules.filter(({ effective }) => !effective).map(({ type }) => `Rules of type ${type}`)
  const unknownActions = actions
    .map((one) => shown((one as Fields)['type']))
    .filter((type) => type !== 'require_approval')
    .map((type) => `Actions of type ${type}`)
  const settings = ['approval_settings', 'policy_tuning'].filter((key) => fields[key] !== undefined)
  const notes = [...new Set([...unknownRules, ...unknownActions, ...settings])]
  const problem = rules.some(({ effective }) => effective)
    ? unknownActions.length === actions.length
      ? 'No action asks for approvals'
      : null
    : 'No rule is of type any_merge_request'
  return { problem, notes: notes.map((what) => `${what}: no effect`) }
}

function ruleOf(given: unknown): PolicyRule {
  const fields = fieldsOf(given, 'rules')
  const type = shown(fields['type'])
  const effective = type === 'any_merge_request'
  const nowhere = { branch_type: null, branches: null, branch_exceptions: [], commits: 'any' } as const
  if (!effective) return { type, effective, ...nowhere }
  const { branch_type: branchType, commits } = fields
  if ((branchType === undefined) === (fields['branches'] === undefined)) {
    throw new Fault('A rule needs either branches or branch_type')
  }
  if (branchType !== undefined && branchType !== 'default' && branchType !== 'protected') {
    throw new Fault('branch_type is neither default nor protected')
  }
  if (commits !== 'any' && commits !== 'unsigned') throw new Fault('commits is neither any nor unsigned')
  const exceptions = listOf(fields, 'branch_exceptions', mostApprovers).map((one) => {
    if (isText(one, longestName)) return { name: one, full_path: null }
    const { name, full_path } = fieldsOf(one, 'branch_exceptions')
    if (!isText(name, longestName) || !isText(full_path, longestText)) {
      throw new Fault('branch_exceptions holds what is no branch')
    }
    return { name, full_path }
  })
  const branches = fields['branches'] === undefined ? null : texts(fields, 'branches')
  return {
    type,
    effective,
    branch_type: branchType ?? null,
    branches,
    branch_exceptions: exceptions,
    commits,
  }
}

function actionOf(given: unknown): PolicyAction {
  const fields = fieldsOf(given, 'actions')
  const required = fields['approvals_required']
  if (!isWhole(required) || required > mostApprovals) {
    throw new Fault(`approvals_required is no number from 0 to ${mostApprovals}`)
  }
  const roles = listOf(fields, 'role_approvers', mostApprovers).map((role) => {
    if (!isText(role, longestName) || !Object.hasOwn(roleLevels, role)) {
      throw new Fault('role_approvers holds what is no role')
    }
    return role as PolicyRole
  })
  const action = {
    approvals_required: required,
    user_approvers: texts(fields, 'user_approvers'),
    user_approvers_ids: ids(fields, 'user_approvers_ids'),
    group_approvers: texts(fields, 'group_approvers'),
    group_approvers_ids: ids(fields, 'group_approvers_ids'),
    role_approvers: roles,
  }
  const { approvals_required: _, ...named } = action
  if (Object.values(named).every((list) => list.length === 0)) throw new Fault('An action names no approvers')
  return action
}

/** Other scopes than projects are not known; a policy that has one is left out rather than held everywhere. */
function scopeOf(fields: Fields): Pick<Policy, 'onlyProjects' | 'exceptProjects'> {
  const scope = fields['policy_scope'] === undefined ? {} : fieldsOf(fields['policy_scope'], 'policy_scope')
  const other = Object.keys(scope).find((key) => key !== 'projects')
  if (other !== undefined) throw new Fault(`policy_scope by ${shown(other)} is not known`)
  const projects = scope['projects'] === undefined ? {} : fieldsOf(scope['projects'], 'projects')
  const named = (key: string): number[] =>
    ids({ [key]: listOf(projects, key, mostApprovers).map((one) => fieldsOf(one, key)['id']) }, key)
  return { onlyProjects: named('including'), exceptProjects: named('excluding') }
}

function failsClosed(fields: Fields): boolean {
  const given = fields['fallback_behavior']
  const fail = given === undefined ? 'closed' : fieldsOf(given, 'fallback_behavior')['fail']
  if (fail !== 'open' && fail !== 'closed') throw new Fault('fail is neither open nor closed')
  return fail === 'closed'
}

function listOf(fields: Fields, key: string, most: number): readonly unknown[] {
  const given = fields[key] ?? []
  if (!Array.isArray(given)) throw new Fault(`${key} is no list`)
  if (given.length > most) throw new Fault(`${key} holds more than ${most}`)
  return given
}

function texts(fields: Fields, key: string): string[] {
  return listOf(fields, key, mostApprovers).map((one) => {
    // A name of digits alone is a number to YAML.
    const text = typeof one === 'number' ? String(one) : one
    if (!isText(text, longestName)) throw new Fault(`${key} holds what is no name`)
    return text
  })
}

function ids(fields: Fields, key: string): number[] {
  return listOf(fields, key, mostApprovers).map((one) => {
    if (!isWhole(one)) throw new Fault(`${key} holds what is no id`)
    return one
  })
}

function fieldsOf(given: unknown, key: string): Fields {
  if (!isFields(given)) throw new Fault(`${key} does not hold fields`)
  return given
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest && !isUnfit(value)
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function shown(value: unknown): string {
  return isText(value, longestName) ? value : 'none'
}
