import type { MigrationList } from '../src/kernel/db/index.ts'
import * as identity from './0001-identity.ts'
import * as projects from './0002-projects.ts'
import * as ci from './0003-ci.ts'
import * as instance from './0004-instance.ts'
import * as tokenFamilies from './0005-token-families.ts'
import * as projectLists from './0006-project-lists.ts'
import * as triggers from './0007-triggers.ts'
import * as variablesOfGroups from './0008-variables-of-groups.ts'
import * as accessMarks from './0009-access-marks.ts'
import * as downstream from './0010-downstream.ts'
import * as pipelineSchedules from './0011-pipeline-schedules.ts'
import * as testReports from './0013-test-reports.ts'
import * as environments from './0014-environments.ts'
import * as jobTokens from './0015-job-tokens.ts'
import * as releases from './0016-releases.ts'
import * as jobQueue from './0017-job-queue.ts'
import * as registrationTokens from './0018-registration-tokens.ts'
import * as containerRules from './0021-container-rules.ts'
import * as containerRegistry from './0022-container-registry.ts'
import * as wikis from './0025-wikis.ts'
import * as sharesAndMemberSets from './0028-shares-and-member-sets.ts'
import * as requestsAndInvitations from './0029-requests-and-invitations.ts'
import * as acceptedInvitations from './0030-accepted-invitations.ts'
import * as commitStatuses from './0032-commit-statuses.ts'
import * as sshKeys from './0033-ssh-keys.ts'
import * as deployKeysOfBranches from './0034-deploy-keys-of-protected-branches.ts'
import * as protectedTags from './0035-protected-tags.ts'
import * as pipelineBlocks from './0037-pipeline-blocks.ts'
import * as groupsInRefRules from './0050-groups-in-ref-rules.ts'
import * as pushRules from './0051-push-rules.ts'
import * as pipelinesBeforeBlocks from './0038-pipelines-before-blocks.ts'
import * as forksAndStars from './0090-forks-and-stars.ts'
import * as snippets from './0070-snippets.ts'
import * as labelsAndMilestones from './0060-labels-and-milestones.ts'
import * as issuesAndEpics from './0061-issues-and-epics.ts'
import * as notes from './0071-notes.ts'
import * as reactionsAndTodos from './0072-reactions-and-todos.ts'
import * as issuePositions from './0062-issue-positions-and-closing.ts'
import * as mergeRequestsAsNoteables from './0069-merge-requests-as-noteables.ts'
import * as notesOfMergeRequests from './0073-notes-of-merge-requests.ts'
import * as memberRoles from './0080-member-roles.ts'
import * as tokensOfPlaces from './0081-tokens-of-places.ts'
import * as sessions from './0082-sessions.ts'
import * as settingsHistory from './0100-settings-history.ts'
import * as queueByTags from './0110-queue-by-tags.ts'
import * as storageMoves from './0052-storage-moves.ts'
import * as aliasesAndDeletion from './0091-aliases-and-deletion.ts'
import * as requestCounts from './0101-request-counts.ts'
import * as mergeRequests from './0040-merge-requests.ts'
import * as mergeRequestApprovals from './0041-merge-request-approvals.ts'
import * as pipelinesOfMergeRequests from './0042-pipelines-of-merge-requests.ts'
import * as mergeRequestSubscriptions from './0043-merge-request-subscriptions.ts'
import * as inputsOfSchedules from './0111-inputs-of-schedules.ts'
import * as milestonesOfReleases from './0112-milestones-of-releases.ts'
import * as codeOwnerRules from './0150-code-owner-rules.ts'
import * as people from './0180-people.ts'
import * as votesOfMergeRequests from './0151-votes-of-merge-requests.ts'
import * as requestsOfCommits from './0152-requests-of-commits.ts'
import * as tiesOfMergeRequests from './0153-ties-of-merge-requests.ts'
import * as removedApprovalRules from './0154-removed-approval-rules.ts'
import * as groupIdentitiesAndUpkeep from './0181-group-identities-and-upkeep.ts'
import * as membershipMails from './0184-membership-mails.ts'
import * as serviceAccounts from './0185-service-accounts.ts'
import * as customAttributes from './0186-custom-attributes.ts'
import * as todosOfRequests from './0187-to-dos-of-requests.ts'
import * as customAttributesByValue from './0188-custom-attributes-by-value.ts'
import * as ldap from './0092-ldap.ts'
import * as languages from './0093-languages.ts'
import * as mails from './0160-mails.ts'
import * as suggestions from './0163-suggestions.ts'
import * as activities from './0164-activities.ts'
import * as signUp from './0190-sign-up.ts'
import * as projectArchives from './0191-project-archives.ts'
import * as oauth from './0193-oauth.ts'
import * as secretPushProtection from './0194-secret-push-protection.ts'
import * as groupArchives from './0195-group-archives.ts'
import * as auditEvents from './0196-audit-events.ts'
import * as broadcastMessages from './0197-broadcast-messages.ts'
import * as ageOfDeletedNotes from './0140-age-of-deleted-notes.ts'
import * as refsOfPipelines from './0120-refs-of-pipelines.ts'
import * as shownRegistrationTokens from './0121-shown-registration-tokens.ts'
import * as computeUsage from './0122-compute-usage.ts'
import * as badges from './0123-badges.ts'
import * as refsOfSnippets from './0170-refs-of-snippets.ts'
import * as ordersOfIssues from './0171-orders-of-issues.ts'

