import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { bodiesOf, collectorAt, eventOf, recordOf } from './protocol.ts'
import { forgetPositions, isRecord, takeHappenings } from './store.ts'

export interface TelemetryServices {
  readonly db: Database
  readonly log: Logger
  readonly settings: Settings
  readonly cipher: Cipher
  readonly outbound: Outbound
}

export const tellCollectors = 'telemetry:send'
/** Milliseconds that a collector may take for a request. */
const timeout = 10_000

/**
 * Tells a collector that the administrator named what happens here (`telemetry_enabled`), and another one which records
 * are made. Once a minute, beside all else; what a collector does not take is lost.
 */
export function telemetry(services: TelemetryServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, settings, cipher } = services
  return {
    tasks: [
      {
        name: tellCollectors,
        async run() {
          const {
            telemetry_enabled: on,
            telemetry_collector_hostname: collector,
            telemetry_database_collector_hostname: databaseCollector,
            telemetry_app_id: appId,
            silent_mode_enabled: silent,
          } = settings.values
          if (!on || silent) return forgetPositions(db)
          const happenings = await takeHappenings(db)
          const tracker = { appId, cipher }
          await tell(services, collector, bodiesOf(happenings.map((one) => eventOf(one, tracker))))
          const made = happenings.filter(isRecord)
          await tell(services, databaseCollector, bodiesOf(made.map((one) => recordOf(one, tracker))))
        },
      },
    ],
    schedules: [{ task: tellCollectors, pattern: '* * * * *' }],
  }
}

async function tell(
  { outbound, log }: TelemetryServices,
  host: string | null,
  bodies: readonly string[],
): Promise<void> {
  const url = host === null ? undefined : collectorAt(host)
  if (url === undefined) return
  for (const body of bodies) {
    const got = await outbound.postText(url, body, { headers: {}, maximumBytes: 0, timeout, follows: false })
    if ('status' in got && got.status >= 200 && got.status < 300) continue
    log.warn({ got }, 'a collector of events did not take what it was told')
    return
  }
}
