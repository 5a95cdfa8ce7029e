import { Cron } from 'croner'
import { timeZone } from './time-zones.ts'

/** Five fields, or a name such as `@daily`; seconds and years are for other programs. */
const mode = '5-part'

const faulty = ['syntax is invalid']

/** What is wrong with times and their zone, by the names of the parameters. */
export function cronFaults(times: Readonly<Record<string, string>>, zone: string): Record<string, string[]> {
  const wrongZone = timeZone(zone) === undefined
  const wrong = Object.keys(times).filter(
    (name) => nextRun(times[name]!, wrongZone ? 'UTC' : zone, new Date(0)) === null,
  )
  if (wrongZone) wrong.push('cron_timezone')
  return Object.fromEntries(wrong.map((name) => [name, faulty]))
}

/** The first time after another; null where there is none, as of a text that says no time. */
export function nextRun(cron: string, zone: string, after: Date): Date | null {
  return parsed(cron, zone)?.nextRun(after) ?? null
}

/** The last time before another; null where there is none. */
export function lastRun(cron: string, zone: string, before: Date): Date | null {
  return parsed(cron, zone)?.previousRuns(1, before)[0] ?? null
}

function parsed(cron: string, zone: string): Cron | undefined {
  const timezone = timeZone(zone)
  // The library takes a single moment too.
  if (timezone === undefined || !/^(@\w+|\S+(\s+\S+){4})$/.test(cron.trim())) return undefined
  try {
    return new Cron(cron.trim(), { timezone, mode, paused: true })
  } catch {
    return undefined
  }
}