/** In the order they run. A released migration is never edited. */
import * as webhooks from './0200-webhooks.ts'
import * as newsOfRecords from './0201-news-of-records.ts'
import * as packages from './0202-packages.ts'
import * as terraformStates from './0203-terraform-states.ts'
import * as suggestionAttempts from './0215-suggestion-attempts.ts'
import * as searchInNotes from './0216-search-in-notes.ts'
import * as committersOfMergeRequests from './0204-committers-of-merge-requests.ts'
import * as repositoryHealth from './0205-repository-health.ts'
import * as lockedFilesOfMergeRequests from './0206-locked-files-of-merge-requests.ts'
import * as projectFetches from './0210-project-fetches.ts'
import * as countsOfProjects from './0211-counts-of-projects.ts'
import * as landmarksOfProjects from './0212-landmarks-of-projects.ts'
import * as upkeepOfRepositories from './0130-upkeep-of-repositories.ts'
import * as lfs from './0131-lfs.ts'
import * as proofsOfSshKeys from './0132-proofs-of-ssh-keys.ts'
import * as projectDownloads from './0133-project-downloads.ts'
import * as visibleReferences from './0141-visible-references.ts'
import * as upkeepOfWikis from './0142-upkeep-of-wikis.ts'
import * as projectStatistics from './0143-project-statistics.ts'
import * as abuseReports from './0220-abuse-reports.ts'
import * as appearancePictures from './0221-appearance-pictures.ts'
import * as integrations from './0240-integrations.ts'
import * as packageFormats from './0245-package-formats.ts'
import * as sites from './0255-sites.ts'
import * as mergesThatWait from './0230-merges-that-wait.ts'
import * as siteDomains from './0256-site-domains.ts'
import * as securityPolicies from './0260-security-policies.ts'
import * as archivedGroups from './0275-archived-groups.ts'
import * as relationExports from './0280-relation-exports.ts'
import * as policyVerdicts from './0285-policy-verdicts.ts'
import * as pushMirrors from './0270-push-mirrors.ts'
import * as spamLogs from './0286-spam-logs.ts'
import * as directTransfers from './0281-direct-transfers.ts'
import * as pullMirrors from './0271-pull-mirrors.ts'
import * as topics from './0235-topics.ts'
import * as sizesOfProjects from './0236-sizes-of-projects.ts'
import * as pausesOfDefaultBranches from './0231-pauses-of-default-branches.ts'
import * as feedTokens from './0237-feed-tokens.ts'
import * as jobSessions from './0290-job-sessions.ts'
import * as telemetryPositions from './0315-telemetry-positions.ts'
import * as freezePeriods from './0325-freeze-periods.ts'
import * as chatApp from './0310-chat-app.ts'
import * as protectedEnvironments from './0326-protected-environments.ts'
import * as mailEvents from './0311-mail-events.ts'
import * as hostImports from './0305-host-imports.ts'
import * as featureFlags from './0327-feature-flags.ts'
import * as trackerApp from './0312-tracker-app.ts'
import * as searchIndex from './0300-search-index.ts'
import * as verdictsOnSpam from './0330-verdicts-on-spam.ts'
import * as runnerReleases from './0340-runner-releases.ts'
import * as pushedProjects from './0341-pushed-projects.ts'
import * as pipelineRetention from './0342-pipeline-retention.ts'
import * as idsOfDeployKeys from './0343-ids-of-deploy-keys-in-projects.ts'
import * as durationsOfEnvironments from './0344-durations-of-environments.ts'
import * as mergedResults from './0345-merged-results.ts'
import * as newsOfWholePushes from './0346-news-of-whole-pushes.ts'
import * as repositoryImports from './0347-repository-imports.ts'
import * as successesOfJobs from './0348-successes-of-jobs.ts'
import * as idsOfPipelines from './0350-ids-of-pipelines.ts'
import * as movesOfProjects from './0351-moves-of-projects.ts'
import * as mostSeats from './0352-most-seats.ts'
import * as plannedReach from './0353-planned-reach.ts'
import * as sentExports from './0355-sent-exports.ts'

