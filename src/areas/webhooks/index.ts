import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { Outbound } from '../../kernel/outbound/index.ts'
import { outboundRules } from '../../settings/index.ts'
import type { DomainEvent, Events, Schedule, Task } from '../../tasks/index.ts'
import { callUnlessResting, type DeliveryServices } from './deliver.ts'
import { forgetChains } from './chains.ts'
import { prune } from './deliveries-store.ts'
import { announceExpiringTokens } from './expiring-tokens.ts'
import { openHook } from './hook.ts'
import { integrationEndpoints } from './integrations/routes.ts'
import { builders } from './payloads/builders.ts'
import type { Built, PayloadServices } from './payloads/parts.ts'
import { groupPlace, instancePlace, projectPlace } from './places.ts'
import { callingEndpoints } from './routes-calling.ts'
import { hookEndpoints } from './routes.ts'
import { Samples } from './samples.ts'
import * as store from './store.ts'
import { openCall, tell, taskName, type SealedCall } from './tell.ts'
import { triggersOfEvent, type HookedEvent } from './triggers.ts'

export {
  chatStyles,
  slashCommands,
  slashCommandsToken,
  type SlashCommands,
} from './integrations/slash-commands.ts'
export { activateApp, type AppMessage, type SayInChat } from './integrations/app.ts'
export { appIntegration } from './integrations/catalogue.ts'
export { isAllowed as isIntegrationAllowed } from './integrations/rules.ts'
export type { Style } from './integrations/styles.ts'

type WebhookServices = Omit<DeliveryServices, 'systemOutbound'> &
  PayloadServices & { readonly events: Events; readonly plan: Plan }

const pruneTask = 'webhooks:prune'
const expiryTask = 'webhooks:expiring-tokens'

/** What webhooks are called with when something happens, for who tells others of it in other words. */
export type HookPayloads = (event: DomainEvent) => Promise<readonly Built[]>

/** Calls to other services when something happens in a project, below a group, or anywhere. */
export function webhooks(given: WebhookServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  payloads: HookPayloads
} {
  const { settings, events, db, cipher, externalUrl } = given
  const systemOutbound = new Outbound(() => ({
    ...outboundRules(settings.values, externalUrl()),
    allowLocal: settings.values.allow_local_requests_from_system_hooks,
  }))
  const services = { ...given, systemOutbound }
  const build = builders(services)

  for (const kind of Object.keys(triggersOfEvent) as HookedEvent[]) {
    const names = triggersOfEvent[kind]
    events.subscribe(kind, `webhooks:${kind}`, (event) => tell(services, build, names, event), {
      when: store.isCalledFor(names),
    })
  }

  const samples = new Samples(db, (event: DomainEvent) => build(event))
  const calling = { ...services, samples }
  const send: Task<SealedCall> = {
    name: taskName,
    async run(sealed) {
      const row = await store.find(db.reader, sealed.hook)
      if (row !== undefined)
        await callUnlessResting(services, openHook(row, cipher), openCall(sealed, cipher))
    },
  }

  return {
    endpoints: [
      ...hookEndpoints(services, projectPlace),
      ...callingEndpoints(calling, projectPlace),
      ...(offers(given.plan, 'group_web_hooks')
        ? [...hookEndpoints(services, groupPlace), ...callingEndpoints(calling, groupPlace)]
        : []),
      ...hookEndpoints(services, instancePlace),
      ...callingEndpoints(calling, instancePlace),
      ...integrationEndpoints(services),
    ],
    tasks: [
      send,
      {
        name: pruneTask,
        async run() {
          await prune(db)
          await forgetChains(db)
        },
      },
      { name: expiryTask, run: () => announceExpiringTokens(given) },
    ] as Task[],
    payloads: build,
    schedules: [
      { task: pruneTask, pattern: '41 3 * * *' },
      { task: expiryTask, pattern: '7 1 * * *' },
    ],
  }
}
