import { Cron } from 'croner'
import { timeZone } from './time-zones.ts'

/** Five fields, or a name such as `@daily`; seconds and years are for other programs. */
const mode = '5-part'

export interface CronFaults {
  readonly cron?: string[]
  readonly cron_timezone?: string[]
}

const faulty = ['syntax is invalid']

/** What is wrong with a time and its zone, by the names of the parameters. */
export function cronFaults(cron: string, zone: string): CronFaults {
  const wrongZone = timeZone(zone) === undefined
  return {
    ...(nextRun(cron, wrongZone ? 'UTC' : zone, new Date(0)) === null && { cron: faulty }),
    ...(wrongZone && { cron_timezone: faulty }),
  }
}

/** The first time after another; null where there is none, as of a text that says no time. */
export function nextRun(cron: string, zone: string, after: Date): Date | null {
  const timezone = timeZone(zone)
  // The library takes a single moment too.
  if (timezone === undefined || !/^(@\w+|\S+(\s+\S+){4})$/.test(cron.trim())) return null
  try {
    return new Cron(cron.trim(), { timezone, mode, paused: true }).nextRun(after)
  } catch {
    return null
  }
}
