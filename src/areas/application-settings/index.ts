import { userOf, type Actor, type PolicyServer } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { Outbound } from '../../kernel/outbound/index.ts'
import { branchRef } from '../../git/index.ts'
import { outboundRules, type RuleContext, type Settings } from '../../settings/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import { catalogueEndpoints } from './catalogue-routes.ts'
import { settingEndpoints } from './routes.ts'
import { historyEndpoints } from './history-routes.ts'

interface SettingServices {
  readonly db: Database
  readonly settings: Settings
  readonly policy: PolicyServer
  readonly plan: Plan
  readonly externalUrl: () => string
  /** Names of the configured storages. */
  readonly storages: readonly string[]
  /** Whether answers repeat settings under the vendor's names. */
  readonly vendorFieldNames: boolean
}

export interface SettingAreaServices extends SettingServices {
  /** For a change that somebody makes. */
  readonly contextOf: (actor: Actor) => RuleContext
}

/** The settings of the instance: read, changed, their history, and back to an earlier state. */
export function applicationSettings(given: SettingServices): { endpoints: Endpoint[] } {
  const { settings, policy, storages } = given
  // A host that has no address yet may get one.
  const outbound = new Outbound(() => ({ ...outboundRules(settings.values), pinned: false }))
  const services: SettingAreaServices = {
    ...given,
    contextOf: (actor) => ({
      storages,
      isBranchName: (name) => branchRef(name) !== undefined,
      refusalOf: (url) => outbound.refusal(url),
      refusalOfLabel: (label) => policy.refusalOf(userOf(actor), label),
    }),
  }
  return {
    endpoints: [
      ...settingEndpoints(services),
      ...historyEndpoints(services),
      ...catalogueEndpoints(services),
    ],
  }
}
