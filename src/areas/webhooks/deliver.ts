import { randomUUID } from 'node:crypto'
import type { KeeperKind } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Got, Outbound } from '../../kernel/outbound/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { mayCall } from './chains.ts'
import { recordDelivery, type DeliveryContent } from './deliveries-store.ts'
import { addressOf, type Hook } from './hook.ts'
import type { AppMessage, SayInChat } from './integrations/app.ts'
import { integrations } from './integrations/catalogue.ts'
import { isAllowed, messageOf } from './integrations/rules.ts'
import { isResting, restAfter } from './rules.ts'
import { stableUuid } from './stable-uuid.ts'
import * as store from './store.ts'
import { renderTemplate } from './template.ts'
import { headerOf, type TriggerName } from './triggers.ts'

export interface DeliveryServices {
  readonly log: Logger
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly outbound: Outbound
  /** The same for webhooks of the instance, which have a switch of their own. */
  readonly systemOutbound: Outbound
  readonly externalUrl: () => string
  readonly sayInChat: SayInChat
}

/** One call that is to be made. */
export interface Call {
  readonly trigger: TriggerName
  readonly payload: object
  /** Of what happened: the same for all who are called for it. */
  readonly eventUuid: string
}

export interface Outcome {
  readonly succeeded: boolean
  /** Of the answer; `internal error` when there was none. */
  readonly status: string
  /** The answer's text, or why there is none. */
  readonly text: string
}

const timeout = 10_000
const mostKept = 8192
const redacted = '[REDACTED]'

export const kindOf = ({
  project_id,
  namespace_id,
}: Pick<Hook, 'project_id' | 'namespace_id'>): KeeperKind =>
  project_id !== null ? 'project' : namespace_id !== null ? 'group' : 'instance'

export function outboundOf(services: DeliveryServices, kind: KeeperKind): Outbound {
  return kind === 'instance' ? services.systemOutbound : services.outbound
}

/** Calls a webhook unless it rests or its calls go round in a circle, and writes down what came of it. */
export async function callUnlessResting(services: DeliveryServices, hook: Hook, call: Call): Promise<void> {
  const { settings } = services
  if (settings.values.silent_mode_enabled || isResting(hook, new Date())) return
  if (hook.integration !== null && !isAllowed(settings, hook.integration.name)) return
  if (!(await mayCall(services.db, hook.id, call.eventUuid))) {
    const { trigger, eventUuid } = call
    services.log.warn({ webhook: hook.id, trigger, eventUuid }, 'a webhook is not called by what it led to')
    return
  }
  await callNow(services, hook, call)
}

/** Calls a webhook, rests or not; a success ends its rest. */
export async function callNow(services: DeliveryServices, hook: Hook, call: Call): Promise<Outcome> {
  const began = performance.now()
  const { headers, ...request } = requestOf(hook, call, services.externalUrl())
  const got: Got | Unfit | Done =
    'unfit' in request
      ? request
      : 'message' in request
        ? await said(services, hook, request.message)
        : await outboundOf(services, kindOf(hook)).postText(request.url, request.body, {
            headers,
            timeout,
            maximumBytes: mostKept,
            verified: hook.ssl_verification,
          })
  const outcome = outcomeOf(got)
  const content: DeliveryContent = {
    url: hook.url,
    request_headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Guildhall',
      ...withoutSecrets(hook, headers),
    },
    request_data: call.payload,
    response_headers: 'status' in got ? got.headers : {},
    response_body: outcome.text,
  }
  await recordDelivery(services, {
    hookId: hook.id,
    trigger: call.trigger,
    status: outcome.status,
    seconds: (performance.now() - began) / 1000,
    content,
  })
  const failures = outcome.succeeded ? 0 : hook.failures + 1
  if (failures !== hook.failures) {
    await store.recordOutcome(services.db, hook.id, { failures, restMinutes: restAfter(failures) })
  }
  return outcome
}

interface Unfit {
  readonly unfit: string
}
interface Done {
  readonly done: string
}

type Request = { readonly headers: Record<string, string> } & (
  { readonly url: string; readonly body: string } | { readonly message: AppMessage } | Unfit
)

async function said({ sayInChat }: DeliveryServices, hook: Hook, message: AppMessage): Promise<Unfit | Done> {
  const problem = await sayInChat(hook.id, message)
  return problem === undefined ? { done: 'ok' } : { unfit: problem }
}

function requestOf(hook: Hook, { trigger, payload, eventUuid }: Call, instance: string): Request {
  if (hook.integration !== null) {
    const message = messageOf(hook.integration, trigger, payload)
    if (integrations[hook.integration.name]!.tells!.address === undefined)
      return { headers: {}, message: message as AppMessage }
    return { headers: {}, url: hook.url, body: JSON.stringify(message) }
  }
  const address = new URL(addressOf(hook))
  const login = address.username === '' ? undefined : `${address.username}:${address.password}`
  address.username = ''
  address.password = ''
  const headers = {
    ...hook.custom_headers,
    ...(login !== undefined && {
      Authorization: `Basic ${Buffer.from(decodeURIComponent(login)).toString('base64')}`,
    }),
    'X-Gitlab-Event': headerOf(trigger, kindOf(hook)),
    'X-Gitlab-Webhook-UUID': hook.uuid,
    'X-Gitlab-Instance': instance,
    'X-Gitlab-Event-UUID': eventUuid,
    // The same when the same call is made again after a crash, so that receivers can tell.
    'Idempotency-Key': stableUuid(hook.id, eventUuid, trigger, payload),
    ...(hook.token !== null && hook.token !== '' && { 'X-Gitlab-Token': hook.token }),
  }
  if (hook.template === null || hook.template === '') {
    return { headers, url: address.href, body: JSON.stringify(payload) }
  }
  const body = renderTemplate(hook.template, payload)
  return body === undefined
    ? { headers, unfit: 'The custom webhook template does not render to JSON' }
    : { headers, url: address.href, body }
}

function outcomeOf(got: Got | Unfit | Done): Outcome {
  if ('done' in got) return { succeeded: true, status: '200', text: got.done }
  if ('status' in got) {
    const succeeded = got.status >= 200 && got.status < 300
    return { succeeded, status: String(got.status), text: got.text.slice(0, mostKept).replaceAll('\0', '') }
  }
  const text =
    'blocked' in got
      ? `URL is blocked: ${got.blocked}`
      : 'unfit' in got
        ? got.unfit
        : got.failed === 'timeout'
          ? 'The receiver did not answer in time'
          : 'The receiver could not be reached'
  return { succeeded: false, status: 'internal error', text }
}

function withoutSecrets(hook: Hook, headers: Readonly<Record<string, string>>): Record<string, string> {
  const secrets = new Set([...Object.keys(hook.custom_headers), 'Authorization', 'X-Gitlab-Token'])
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secrets.has(name) ? redacted : value]),
  )
}

/** A new name for what happened. */
export const newEventUuid = (): string => randomUUID()
