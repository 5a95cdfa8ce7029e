import type { Logger } from '../../kernel/log/index.ts'
import type { DomainEvent, Events } from '../../tasks/index.ts'
import type { HookPayloads } from '../webhooks/index.ts'
import { tellOf } from './development.ts'
import * as store from './store.ts'
import type { TokenServices } from './tokens.ts'
import { Tracker } from './tracker.ts'

export interface TellingServices extends TokenServices {
  readonly events: Events
  readonly log: Logger
  /** What webhooks are called with when something happens. */
  readonly payloads: HookPayloads
}

/** Tells trackers of branches, commits, merge requests, builds and deployments that name their issues. */
export function tellTrackers(services: TellingServices): void {
  for (const kind of ['push', 'merge_request', 'pipeline', 'job']) {
    services.events.subscribe(kind, `tracker-app:${kind}`, (event) => tell(services, event), {
      when: store.isTold,
    })
  }
}

async function tell(services: TellingServices, event: DomainEvent): Promise<void> {
  const { db, settings, log, payloads } = services
  if (event.projectId === null || settings.values.silent_mode_enabled) return
  const trackers = await store.toldOf(db.reader, event.projectId)
  if (trackers.length === 0) return
  const { mergeRequestId } = event.payload as { readonly mergeRequestId?: number }
  const comments = mergeRequestId === undefined ? 0 : await store.commentsOf(db.reader, mergeRequestId)
  const told = (await payloads(event)).flatMap(
    ({ trigger, payload }) => tellOf(trigger, payload, { sequence: event.id, comments }) ?? [],
  )
  for (const installation of trackers) {
    for (const { path, body } of told) {
      const problem = await new Tracker(services, installation).tell(path, body)
      if (problem !== undefined)
        log.warn({ installation: installation.id, path, problem }, 'a tracker was not told')
    }
  }
}
