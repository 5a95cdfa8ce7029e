import type { GroupAbility } from './abilities/group.ts'
import type { ProjectAbility } from './abilities/project.ts'
import { Role } from './levels.ts'

/** What a custom role can give besides its base role, as the API names it. */
export const permissions = [
  'admin_cicd_variables',
  'admin_compliance_framework',
  'admin_group_member',
  'admin_merge_request',
  'admin_push_rules',
  'admin_infra_state',
  'admin_vulnerability',
  'admin_web_hook',
  'archive_project',
  'manage_deploy_tokens',
  'manage_group_access_tokens',
  'manage_merge_request_settings',
  'manage_project_access_tokens',
  'manage_security_policy_link',
  'read_code',
  'read_runners',
  'read_dependency',
  'read_vulnerability',
  'remove_group',
  'remove_project',
] as const

/** Can be given only while the flag `custom_ability_admin_security_testing` is on. */
export const flaggedPermission = 'admin_security_testing'

export type Permission = (typeof permissions)[number] | typeof flaggedPermission

interface Opened {
  readonly project?: readonly ProjectAbility[]
  readonly group?: readonly GroupAbility[]
}

/** The abilities that each permission opens (part 2 completions, 2.6). */
export const openedBy: Readonly<Record<Permission, Opened>> = {
  admin_cicd_variables: {
    project: ['read_cicd_variables', 'admin_cicd_variables'],
    group: ['read_cicd_variables', 'admin_cicd_variables'],
  },
  admin_compliance_framework: {
    project: ['admin_compliance_framework'],
    group: ['admin_compliance_framework'],
  },
  admin_group_member: { group: ['admin_group_member', 'explain_access'] },
  // Who approves has to see what.
  admin_merge_request: { project: ['read_merge_request', 'approve_merge_request'] },
  admin_push_rules: { project: ['admin_push_rule'], group: ['admin_push_rule'] },
  admin_infra_state: { project: ['read_infra_state', 'admin_infra_state'] },
  admin_vulnerability: { project: ['admin_vulnerability'], group: ['admin_vulnerability'] },
  admin_web_hook: { project: ['admin_web_hook'], group: ['admin_web_hook'] },
  archive_project: { project: ['archive_project'] },
  manage_deploy_tokens: {
    project: ['admin_deploy_token'],
    group: ['read_deploy_token', 'admin_deploy_token'],
  },
  manage_group_access_tokens: { group: ['admin_access_token'] },
  manage_merge_request_settings: {
    project: ['admin_merge_request_settings'],
    group: ['admin_merge_request_settings'],
  },
  manage_project_access_tokens: { project: ['admin_access_token'] },
  manage_security_policy_link: {
    project: ['admin_security_policy_link'],
    group: ['admin_security_policy_link'],
  },
  read_code: { project: ['read_code', 'download_code'] },
  read_runners: { project: ['read_runner'], group: ['read_group_runner'] },
  read_dependency: { project: ['read_dependency'], group: ['read_dependency'] },
  read_vulnerability: { project: ['read_vulnerability'], group: ['read_vulnerability'] },
  remove_group: { group: ['remove_group'] },
  remove_project: { project: ['remove_project'] },
  admin_security_testing: { project: ['admin_security_testing'], group: ['admin_security_testing'] },
}

export interface Holding {
  readonly kind: 'project' | 'group'
  /** Of a group; null at the top. */
  readonly parentId?: number | null
  /** What the caller's custom roles give here. */
  readonly permissions: readonly Permission[]
}

/** The permission by which the caller has the ability here, if one gives it. */
export function permissionFor(ability: string, place: Holding): Permission | undefined {
  return place.permissions.find((permission) => {
    // A whole tree is for its owners to remove.
    if (permission === 'remove_group' && place.parentId === null) return false
    const abilities: readonly string[] = openedBy[permission][place.kind] ?? []
    return abilities.includes(ability)
  })
}

/** Permissions that make no sense without another one, and the base role that has that one anyway. */
const needed: readonly {
  readonly what: Permission
  readonly needs: Permission
  readonly heldFrom: number
}[] = [{ what: 'admin_vulnerability', needs: 'read_vulnerability', heldFrom: Role.developer }]

/** The permissions of a role that lack another one, each with the one that it lacks. */
export function lackingPermissions(
  base: number,
  given: readonly Permission[],
): { readonly what: Permission; readonly needs: Permission }[] {
  return needed.filter(
    ({ what, needs, heldFrom }) => given.includes(what) && !given.includes(needs) && base < heldFrom,
  )
}
