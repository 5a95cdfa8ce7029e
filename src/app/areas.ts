import { serviceAccounts } from '../areas/service-accounts/index.ts'
import { passwordsForGit, sessions } from '../areas/sessions/index.ts'
import { sites } from '../areas/sites/index.ts'
import { sshKeys } from '../areas/ssh-keys/index.ts'
import { protectedTags } from '../areas/protected-tags/index.ts'
import { gitSsh } from '../areas/git-ssh/index.ts'
import { customAttributes } from '../areas/custom-attributes/index.ts'
import { deployKeys } from '../areas/deploy-keys/index.ts'
import { deployTokensForJobs, deployTokenLogin, deployTokens } from '../areas/deploy-tokens/index.ts'
import { commitStatuses } from '../areas/commit-statuses/index.ts'
import { chatApp, sayingInChats } from '../areas/chat-app/index.ts'
import { badges } from '../areas/badges/index.ts'
import { ciSimulation } from '../areas/ci-simulation/index.ts'
import { markdown } from '../areas/markdown/index.ts'
import { accessExplanations } from '../areas/access-explanations/index.ts'
import { activities } from '../areas/activities/index.ts'
import { accessRequests } from '../areas/access-requests/index.ts'
import { auditEvents } from '../areas/audit-events/index.ts'
import { abuseReports } from '../areas/abuse-reports/index.ts'
import { appearance } from '../areas/appearance/index.ts'
import { bannersFor, broadcastMessages } from '../areas/broadcast-messages/index.ts'
import { avatars } from '../areas/avatars/index.ts'
import { billableMembers } from '../areas/billable-members/index.ts'
import { invitations } from '../areas/invitations/index.ts'
import { languages } from '../areas/languages/index.ts'
import { ldap } from '../areas/ldap/index.ts'
import { members } from '../areas/members/index.ts'
import { memberRoles } from '../areas/member-roles/index.ts'
import { containerRegistry } from '../areas/container-registry/index.ts'
import { crossReferences } from '../areas/cross-references/index.ts'
import { containerRules } from '../areas/container-rules/index.ts'
import { directTransfers } from '../areas/direct-transfers/index.ts'
import { downloadLimits } from '../areas/download-limits/index.ts'
import { gitLfs } from '../areas/git-lfs/index.ts'
import { gitHttp } from '../areas/git-http/index.ts'
import { mailEvents } from '../areas/mail-events/index.ts'
import { mergeRequests } from '../areas/merge-requests/index.ts'
import { mirrors } from '../areas/mirrors/index.ts'
import { metadata } from '../areas/metadata/index.ts'
import { deployments, environments } from '../areas/environments/index.ts'
import { featureFlags } from '../areas/feature-flags/index.ts'
import { freezePeriods } from '../areas/freeze-periods/index.ts'
import { gpgKeys } from '../areas/gpg-keys/index.ts'
import { groupIdentities } from '../areas/group-identities/index.ts'
import { groupArchives } from '../areas/group-archives/index.ts'
import { graphql } from '../areas/graphql/index.ts'
import { groups } from '../areas/groups/index.ts'
import { hostImports } from '../areas/host-imports/index.ts'
import { identityTokens } from '../areas/identity-tokens/index.ts'
import { jobTokenScope } from '../areas/job-token-scope/index.ts'
import { namespaces } from '../areas/namespaces/index.ts'
import { fetchCounter, projects, removeRepositoriesBelow } from '../areas/projects/index.ts'
import { projectArchives } from '../areas/project-archives/index.ts'
import { projectAliases, projectOfAlias } from '../areas/project-aliases/index.ts'
import { repository } from '../areas/repository/index.ts'
import { codeOwners } from '../areas/code-owners/index.ts'
import { secretPushProtection } from '../areas/secret-push-protection/index.ts'
import { securityPolicies } from '../areas/security-policies/index.ts'
import { storageMoves } from '../areas/storage-moves/index.ts'
import { protectedEnvironments } from '../areas/protected-environments/index.ts'
import { pushRules } from '../areas/push-rules/index.ts'
import { protectedBranches } from '../areas/protected-branches/index.ts'
import { epics, epicsByIds } from '../areas/epics/index.ts'
import { issues, issuesByIds } from '../areas/issues/index.ts'
import { labels } from '../areas/labels/index.ts'
import { milestones } from '../areas/milestones/index.ts'
import { resourceEvents } from '../areas/resource-events/index.ts'
import { relationExports } from '../areas/relation-exports/index.ts'
import { releases } from '../areas/releases/index.ts'
import { resourceGroups } from '../areas/resource-groups/index.ts'
import { testReports } from '../areas/test-reports/index.ts'
import { oci } from '../areas/oci/index.ts'
import { packages } from '../areas/packages/index.ts'
import { oauth } from '../areas/oauth/index.ts'
import { telemetry } from '../areas/telemetry/index.ts'
import { templates } from '../areas/templates/index.ts'
import { terminals } from '../areas/terminals/index.ts'
import { terraform } from '../areas/terraform/index.ts'
import { tokens } from '../areas/tokens/index.ts'
import { feeds } from '../areas/feeds/index.ts'
import { trackerApp } from '../areas/tracker-app/index.ts'
import { topics } from '../areas/topics/index.ts'
import { triggers } from '../areas/triggers/index.ts'
import { users } from '../areas/users/index.ts'
import { webhooks } from '../areas/webhooks/index.ts'
import { wikis } from '../areas/wikis/index.ts'
import { variables } from '../areas/variables/index.ts'
import { jobResults, jobs } from '../areas/jobs/index.ts'
import { planLimits } from '../areas/plan-limits/index.ts'
import { pipelineSchedules } from '../areas/pipeline-schedules/index.ts'
import { lastPipelineOf, pipelines, RemoteFiles, variableWarnings } from '../areas/pipelines/index.ts'
import { runners } from '../areas/runners/index.ts'
import { notes, removeNotesOf } from '../areas/notes/index.ts'
import { quickActions } from '../areas/quick-actions/index.ts'
import { todos } from '../areas/todos/index.ts'
import { notifications } from '../areas/notifications/index.ts'
import { uploads } from '../areas/uploads/index.ts'
import { search } from '../areas/search/index.ts'
import { searchIndex } from '../areas/search-index/index.ts'
import { signUp } from '../areas/sign-up/index.ts'
import { singleSignOn } from '../areas/single-sign-on/index.ts'
import { snippets } from '../areas/snippets/index.ts'
import { shares } from '../areas/shares/index.ts'
import { features } from '../areas/features/index.ts'
import { license } from '../areas/license/index.ts'
import { applicationSettings } from '../areas/application-settings/index.ts'
import type { ProjectSubject } from '../access/index.ts'
import type { Oid } from '../git/index.ts'
import type { Area } from './area.ts'
import { refProtection } from './ref-protection.ts'
import type { Services } from './services.ts'

