import { endpoint } from '../../access/index.ts'
import {
  Fields,
  Float,
  Hash,
  Id,
  Json,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
  type SubjectKind,
} from '../../kernel/endpoint/index.ts'
import { invalidParameters, recordNotFound, unprocessable } from '../../kernel/errors/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { callNow, newEventUuid, type Call, type DeliveryServices } from './deliver.ts'
import * as deliveries from './deliveries-store.ts'
import { openHook, type Hook } from './hook.ts'
import type { Place } from './places.ts'
import { systemSample, type Samples } from './samples.ts'
import * as store from './store.ts'
import { triggersOf, type SwitchedTrigger } from './triggers.ts'

const Delivery = Fields({
  id: Id(),
  url: Text(),
  trigger: Text(),
  request_headers: Hash(Text()),
  request_data: Json(),
  response_headers: Hash(Text()),
  response_body: Text(),
  execution_duration: Float({ description: 'Seconds' }),
  response_status: Text(),
})

/** Tests and repetitions of one webhook by one user in a minute. */
const mostCalls = 5

export interface CallingServices extends DeliveryServices {
  readonly samples: Samples
}

/** Calling a webhook by hand, and what came of its calls. */
export function callingEndpoints<Kind extends SubjectKind>(
  services: CallingServices,
  { kind, on, path, called, may, owner }: Place<Kind>,
): Endpoint[] {
  const { db, cipher, settings, samples } = services
  const limit = new RateLimit(mostCalls, 60)

  async function callByHand(hook: Hook, by: number | undefined, call: Call) {
    limit.use(`${hook.id} ${by ?? ''}`)
    if (settings.values.silent_mode_enabled) throw unprocessable('Silent mode is enabled')
    return callNow(services, hook, call)
  }

  const one = {
    on,
    may,
    record: true,
    read: ({ params }: { params: { hook_id: number } }) => store.one(kind, params.hook_id),
  } as const
  const triggerNames = triggersOf(kind).map((name) => `${name}_events`)
  const limited = { 429: `More than ${mostCalls} calls of this webhook in a minute` }

  const testing =
    kind === 'instance'
      ? endpoint({
          ...one,
          method: 'POST',
          path: `${path}/:hook_id`,
          summary: `Call a webhook of ${called} as a test`,
          params: Fields({ hook_id: Id() }),
          answers: Json({ description: 'What was sent' }),
          refuses: { 422: 'The receiver did not take it', ...limited },
          async handle({ actor, rows }) {
            const hook = openHook(rows[0]!, cipher)
            const call: Call = { trigger: 'system', payload: systemSample, eventUuid: newEventUuid() }
            const outcome = await callByHand(hook, actor.user?.id, call)
            if (!outcome.succeeded) throw unprocessable(outcome.text)
            return systemSample
          },
        })
      : endpoint({
          ...one,
          method: 'POST',
          path: `${path}/:hook_id/test/:trigger`,
          summary: `Call a webhook of ${called} with the newest of what calls it`,
          params: Fields({ hook_id: Id(), trigger: OneOf<string>(triggerNames, {}) }),
          answers: Fields({ message: Text() }),
          refuses: {
            422: 'The receiver did not take it, or nothing of the kind has happened yet',
            ...limited,
          },
          async handle(call) {
            const { params, actor, rows } = call
            const trigger = params.trigger.replace(/_events$/, '') as SwitchedTrigger
            const payload = await samples.newest(owner(call), trigger)
            if (payload === undefined) throw unprocessable('There is nothing yet to call this webhook with')
            const hook = openHook(rows[0]!, cipher)
            const outcome = await callByHand(hook, actor.user?.id, {
              trigger,
              payload,
              eventUuid: newEventUuid(),
            })
            if (!outcome.succeeded) throw unprocessable(outcome.text)
            return { message: '201 Created' }
          },
        })

  return [
    testing,
    endpoint({
      method: 'GET',
      path: `${path}/:hook_id/events`,
      summary: `List the calls of a webhook of ${called} in the last 7 days, newest first`,
      on,
      may,
      paged: true,
      params: Fields({
        hook_id: Id(),
        status: Optional(
          Text({ description: '`200`, `1xx` to `5xx`, `successful`, `client_failure` or `server_failure`' }),
        ),
      }),
      answers: ListOf(Delivery),
      read: ({ params, page }) => deliveries.list(kind, params.hook_id, params.status, page),
      async handle({ params, rows }) {
        if (params.status !== undefined && !deliveries.isStatus(params.status)) {
          throw invalidParameters(['status does not have a valid value'])
        }
        return rows.map((row) => ({
          id: row.id,
          trigger: `${row.trigger}_hooks`,
          ...deliveries.openContent(row, cipher),
          execution_duration: row.duration,
          response_status: row.response_status,
        }))
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/:hook_id/events/:hook_log_id/resend`,
      summary: `Repeat a call of a webhook of ${called}`,
      on,
      may,
      record: true,
      params: Fields({ hook_id: Id(), hook_log_id: Id() }),
      answers: Json({ description: '`response_status` of the answer' }),
      refuses: { 422: 'The address is another by now, or the receiver could not be reached', ...limited },
      read: ({ params }) => deliveries.one(kind, params.hook_id, params.hook_log_id),
      async handle({ actor, params, rows }) {
        const stored = await store.find(db.reader, params.hook_id)
        if (stored === undefined) throw recordNotFound()
        const hook = openHook(stored, cipher)
        const { url, request_data: payload } = deliveries.openContent(rows[0]!, cipher)
        if (url !== hook.url)
          throw unprocessable('The hook URL has changed. This event can not be sent again')
        const call: Call = { trigger: rows[0]!.trigger, payload, eventUuid: newEventUuid() }
        const outcome = await callByHand(hook, actor.user?.id, call)
        const status = Number(outcome.status)
        if (Number.isNaN(status)) throw unprocessable(outcome.text)
        return { response_status: status }
      },
    }),
  ]
}
