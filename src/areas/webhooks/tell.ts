import type { Database } from '../../kernel/db/index.ts'
import { currentChain } from '../../kernel/lib/chain.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import { enqueue, type DomainEvent } from '../../tasks/index.ts'
import type { Call } from './deliver.ts'
import { openIntegration } from './hook.ts'
import { isAllowed, isWanted } from './integrations/rules.ts'
import type { Built } from './payloads/parts.ts'
import { passesFilter } from './rules.ts'
import { stableUuid } from './stable-uuid.ts'
import * as store from './store.ts'
import type { TriggerName } from './triggers.ts'

export const taskName = 'webhooks:call'

/** A call that waits to be made; payloads can hold secrets, such as variables of pipelines. */
export interface SealedCall {
  readonly hook: number
  readonly sealed: string
}

const sealedFor = 'webhooks.call'

/** Makes a task of each call that an event leads to, once each. */
export async function tell(
  { db, cipher, settings }: { db: Database; cipher: Cipher; settings: Settings },
  build: (event: DomainEvent) => Promise<readonly Built[]>,
  names: readonly TriggerName[],
  event: DomainEvent,
): Promise<void> {
  const { groupId = null } = event.payload as { groupId?: number | null }
  const called = await store.findCalled(db.reader, names, { projectId: event.projectId, groupId })
  if (called.length === 0) return
  const hooks = called
    .map((hook) => ({ ...hook, integration: openIntegration(hook, cipher) }))
    .filter(({ integration }) => integration === null || isAllowed(settings, integration.name))
  const built = await build(event)
  const eventUuid = currentChain()?.uuid ?? stableUuid(event.id, event.kind, event.createdAt)
  await db.transaction(async (tx) => {
    for (const [place, { trigger, payload, branch, besides, forInstance }] of built.entries()) {
      for (const hook of hooks) {
        if (!hook.triggers.includes(trigger)) continue
        if (besides !== undefined && !hook.triggers.includes(besides)) continue
        if (branch !== undefined && !passesFilter(hook, branch)) continue
        if (hook.integration !== null && !isWanted(hook.integration, trigger, payload)) continue
        const call: Call = {
          trigger,
          eventUuid,
          payload: hook.kind === 'instance' ? (forInstance ?? payload) : payload,
        }
        const task: SealedCall = { hook: hook.id, sealed: cipher.seal(JSON.stringify(call), sealedFor) }
        await enqueue(tx, taskName, task, { key: `webhook:${event.id}:${hook.id}:${place}` })
      }
    }
  })
}

export function openCall({ sealed }: SealedCall, cipher: Cipher): Call {
  return JSON.parse(cipher.open(sealed, sealedFor)) as Call
}
