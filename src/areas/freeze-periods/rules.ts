import { invalid } from '../../kernel/errors/index.ts'
import { cronFaults, lastRun, nextRun } from '../../kernel/lib/cron.ts'

export interface FreezePeriod {
  readonly freeze_start: string
  readonly freeze_end: string
  readonly cron_timezone: string
}

const longest = 255

/** Refuses times that are none. */
export function check({ freeze_start, freeze_end, cron_timezone }: FreezePeriod): void {
  const long = Object.entries({ freeze_start, freeze_end }).filter(([, text]) => text.length > longest)
  const faults = {
    ...cronFaults({ freeze_start, freeze_end }, cron_timezone),
    ...Object.fromEntries(long.map(([name]) => [name, [`is too long (maximum is ${longest} characters)`]])),
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** Whether one of the periods has begun and not ended; the moment of its end belongs to no period. */
export function isFrozen(periods: readonly FreezePeriod[], now: Date): boolean {
  // Runs are strictly before a moment; a period is on at the second it begins.
  const justAfter = new Date(now.getTime() + 1)
  return periods.some(({ freeze_start, freeze_end, cron_timezone }) => {
    const start = lastRun(freeze_start, cron_timezone, justAfter)
    if (start === null) return false
    const end = nextRun(freeze_end, cron_timezone, start)
    return end === null || end > now
  })
}