export const migrations: MigrationList = {
  '0001-identity': identity,
  '0002-projects': projects,
  '0003-ci': ci,
  '0004-instance': instance,
  '0005-token-families': tokenFamilies,
  '0006-project-lists': projectLists,
  '0007-triggers': triggers,
  '0008-variables-of-groups': variablesOfGroups,
  '0009-access-marks': accessMarks,
  '0010-downstream': downstream,
  '0011-pipeline-schedules': pipelineSchedules,
  '0013-test-reports': testReports,
  '0014-environments': environments,
  '0015-job-tokens': jobTokens,
  '0016-releases': releases,
  '0017-job-queue': jobQueue,
  '0018-registration-tokens': registrationTokens,
  '0021-container-rules': containerRules,
  '0022-container-registry': containerRegistry,
  '0025-wikis': wikis,
  '0028-shares-and-member-sets': sharesAndMemberSets,
  '0029-requests-and-invitations': requestsAndInvitations,
  '0030-accepted-invitations': acceptedInvitations,
  '0032-commit-statuses': commitStatuses,
  '0033-ssh-keys': sshKeys,
  '0034-deploy-keys-of-protected-branches': deployKeysOfBranches,
  '0035-protected-tags': protectedTags,
  '0037-pipeline-blocks': pipelineBlocks,
  '0038-pipelines-before-blocks': pipelinesBeforeBlocks,
  '0050-groups-in-ref-rules': groupsInRefRules,
  '0051-push-rules': pushRules,
  '0060-labels-and-milestones': labelsAndMilestones,
  '0061-issues-and-epics': issuesAndEpics,
  '0062-issue-positions-and-closing': issuePositions,
  '0069-merge-requests-as-noteables': mergeRequestsAsNoteables,
  '0080-member-roles': memberRoles,
  '0100-settings-history': settingsHistory,
  '0110-queue-by-tags': queueByTags,
  '0052-storage-moves': storageMoves,
  '0070-snippets': snippets,
  '0071-notes': notes,
  '0072-reactions-and-todos': reactionsAndTodos,
  '0073-notes-of-merge-requests': notesOfMergeRequests,
  '0081-tokens-of-places': tokensOfPlaces,
  '0082-sessions': sessions,
  '0090-forks-and-stars': forksAndStars,
  '0091-aliases-and-deletion': aliasesAndDeletion,
  '0101-request-counts': requestCounts,
  '0040-merge-requests': mergeRequests,
  '0041-merge-request-approvals': mergeRequestApprovals,
  '0042-pipelines-of-merge-requests': pipelinesOfMergeRequests,
  '0043-merge-request-subscriptions': mergeRequestSubscriptions,
  '0111-inputs-of-schedules': inputsOfSchedules,
  '0112-milestones-of-releases': milestonesOfReleases,
  '0150-code-owner-rules': codeOwnerRules,
  '0180-people': people,
  '0151-votes-of-merge-requests': votesOfMergeRequests,
  '0152-requests-of-commits': requestsOfCommits,
  '0153-ties-of-merge-requests': tiesOfMergeRequests,
  '0154-removed-approval-rules': removedApprovalRules,
  '0181-group-identities-and-upkeep': groupIdentitiesAndUpkeep,
  '0184-membership-mails': membershipMails,
  '0185-service-accounts': serviceAccounts,
  '0186-custom-attributes': customAttributes,
  '0187-to-dos-of-requests': todosOfRequests,
  '0188-custom-attributes-by-value': customAttributesByValue,
  '0092-ldap': ldap,
  '0093-languages': languages,
  '0160-mails': mails,
  '0163-suggestions': suggestions,
  '0164-activities': activities,
  '0190-sign-up': signUp,
  '0191-project-archives': projectArchives,
  '0193-oauth': oauth,
  '0194-secret-push-protection': secretPushProtection,
  '0195-group-archives': groupArchives,
  '0196-audit-events': auditEvents,
  '0197-broadcast-messages': broadcastMessages,
  '0200-webhooks': webhooks,
  '0201-news-of-records': newsOfRecords,
  '0202-packages': packages,
  '0203-terraform-states': terraformStates,
  '0215-suggestion-attempts': suggestionAttempts,
  '0216-search-in-notes': searchInNotes,
  '0204-committers-of-merge-requests': committersOfMergeRequests,
  '0220-abuse-reports': abuseReports,
  '0221-appearance-pictures': appearancePictures,
  '0240-integrations': integrations,
  '0245-package-formats': packageFormats,
  '0255-sites': sites,
  '0230-merges-that-wait': mergesThatWait,
  '0256-site-domains': siteDomains,
  '0260-security-policies': securityPolicies,
  '0275-archived-groups': archivedGroups,
  '0280-relation-exports': relationExports,
  '0285-policy-verdicts': policyVerdicts,
  '0270-push-mirrors': pushMirrors,
  '0286-spam-logs': spamLogs,
  '0281-direct-transfers': directTransfers,
  '0271-pull-mirrors': pullMirrors,
  '0235-topics': topics,
  '0236-sizes-of-projects': sizesOfProjects,
  '0231-pauses-of-default-branches': pausesOfDefaultBranches,
  '0237-feed-tokens': feedTokens,
  '0205-repository-health': repositoryHealth,
  '0206-locked-files-of-merge-requests': lockedFilesOfMergeRequests,
  '0210-project-fetches': projectFetches,
  '0211-counts-of-projects': countsOfProjects,
  '0212-landmarks-of-projects': landmarksOfProjects,
  '0140-age-of-deleted-notes': ageOfDeletedNotes,
  '0120-refs-of-pipelines': refsOfPipelines,
  '0121-shown-registration-tokens': shownRegistrationTokens,
  '0122-compute-usage': computeUsage,
  '0123-badges': badges,
  '0170-refs-of-snippets': refsOfSnippets,
  '0171-orders-of-issues': ordersOfIssues,
  '0130-upkeep-of-repositories': upkeepOfRepositories,
  '0131-lfs': lfs,
  '0132-proofs-of-ssh-keys': proofsOfSshKeys,
  '0133-project-downloads': projectDownloads,
  '0141-visible-references': visibleReferences,
  '0142-upkeep-of-wikis': upkeepOfWikis,
  '0143-project-statistics': projectStatistics,
  '0290-job-sessions': jobSessions,
  '0315-telemetry-positions': telemetryPositions,
  '0325-freeze-periods': freezePeriods,
  '0310-chat-app': chatApp,
  '0326-protected-environments': protectedEnvironments,
  '0311-mail-events': mailEvents,
  '0305-host-imports': hostImports,
  '0327-feature-flags': featureFlags,
  '0312-tracker-app': trackerApp,
  '0300-search-index': searchIndex,
  '0330-verdicts-on-spam': verdictsOnSpam,
  '0340-runner-releases': runnerReleases,
  '0341-pushed-projects': pushedProjects,
  '0342-pipeline-retention': pipelineRetention,
  '0343-ids-of-deploy-keys-in-projects': idsOfDeployKeys,
  '0344-durations-of-environments': durationsOfEnvironments,
  '0345-merged-results': mergedResults,
  '0346-news-of-whole-pushes': newsOfWholePushes,
  '0347-repository-imports': repositoryImports,
  '0348-successes-of-jobs': successesOfJobs,
  '0350-ids-of-pipelines': idsOfPipelines,
  '0351-moves-of-projects': movesOfProjects,
  '0352-most-seats': mostSeats,
  '0353-planned-reach': plannedReach,
  '0355-sent-exports': sentExports,
}