/** Every area of the service. */
export function areas(services: Services): Area[] {
  const remoteFiles = new RemoteFiles(services.outbound)
  const pipelineArea = pipelines({
    ...services,
    remoteFiles,
    refProtection,
    deployments: deployments(services.plan),
    results: jobResults(services),
  })
  const jobArea = jobs({ ...services, refProtection, process: pipelineArea.process })
  const markdownArea = markdown(services)
  const snippetArea = snippets(services)
  const { texts } = markdownArea
  const wikiArea = wikis({ ...services, texts })
  const { process } = pipelineArea
  const requests = mergeRequests({ ...services, creator: pipelineArea.creator, texts })
  const afterPush: typeof requests.afterPush = async (actor, project, ...push) => [
    ...(await bannersFor(services, project)),
    ...variableWarnings(actor, project, ...push),
    ...(await requests.afterPush(actor, project, ...push)),
  ]
  const elsewhere = (username: string, password: string) =>
    services.directory.authenticate(username, password)
  const passwords = passwordsForGit(services, elsewhere)
  const aliases = (name: string) => projectOfAlias(services.db.reader, name)
  const { view } = jobArea
  const identity = identityTokens(services)
  const downloads = downloadLimits(services)
  const gitServices = {
    ...services,
    noteDownload: downloads.note,
    noteFetch: fetchCounter(services),
    passwords,
    wikis: wikiArea.hosting,
    snippets: snippetArea.hosting,
    aliases,
    afterPush,
  }
  const lfs = gitLfs(gitServices)
  const feedArea = feeds(services)
  const webhookArea = webhooks({ ...services, refProtection, sayInChat: sayingInChats(services) })
  const chatArea = chatApp({ ...services, creator: pipelineArea.creator, traces: jobArea.traces })
  const indexArea = searchIndex(services)
  const terminalArea = terminals({ ...services, refProtection })
  const repositoryServices = {
    ...services,
    largeFiles: lfs.largeFiles,
    noteDownload: downloads.note,
    lastPipelineOf: (project: ProjectSubject, sha: Oid) => lastPipelineOf(services, project, sha),
  }
  const code = repository(repositoryServices)
  return [
    metadata(services),
    applicationSettings(services),
    telemetry(services),
    features(services),
    license(services),
    abuseReports(services),
    appearance(services),
    broadcastMessages(services),
    groups({ ...services, texts }),
    groupIdentities(services),
    namespaces(services),
    projects({ ...services, texts }),
    projectAliases(services),
    topics(services),
    badges(services),
    projectArchives({ ...services, wikis: wikiArea.hosting }),
    groupArchives(services),
    relationExports({ ...services, wikis: wikiArea.hosting }),
    directTransfers({ ...services, wikis: wikiArea.hosting }),
    hostImports({ ...services, wikis: wikiArea.hosting }),
    auditEvents(),
    languages(services),
    avatars(services),
    users({ ...services, beforeRemoval: removeRepositoriesBelow, removeNotes: removeNotesOf }),
    tokens(services),
    serviceAccounts({ ...services, beforeRemoval: removeRepositoriesBelow, removeNotes: removeNotesOf }),
    sessions({ ...services, elsewhere }),
    oauth({ ...services, elsewhere, identity: identity.tokens }),
    singleSignOn(services),
    signUp({ ...services, texts, beforeRemoval: removeRepositoriesBelow }),
    members(services),
    customAttributes(services),
    ldap(services),
    memberRoles(services),
    shares(services),
    accessRequests(services),
    accessExplanations(services),
    invitations(services),
    mailEvents(services),
    billableMembers(services),
    variables(services),
    protectedBranches({ ...services, repositoryOf: (project) => services.places.of(project) }),
    protectedTags(services),
    pushRules(services),
    codeOwners(services),
    secretPushProtection(services),
    securityPolicies(services),
    storageMoves(services),
    mirrors({ ...services, bringLargeFiles: lfs.bring }),
    code,
    commitStatuses({ ...services, refProtection, process: pipelineArea.process }),
    sshKeys(services),
    gpgKeys(services),
    deployKeys(services),
    deployTokens(services),
    containerRules(services),
    containerRegistry(services),
    packages(services),
    terraform(services),
    oci({ ...services, passwords, machineLogin: deployTokenLogin(services) }),
    gitHttp({
      ...gitServices,
      neighbours: [
        lfs.neighbour,
        feedArea.neighbour,
        terminalArea.neighbour,
        code.neighbour,
        chatArea.neighbour,
      ],
    }),
    lfs,
    feedArea,
    downloads,
    gitSsh(gitServices),
    markdownArea,
    wikiArea,
    webhookArea,
    trackerApp({ ...services, payloads: webhookArea.payloads }),
    chatArea,
    pipelineArea,
    requests,
    ciSimulation({ ...services, remoteFiles, refProtection }),
    pipelineSchedules({ ...services, refProtection, creator: pipelineArea.creator }),
    triggers({ ...services, creator: pipelineArea.creator }),
    jobArea,
    terminalArea,
    sites({ ...services, refProtection, process }),
    testReports(services),
    environments({ ...services, refProtection, process, view }),
    featureFlags(services),
    freezePeriods(services),
    protectedEnvironments(services),
    resourceGroups({ ...services, view }),
    identity,
    jobTokenScope(services),
    planLimits(services),
    releases({ ...services, texts }),
    snippetArea,
    labels(services),
    milestones(services),
    issues(services),
    epics(services),
    resourceEvents(services),
    notes({ ...services, commands: quickActions(services) }),
    indexArea,
    search({ ...services, wikiPages: wikiArea.search, index: indexArea.search }),
    notifications(services),
    activities(services),
    todos({
      ...services,
      targets: {
        Issue: (actor, ids) => issuesByIds(services, actor, ids),
        MergeRequest: requests.byIds,
        Epic: (actor, ids) => epicsByIds(services, actor, ids),
      },
    }),
    crossReferences({ ...services, texts }),
    graphql({ ...services, texts }),
    uploads(services),
    templates(services),
    runners({
      ...services,
      deployTokens: deployTokensForJobs(services.cipher),
      process,
      commits: jobArea.commits,
      traces: jobArea.traces,
      view,
      identity: identity.tokens,
    }),
  ]
}
