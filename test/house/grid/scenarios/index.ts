import { badgeScenarios } from './badges.ts'
import { groupIdentityScenarios } from './group-identities.ts'
import { auditEventScenarios } from './audit-events.ts'
import { avatarScenarios } from './avatars.ts'
import type { Scenarios } from '../stage.ts'
import { chatAppScenarios } from './chat-app.ts'
import { ciLintScenarios } from './ci-lint.ts'
import { jobScenarios, pipelineScenarios } from './ci.ts'
import { customAttributeScenarios } from './custom-attributes.ts'
import { containerRegistryScenarios } from './container-registry.ts'
import { directTransferScenarios } from './direct-transfers.ts'
import { deploymentScenarios, environmentScenarios, resourceGroupScenarios } from './environments.ts'
import { featureFlagScenarios } from './feature-flags.ts'
import { freezePeriodScenarios } from './freeze-periods.ts'
import { groupScenarios } from './groups.ts'
import { hostImportScenarios } from './host-imports.ts'
import { instanceScenarios } from './instance.ts'
import { jobTokenScopeScenarios } from './job-token-scope.ts'
import { ldapScenarios } from './ldap.ts'
import { memberRoleScenarios } from './member-roles.ts'
import { groupMemberScenarios, projectMemberScenarios } from './members.ts'
import { epicScenarios, resourceEventScenarios } from './epics.ts'
import { issueScenarios } from './issues.ts'
import { labelScenarios, milestoneScenarios } from './labels-and-milestones.ts'
import { packageFormatScenarios } from './package-formats.ts'
import { packageScenarios } from './packages.ts'
import { npmPackageScenarios } from './npm-packages.ts'
import { pipelineScheduleScenarios } from './pipeline-schedules.ts'
import { mergeRequestScenarios } from './merge-requests.ts'
import { mirrorScenarios } from './mirrors.ts'
import { keyScenarios } from './keys.ts'
import { projectAliasScenarios } from './project-aliases.ts'
import { projectScenarios } from './projects.ts'
import { releaseScenarios } from './releases.ts'
import { protectedBranchScenarios, protectedTagScenarios } from './protected-branches.ts'
import { protectedEnvironmentScenarios } from './protected-environments.ts'
import { pushRuleScenarios } from './push-rules.ts'
import { repositoryScenarios, storageMoveScenarios } from './repository.ts'
import { repositoryWritingScenarios } from './repository-writing.ts'
import { runnerScenarios } from './runners.ts'
import { discussionScenarios } from './notes.ts'
import { siteScenarios } from './sites.ts'
import { snippetScenarios } from './snippets.ts'
import { securityPolicyScenarios } from './security-policies.ts'
import { securitySettingScenarios } from './security-settings.ts'
import { serviceAccountScenarios } from './service-accounts.ts'
import { sessionScenarios } from './sessions.ts'
import { tokenScenarios } from './tokens.ts'
import { triggerScenarios } from './triggers.ts'
import { terraformScenarios } from './terraform.ts'
import { trackerAppScenarios } from './tracker-app.ts'
import { topicScenarios } from './topics.ts'
import { todoScenarios } from './todos.ts'
import { templateScenarios } from './templates.ts'
import { uploadScenarios } from './uploads.ts'
import { userScenarios } from './users.ts'
import { variableScenarios } from './variables.ts'
import { settingScenarios } from './settings.ts'
import { integrationScenarios } from './integrations.ts'
import { webhookScenarios } from './webhooks.ts'
import { wikiScenarios } from './wikis.ts'

export const scenarios: Scenarios = {
  ...chatAppScenarios,
  ...trackerAppScenarios,
  ...ciLintScenarios,
  ...containerRegistryScenarios,
  ...customAttributeScenarios,
  ...directTransferScenarios,
  ...deploymentScenarios,
  ...environmentScenarios,
  ...featureFlagScenarios,
  ...freezePeriodScenarios,
  ...protectedEnvironmentScenarios,
  ...resourceGroupScenarios,
  ...groupScenarios,
  ...groupMemberScenarios,
  ...hostImportScenarios,
  ...memberRoleScenarios,
  ...instanceScenarios,
  ...jobScenarios,
  ...jobTokenScopeScenarios,
  ...ldapScenarios,
  ...pipelineScenarios,
  ...pipelineScheduleScenarios,
  ...badgeScenarios,
  ...topicScenarios,
  ...mergeRequestScenarios,
  ...keyScenarios,
  ...epicScenarios,
  ...resourceEventScenarios,
  ...issueScenarios,
  ...labelScenarios,
  ...milestoneScenarios,
  ...mirrorScenarios,
  ...projectAliasScenarios,
  ...projectScenarios,
  ...projectMemberScenarios,
  ...protectedBranchScenarios,
  ...pushRuleScenarios,
  ...packageFormatScenarios,
  ...packageScenarios,
  ...npmPackageScenarios,
  ...releaseScenarios,
  ...protectedTagScenarios,
  ...repositoryScenarios,
  ...storageMoveScenarios,
  ...repositoryWritingScenarios,
  ...runnerScenarios,
  ...discussionScenarios,
  ...snippetScenarios,
  ...securityPolicyScenarios,
  ...securitySettingScenarios,
  ...serviceAccountScenarios,
  ...sessionScenarios,
  ...siteScenarios,
  ...tokenScenarios,
  ...terraformScenarios,
  ...todoScenarios,
  ...templateScenarios,
  ...triggerScenarios,
  ...uploadScenarios,
  ...auditEventScenarios,
  ...avatarScenarios,
  ...groupIdentityScenarios,
  ...userScenarios,
  ...settingScenarios,
  ...variableScenarios,
  ...integrationScenarios,
  ...webhookScenarios,
  ...wikiScenarios,
}
