import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import { epicEndpoints } from './routes.ts'
import { epicLinkEndpoints } from './links.ts'
import { childEpicEndpoints } from './tree-epics.ts'
import { epicIssueEndpoints } from './tree-issues.ts'

export { changeEpic, createEpic, type EpicChange, type NewEpic } from './write.ts'
export { find as findEpic } from './store.ts'
export { epicTarget } from './system-notes.ts'

export { epicsByIds } from './by-ids.ts'

export interface EpicServices {
  readonly db: Database
  readonly events: Events
  readonly externalUrl: () => string
  readonly settings: Settings
}

/** Epics of groups: what issues and other epics are gathered in. */
export function epics(services: EpicServices): { endpoints: Endpoint[] } {
  const endpoints = [
    ...epicEndpoints(services),
    ...epicIssueEndpoints(services),
    ...childEpicEndpoints(services),
    ...epicLinkEndpoints(services),
  ]
  return { endpoints: endpoints.map((each) => ({ ...each, dashed: true })) }
}
