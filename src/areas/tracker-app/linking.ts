import { find, group as groups, may, type Actor } from '../../access/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import * as store from './store.ts'
import type { OfTracker, TokenServices } from './tokens.ts'
import { Tracker } from './tracker.ts'

/** Refuses who does not administer the tracker that he speaks for. */
export async function requireAdministrator(
  services: TokenServices,
  { installation, accountId }: OfTracker,
): Promise<void> {
  const admin =
    accountId === undefined ? undefined : await new Tracker(services, installation).isAdministrator(accountId)
  if (admin === undefined) throw forbidden('Jira does not say who you are there')
  if (!admin) throw forbidden('The Jira user administers neither the site nor the organization')
}

/** From now on the tracker is told of all projects of a group: both sides must let their user say so. */
export async function linkGroup(
  services: TokenServices,
  actor: Actor,
  tracker: OfTracker,
  fullPath: string,
): Promise<void> {
  const group = await find(services.db.reader, groups, actor, fullPath)
  if (group === undefined) throw notFound('Namespace')
  if (!may(actor, 'link_tracker', group)) throw forbidden()
  await requireAdministrator(services, tracker)
  await services.db.transaction((tx) => store.subscribe(tx, tracker.installation.id, group.id))
}
