import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { SpamGuard } from '../spam/index.ts'
import { linkEndpoints } from './links.ts'
import { milestoneEndpoints } from './of-milestones.ts'
import { actingEndpoints } from './routes-acting.ts'
import { listEndpoints } from './routes-lists.ts'
import { issueEndpoints } from './routes.ts'

export { issuesByIds } from './by-ids.ts'
export { tellOfEpic } from './epic-notes.ts'
export { markAsDuplicate } from './duplicates.ts'
export { copyToEpic } from './promotion.ts'
export { issue, Issue, issueView, relativePath, type IssueRow } from './entities.ts'
export { list as listIssues } from './listing.ts'
export { closeAs, closedBy, findReferenced, mentionedIn, type IssueReference } from './references.ts'
export { issueColumns, issueSource } from './rows.ts'
export { checkTexts, mayChangeIssue } from './rules.ts'
export { find as findIssue, visibleId as visibleIssueId } from './store.ts'
export {
  issueTarget,
  tell,
  toldOfDay,
  toldOfEstimate,
  toldOfPeople,
  toldOfSpent,
  toldOfTexts,
  type Target,
  type Told,
} from './system-notes.ts'
export { changeIssue, createIssue, type IssueChange, type NewIssue } from './write.ts'

export interface IssueAreaServices {
  readonly db: Database
  readonly events: Events
  readonly externalUrl: () => string
  readonly settings: Settings
  readonly spam: SpamGuard
  /** New issues a minute, of one user in one project. */
  readonly creation: RateLimit
}

/** Issues of projects, with what is planned, assigned, linked and logged on them. */
export function issues(given: Omit<IssueAreaServices, 'creation'>): {
  endpoints: Endpoint[]
} {
  const services = {
    ...given,
    creation: new RateLimit(() => given.settings.values.issues_create_limit, 60),
  }
  return {
    endpoints: [
      ...listEndpoints(services),
      ...issueEndpoints(services),
      ...actingEndpoints(services),
      ...linkEndpoints(services),
      ...milestoneEndpoints(services),
    ],
  }
}
