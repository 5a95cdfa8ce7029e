import { isAdministrator, may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { forbidden, invalid } from '../../kernel/errors/index.ts'
import { cronFaults, nextRun } from './cron.ts'
import type { ScheduleRow } from './entities.ts'
import type { Values } from './store.ts'

export const maximumPerProject = 10

export function limitReached(): Error {
  return invalid({ base: [`Maximum number of pipeline schedules (${maximumPerProject}) exceeded`] })
}

export function isOwner(actor: Actor, { owner }: Pick<ScheduleRow, 'owner'>): boolean {
  return owner !== null && owner.id === actor.user?.id
}

/** It runs in the owner's name: nobody else may say what. */
export function requireOwner(actor: Actor, row: ScheduleRow): void {
  if (!isOwner(actor, row) && !isAdministrator(actor)) throw forbidden()
}

export function showsVariables(actor: Actor, project: ProjectSubject, row: ScheduleRow): boolean {
  return (
    may(actor, 'admin_pipeline_schedule', project) ||
    (isOwner(actor, row) && may(actor, 'create_pipeline_schedule', project))
  )
}

/** Refuses what cannot be, and works out when the next run is. */
export function checked(values: Omit<Values, 'next_run_at'>, now: Date): Values {
  const blank = (text: string) => (text.trim() === '' ? ["can't be blank"] : undefined)
  const faults = Object.entries({
    description: blank(values.description),
    ...cronFaults(values.cron, values.cron_timezone),
  }).filter(([, messages]) => messages !== undefined)
  if (faults.length > 0) throw invalid(Object.fromEntries(faults) as Record<string, string[]>)
  return { ...values, next_run_at: nextRun(values.cron, values.cron_timezone, now) }
}

export function checkKey(key: string): void {
  if (key.length > 255) throw invalid({ key: ['is too long (maximum is 255 characters)'] })
  if (!/^\w+$/.test(key)) throw invalid({ key: ["can contain only letters, digits and '_'."] })
}
