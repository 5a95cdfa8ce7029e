import type { Endpoint } from '../kernel/endpoint/endpoint.ts'

/** Lists of the instance and of groups that show nothing of what lies in projects, but their names. */
const ofNoProject: ReadonlySet<string> = new Set([
  'GET /broadcast_messages',
  'GET /groups',
  'GET /namespaces',
  'GET /personal_access_tokens',
  'GET /projects',
  'GET /runners',
  'GET /runners/:id/managers',
  'GET /runners/:id/projects',
  'GET /snippets',
  'GET /snippets/public',
  'GET /templates/dockerfiles',
  'GET /templates/gitignores',
  'GET /templates/gitlab_ci_ymls',
  'GET /templates/licenses',
  'GET /topics',
  'GET /user/emails',
  'GET /user/gpg_keys',
  'GET /user/keys',
  'GET /user/sessions',
  'GET /users',
  'GET /users/:id/emails',
  'GET /users/:id/followers',
  'GET /users/:id/following',
  'GET /users/:id/gpg_keys',
  'GET /users/:id/keys',
  'GET /users/:id/project_deploy_keys',
  'GET /users/:user_id/contributed_projects',
  'GET /users/:user_id/projects',
  'GET /users/:user_id/starred_projects',
  'GET /groups/:id/access_requests',
  'GET /groups/:id/access_tokens',
  'GET /groups/:id/audit_events',
  'GET /groups/:id/badges',
  'GET /groups/:id/billable_members',
  'GET /groups/:id/billable_members/:user_id/indirect',
  'GET /groups/:id/billable_members/:user_id/memberships',
  'GET /groups/:id/custom_attributes',
  'GET /groups/:id/deploy_tokens',
  'GET /groups/:id/descendant_groups',
  'GET /groups/:id/epics',
  'GET /groups/:id/epics/:epic_id/discussions',
  'GET /groups/:id/epics/:epic_id/discussions/:discussion_id/notes',
  'GET /groups/:id/epics/:epic_id/notes',
  'GET /groups/:id/epics/:epic_id/resource_label_events',
  'GET /groups/:id/epics/:epic_id/resource_state_events',
  'GET /groups/:id/epics/:epic_iid/award_emoji',
  'GET /groups/:id/epics/:epic_iid/epics',
  'GET /groups/:id/epics/:epic_iid/notes/:note_id/award_emoji',
  'GET /groups/:id/epics/:epic_iid/related_epics',
  'GET /groups/:id/groups/shared',
  'GET /groups/:id/hooks',
  'GET /groups/:id/hooks/:hook_id/events',
  'GET /groups/:id/integrations',
  'GET /groups/:id/invitations',
  'GET /groups/:id/invited_groups',
  'GET /groups/:id/labels',
  'GET /groups/:id/ldap_group_links',
  'GET /groups/:id/member_roles',
  'GET /groups/:id/members',
  'GET /groups/:id/members/all',
  'GET /groups/:id/milestones',
  'GET /groups/:id/pending_members',
  'GET /groups/:id/projects',
  'GET /groups/:id/projects/shared',
  'GET /groups/:id/protected_branches',
  'GET /groups/:id/runners',
  'GET /groups/:id/saml/identities',
  'GET /groups/:id/service_accounts',
  'GET /groups/:id/service_accounts/:user_id/personal_access_tokens',
  'GET /groups/:id/subgroups',
  'GET /groups/:id/transfer_locations',
  'GET /groups/:id/uploads',
  'GET /groups/:id/variables',
  'GET /groups/:id/wiki_blobs',
  'GET /groups/:id/wiki_versions/:slug',
  'GET /groups/:id/wikis',
])

/** Others that find what lies in projects and are no lists. */
const finding: ReadonlySet<string> = new Set([
  'GET /groups/:id/issues_statistics',
  'GET /issues_statistics',
  'GET /user_counts',
  'POST /todos/:id/mark_as_done',
  'POST /groups/:id/epics/:epic_iid/issues/:issue_id',
  'PUT /groups/:id/epics/:epic_iid/issues/:issue_id',
  'DELETE /groups/:id/epics/:epic_iid/issues/:issue_id',
])

/** What is said here of single endpoints: `METHOD /path`. */
export const knownAcrossProjects = [...ofNoProject, ...finding]

/** Packages, which are found in whatever project has them. */
const packages = /^\/(groups\/:id\/-\/)?packages\//

/**
 * Whether an endpoint shows what lies in several projects: every list of the instance or of a group does, unless it is
 * known here not to.
 */
export function looksAcrossProjects({ method, path, paged, on }: Endpoint): boolean {
  if (on.name !== 'instance' && on.name !== 'group') return false
  const name = `${method} ${path}`
  if (finding.has(name) || packages.test(path)) return true
  return paged === true && !ofNoProject.has(name)
}
