import { endpointFor } from '../kernel/endpoint/endpoint.ts'
import type { Actor } from './actor.ts'

/** Declares an endpoint: see `kernel/endpoint/endpoint.ts` for what each field means. */
export const endpoint = endpointFor<Actor>()

export {
  accountProblem,
  anonymous,
  checkScopes,
  checkToken,
  isAdministrator,
  isDisabledToken,
  isTokenUsable,
  userOf,
  type Actor,
  type User,
} from './actor.ts'
export { findUser, userCalled, type Login } from './caller.ts'
export {
  bearer,
  csrfTokenOf,
  deployTokenPrefix,
  jobLogin,
  jobTokenPrefix,
  noCredentials,
  pageCredentials,
  sessionCookie,
  sessionOf,
  tokenCredentials,
  type Credentials,
} from './credentials.ts'
export { abilities, decide, isVisible, may, require, type Ability, type Decision } from './decide.ts'
export { deployKeyMayDownload, deployKeyMayUpload, isWriter, type DeployKey } from './deploy-key.ts'
export {
  enter,
  enterAs,
  enterById,
  enterByLogin,
  enterToRead,
  readOf,
  type Entrance,
  type PasswordProof,
} from './enter.ts'
export { findDeployToken, letsMachinesIn, type DeployToken } from './deploy-token.ts'
export { commitAddress, holderOfPrivate, privateAddress, privateHost } from './commit-address.ts'
export { find, findGroup, findReached } from './find.ts'
export { enterByAnyLogin, type Passwords } from './enter-elsewhere.ts'
export { packageProject, packagesReadable, packagesReadableBy } from './packages.ts'
export { imageProject, imageRepository, mayPassLevel } from './images.ts'
export { defaultFeatureLevels, features, isOpenTo, type Feature } from './features.ts'
export { inNameOf } from './in-name-of.ts'
export { Gate, scopesOf, type GateCall, type Passed } from './gate.ts'
export {
  actsThroughRole,
  isAssignable,
  isBelow,
  isLastOwner,
  mayGrant,
  mayGrantPermissions,
  mayTouch,
  ownedGroups,
} from './granting.ts'
export {
  flaggedPermission,
  lackingPermissions,
  openedBy,
  permissions,
  type Permission,
} from './permissions.ts'
export {
  FeatureLevel,
  levelsWithoutSeat,
  Role,
  roleName,
  Visibility,
  visibilityName,
  visibilityNames,
  type FeatureLevelName,
  type VisibilityName,
} from './levels.ts'
export {
  group,
  groupActive,
  groupArchived,
  instance,
  isMember,
  job,
  project,
  projectColumns,
  projectFromRow,
  runner,
  type GroupSubject,
  type InstanceSubject,
  type JobSubject,
  type ProjectSubject,
  type RunnerSubject,
} from './subjects.ts'
export { discussionVisible, openDiscussion, readsInternalNotes } from './notes.ts'
export { activityVisible } from './activities.ts'
export { admittingRole, todoReadable } from './todos.ts'
export { placeVisible, readsInternalNotesOf, readsNoteable, readsWiki, type Readable } from './readers.ts'
export { audienceOf, type Attendant, type Listener } from './audience.ts'
export { visiblePlaces } from './places.ts'
export {
  keptByGroup,
  keptByInstance,
  keptByProject,
  type Keeper,
  type KeeperKind,
  type Owner,
} from './keepers.ts'
export {
  mayWriteSnippet,
  personalSnippetVisible,
  projectSnippetVisible,
  snippetVisibleAnywhere,
  readsSnippet,
  type SnippetFacts,
} from './snippets.ts'
export {
  confidentialReader,
  epicVisible,
  epicVisibleAnywhere,
  featureOpen,
  issueVisible,
  issueVisibleAnywhere,
} from './noteables.ts'
export { Throttles, type Caller, type Family } from './throttles.ts'
export { isShownTo } from './admitted-addresses.ts'
export { isAdmitted, openPolicyServer, readsAcrossProjects, type PolicyServer } from './policy-server.ts'
export { knownAcrossProjects } from './across-projects.ts'
export { confirmationProblem, entryProblem, owesTerms, type House } from './admission.ts'
export { PageVisitors, type Visitor } from './page-visitors.ts'
export { UniqueAddresses } from './unique-addresses.ts'
export { isOpenSite, readsSite } from './sites.ts'
export { standingOf, type Bearer } from './standing.ts'
export { noteTokenUse } from './token-use.ts'
export {
  admits,
  admitsInGroup,
  entryAdmits,
  entryFor,
  mayStartRepository,
  opensToDevelopers,
  type AccessEntry,
} from './ref-access.ts'
export {
  actorRow,
  groupLevels,
  groupsWithCreation,
  groupVisible,
  knownGroups,
  memberGroups,
  memberProjects,
  projectLevels,
  projectVisible,
  visibleGroupParts,
  visibleProjectParts,
} from './visible.ts'
export { subjectRequestsReadable, userReadsRequests, visibleRequestParts } from './merge-requests.ts'
export { isMoreThanGuest } from './highest-role.ts'
export { groupsWithRole, projectsWithRole } from './reach.ts'
