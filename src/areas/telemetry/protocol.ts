import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Happening } from './store.ts'

/** Fields of an event in the tracker protocol of the collector, all of them texts. */
type Fields = Readonly<Record<string, string>>

const schema = 'iglu:com.snowplowanalytics.snowplow/payload_data/jsonschema/1-0-4'
/** Events of one request. */
export const mostTogether = 100

export interface Tracker {
  /** Name of this instance, as its administrator gave it. */
  readonly appId: string | null
  readonly cipher: Cipher
}

/**
 * A structured event: what was done to what kind of thing, and when. People and projects go by names that tell nothing
 * but which of them are the same.
 */
export function eventOf(
  { source, id, category, action, projectId, userId, at }: Happening,
  { appId, cipher }: Tracker,
): Fields {
  return {
    e: 'se',
    p: 'srv',
    tv: 'guildhall',
    tna: 'guildhall',
    ...(appId !== null && { aid: appId }),
    // The same when it is sent again.
    eid: cipher.uuid(`telemetry event ${source} ${id}`),
    dtm: String(at.getTime()),
    se_ca: category,
    se_ac: action,
    ...(projectId !== null && { se_la: cipher.uuid(`telemetry project ${projectId}`) }),
    ...(userId !== null && { uid: cipher.uuid(`telemetry user ${userId}`) }),
  }
}

/** As a record of the database that was made. */
export function recordOf(happening: Happening, tracker: Tracker): Fields {
  const { source } = happening
  const made = { ...happening, category: source, action: 'database_event_create' }
  return { ...eventOf(made, tracker), se_la: source, se_pr: 'create' }
}

/** Bodies of requests. */
export function bodiesOf(events: readonly Fields[], now = new Date()): string[] {
  const sent = events.map((event) => ({ ...event, stm: String(now.getTime()) }))
  const count = Math.ceil(sent.length / mostTogether)
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({ schema, data: sent.slice(at * mostTogether, (at + 1) * mostTogether) }),
  )
}

/** Undefined where the name is none of a host. */
export function collectorAt(host: string): string | undefined {
  return URL.parse('/com.snowplowanalytics.snowplow/tp2', `https://${host}`)?.href
}
